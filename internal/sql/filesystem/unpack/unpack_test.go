package unpack

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const text = "1,b\n2,c\n"

// packed is the text as it is compressed in each way.
func packed(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"csv": []byte(text)}
	for ending, packer := range map[string]func(io.Writer) io.WriteCloser{
		"gz":      func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"GZIP":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"zst":     func(w io.Writer) io.WriteCloser { e, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return e },
	} {
		var b bytes.Buffer
		w := packer(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		all[ending] = b.Bytes()
	}
	bzip2, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWU/GxxsAAAJZAAAQAAQwABgAIAAhppmgwAKVCwu5IpwoSCfjY42A")
	if err != nil {
		t.Fatal(err)
	}
	all["bz2"] = bzip2
	return all
}

// read gives what a file of a name and bytes is read as.
func read(t *testing.T, name string, bytes []byte) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, f)
	if err != nil {
		return "", err
	}
	got, err := io.ReadAll(r)
	if wrong := r.Close(); wrong != nil {
		t.Error(wrong)
	}
	return string(got), err
}

func TestEndings(t *testing.T) {
	for ending, bytes := range packed(t) {
		if got, err := read(t, "a.csv."+ending, bytes); got != text || err != nil {
			t.Errorf("%s: %q, %v", ending, got, err)
		}
	}
	if _, err := read(t, "a.xz", nil); err == nil || !strings.Contains(err.Error(), "by the ending xz of its name: it cannot be read; there are gz") {
		t.Errorf("xz: %v", err)
	}
}

// TestFilesThatAreCutShort has every length of a file but the whole.
func TestFilesThatAreCutShort(t *testing.T) {
	for ending, bytes := range packed(t) {
		if ending == "csv" {
			continue
		}
		for n := range bytes {
			if n == 0 && ending == "zst" {
				continue // it holds no frame, and nothing is missing
			}
			if got, err := read(t, "a."+ending, bytes[:n]); err == nil || !strings.Contains(err.Error(), "by the ending") {
				t.Errorf("%d bytes of %s: %q, %v", n, ending, got, err)
			}
		}
	}
}
