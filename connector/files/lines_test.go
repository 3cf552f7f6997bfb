package files

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// readParts reads a file through parts of the given size.
func readParts(t *testing.T, path string, size, step int64) []string {
	t.Helper()
	var got []string
	for offset := int64(0); offset < size; offset += step {
		var l lines
		if err := l.start(split.File{Path: path, Offset: offset, Length: min(step, size-offset), Size: size}); err != nil {
			t.Fatal(err)
		}
		for {
			line, ok, err := l.next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, line)
		}
		if l.open() {
			t.Fatal("the file is open after its last line")
		}
	}
	return got
}

func TestEveryLineOnceWhateverTheCut(t *testing.T) {
	seed := uint64(7)
	r := rand.New(rand.NewPCG(seed, 0))
	texts := map[string]string{
		"plain":         "a\nbb\nccc\n",
		"no line end":   "a\nbb\nccc",
		"empty lines":   "\n\n\na\n\n",
		"carriage":      "a\r\nb\r\n\r\nc\r",
		"one long line": strings.Repeat("x", 3*minChunkBytes) + "\ny\n",
		"not UTF-8":     "\xff\xfe\n\x80a\n",
	}
	var random strings.Builder
	for range 2000 {
		random.WriteString(strings.Repeat("z", r.IntN(40)) + "\n")
	}
	texts["random"] = random.String()
	for name, text := range texts {
		path := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range want {
			if i < len(want)-1 || strings.HasSuffix(text, "\n") {
				want[i] = strings.TrimSuffix(line, "\r")
			}
		}
		for _, step := range []int64{1, 2, 3, 7, 64, 5000, 1 << 30} {
			got := readParts(t, path, int64(len(text)), step)
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s (seed %d), parts of %d bytes: got %d lines, want %d", name, seed, step, len(got), len(want))
			}
		}
	}
}

func TestTooLongLineIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long")
	text := "short\n" + strings.Repeat("x", MaxLine+chunkBytes) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var l lines
	if err := l.start(split.File{Path: path, Length: int64(len(text)), Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if line, ok, err := l.next(); line != "short" || !ok || err != nil {
		t.Fatalf("first line: %q %v %v", line, ok, err)
	}
	_, _, err := l.next()
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "byte 6") {
		t.Fatalf("error does not name file and offset: %v", err)
	}
}

func TestRelativePathsAreRefusedOnAClusterOnly(t *testing.T) {
	if err := CheckPaths(false, "books/*.txt"); err != nil {
		t.Errorf("embedded: %v", err)
	}
	if err := CheckPaths(true, "/books/**", "books/*.txt"); err == nil || !strings.Contains(err.Error(), `"books/*.txt"`) {
		t.Errorf("on a cluster: %v", err)
	}
}
