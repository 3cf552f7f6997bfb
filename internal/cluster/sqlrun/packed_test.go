package sqlrun_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackedFiles reads files that are compressed as a whole.
func TestPackedFiles(t *testing.T) {
	s := open(t)
	dir := table(t, s, "t", "id INT, v STRING", ",'scan.bad-rows'='reject'", "0,plain\n")
	var text bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,\"some text\n%d\"\n", i, i)
	}
	text.WriteString("x,bad\n")
	for ending, packer := range map[string]func(io.Writer) io.WriteCloser{
		"gz":      func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		var packed bytes.Buffer
		w := packer(&packed)
		if _, err := w.Write(text.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.csv."+ending), packed.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// printf '1,b\n2,c\n' | bzip2
	bzip2, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWU/GxxsAAAJZAAAQAAQwABgAIAAhppmgwAKVCwu5IpwoSCfjY42A")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.bz2"), bzip2, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := answer(t.Context(), s, "SELECT COUNT(*), MAX(id), COUNT(DISTINCT v) FROM t"), "40003 | 19999 | 20003\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := answer(t.Context(), s, "SELECT COUNT(*), MIN(line), MAX(line), MIN(byte_offset) FROM t$rejects"), fmt.Sprintf("2 | 40001 | 40001 | %d\n", text.Len()-6); !strings.HasSuffix(got, want) {
		t.Errorf("rejected: %s, want %s", got, want)
	}
	gz, err := os.ReadFile(filepath.Join(dir, "a.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]struct{ text, want string }{
		"cut.gz":  {string(gz[:len(gz)/2]), "cut.gz, by the ending gz of its name: unexpected EOF"},
		"text.gz": {strings.Repeat("1,a\n", 10), "text.gz, by the ending gz of its name: gzip: invalid header"},
		"a.xz":    {"x", "a.xz, by the ending xz of its name: it cannot be read; there are gz,"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(bad.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := answer(t.Context(), s, "SELECT COUNT(*) FROM t"); !strings.Contains(got, bad.want) {
			t.Errorf("%s: %s", name, got)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}
