package files

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// readParts reads a file through parts of the given size.
func readParts(t *testing.T, path string, size, step int64) []string {
	t.Helper()
	var got []string
	for offset := int64(0); offset < size; offset += step {
		got = append(got, readPart(t, split.File{Path: path, Offset: offset, Length: min(step, size-offset), Size: size})...)
	}
	return got
}

func readPart(t *testing.T, part split.File) (got []string) {
	t.Helper()
	var l lines
	if err := l.start(part); err != nil {
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

// Whatever is in a file, and wherever it is cut, each line is read once.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\nbb\nccc", "a\r\n\r\nb\r", "\n\n", "\xff\x00\n", strings.Repeat("x", minChunkBytes) + "\n"} {
		f.Add([]byte(seed), int64(1), int64(3))
		f.Add([]byte(seed), int64(2), int64(minChunkBytes))
	}
	path := filepath.Join(f.TempDir(), "text")
	f.Fuzz(func(t *testing.T, text []byte, first, second int64) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		size := int64(len(text))
		cuts := []int64{0, min(uint63(first), size), min(uint63(second), size), size}
		slices.Sort(cuts)
		var got []string
		for i, from := range cuts[:len(cuts)-1] {
			if length := cuts[i+1] - from; length > 0 {
				got = append(got, readPart(t, split.File{Path: path, Offset: from, Length: length, Size: size})...)
			}
		}
		want := strings.Split(string(text), "\n")
		for i := range len(want) - 1 {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("cut at %d: got %q, want %q", cuts, got, want)
		}
	})
}

// uint63 makes a number one that is not negative.
func uint63(n int64) int64 { return n & (1<<63 - 1) }
