//go:build linux

package program

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// self is the test binary, a real Go program for this machine.
func self(t testing.TB) []byte {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "programs"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func archive(t testing.TB, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// patched is a copy of content with other bytes at an offset.
func patched(content []byte, at int, by ...byte) []byte {
	c := bytes.Clone(content)
	copy(c[at:], by)
	return c
}

func TestUploadRefuses(t *testing.T) {
	elf := self(t)
	other := byte(0xb7) // arm64
	if runtime.GOARCH == "arm64" {
		other = 0x3e
	}
	machO := binary.LittleEndian.AppendUint32(nil, 0xfeedfacf)
	machO = binary.LittleEndian.AppendUint32(machO, 0x0100000c)
	machO = append(machO, make([]byte, 24)...)
	for name, c := range map[string]struct {
		file    string
		content []byte
		want    string
	}{
		"empty":             {"job", nil, "job is empty."},
		"truncated":         {"job", elf[:len(elf)/2], "truncated"},
		"header only":       {"job", elf[:40], "damaged or truncated"},
		"four bytes":        {"job", elf[:4], "damaged or truncated"},
		"another CPU":       {"job", patched(elf, 18, other, 0), "this cluster runs linux/" + runtime.GOARCH + ": build it with GOOS=linux"},
		"unknown CPU":       {"job", patched(elf, 18, 0x55, 0x55), "job is a program for linux/"},
		"object file":       {"job.o", patched(elf, 16, 1, 0), "object file"},
		"macOS":             {"job", machO, "job is a program for darwin/arm64"},
		"Windows":           {"job.exe", []byte("MZ\x90\x00\x03\x00\x00\x00"), "Windows program"},
		"jar":               {"job.jar", archive(t, "META-INF/MANIFEST.MF"), "job.jar is a JVM program; Weir runs Go job binaries"},
		"classes":           {"job.zip", archive(t, "org/x/Main.class"), "JVM program"},
		"empty jar":         {"job.jar", archive(t, "readme"), "JVM program"},
		"class":             {"Main.class", []byte("\xca\xfe\xba\xbe\x00\x00\x00\x3d\x00\x1d"), "JVM program"},
		"archive":           {"job.zip", archive(t, "job"), "job.zip is an archive"},
		"damaged archive":   {"job.jar", []byte("PK\x03\x04 and no more"), "damaged archive"},
		"script":            {"job.sh", []byte("#!/bin/sh\nrm -rf /\n"), "job.sh is a script"},
		"text":              {"job.txt", []byte("SELECT 1;\n"), "job.txt is a text file"},
		"noise":             {"job", []byte("\x00\x01\x02\x03"), "not an executable file"},
		"no name":           {"", elf, "names no file"},
		"only a directory":  {"a/b/", elf, "names no file"},
		"parent":            {"../..", elf, "names no file"},
		"control character": {"a\nb", elf, "cannot be shown"},
		"zero byte":         {"a\x00b", elf, "cannot be shown"},
		"broken UTF-8":      {"a\xffb", elf, "cannot be shown"},
		"long name":         {strings.Repeat("x", 300), elf, "at most 180 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.Upload(c.file, bytes.NewReader(c.content))
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want a refusal with %q", err, c.want)
			} else {
				t.Log(err)
			}
			isEmpty(t, s)
			if _, err := s.Upload("good", bytes.NewReader(elf)); err != nil {
				t.Errorf("the next good upload: %v", err)
			}
		})
	}
}

func isEmpty(t *testing.T, s *Store) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("%d files are left, such as %s", len(entries), entries[0].Name())
	}
}

func TestUploadThatBreaks(t *testing.T) {
	s := newStore(t)
	broken := io.MultiReader(bytes.NewReader(self(t)), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := s.Upload("job", broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	isEmpty(t, s)
}

func TestStore(t *testing.T) {
	s, content := newStore(t), self(t)
	p, err := s.Upload(`C:\jobs\..\word count`, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "word count" || filepath.Dir(p.Path) != s.Dir() || p.Size != int64(len(content)) {
		t.Errorf("stored %+v", p)
	}
	info, err := os.Stat(p.Path)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	other, err := s.Upload("../../x.jar", bytes.NewReader(content))
	if err != nil || other.Name != "x.jar" || other.ID == p.ID {
		t.Errorf("stored %+v, %v", other, err)
	}

	// Another process finds the same, without what was half done.
	if err := os.WriteFile(filepath.Join(s.Dir(), incoming+"1"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	all, err := again.List()
	if err != nil || len(all) != 2 {
		t.Fatalf("listed %v, %v", all, err)
	}
	want := sha256.Sum256(content)
	for _, store := range []*Store{s, again} {
		if sum, err := store.Sum(p); err != nil || sum != hex.EncodeToString(want[:]) {
			t.Errorf("hash %s, %v", sum, err)
		}
	}

	if err := again.Delete(p.ID); err != nil {
		t.Error(err)
	}
	if err := again.Delete(p.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := again.Get(p.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("found after its end: %v", err)
	}
}

// FuzzID looks for ids that reach beyond the store.
func FuzzID(f *testing.F) {
	for _, seed := range []string{"", "..", "../x", "nope.jar", "notes.txt", "00000000-0000-0000-0000-000000000000_../x", "00000000-0000-0000-0000-000000000000_x", "incoming-1"} {
		f.Add(seed)
	}
	s := newStore(f)
	if err := os.WriteFile(filepath.Join(s.Dir(), "notes.txt"), nil, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if p, err := s.Get(id); err == nil {
			t.Errorf("found %+v", p)
		}
		if err := s.Delete(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete: %v", err)
		}
	})
}

// FuzzInspect looks for bytes that end the process, and for some that are
// taken though they are no program.
func FuzzInspect(f *testing.F) {
	elf := self(f)
	f.Add(elf[:4096])
	f.Add(archive(f, "META-INF/MANIFEST.MF"))
	f.Add([]byte("#!/bin/sh"))
	f.Add([]byte("\xca\xfe\xba\xbe\x00\x00\x00\x02"))
	f.Add([]byte("\xcf\xfa\xed\xfe"))
	f.Fuzz(func(t *testing.T, content []byte) {
		err := inspect("job", bytes.NewReader(content), int64(len(content)))
		if err == nil && !bytes.HasPrefix(content, []byte("\x7fELF")) {
			t.Errorf("taken: %q", content)
		}
	})
}
