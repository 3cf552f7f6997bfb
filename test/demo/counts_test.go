package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A demo that cannot fail shows nothing: a line too many and a line too few are
// found.
func TestWrongCountsAreFound(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"a\t1\na\t2\nb\t1\n", ""},
		{"a\t2\na\t1\n", ""},
		{"a\t1\na\t1\n", `"a" was counted to 1 twice`},
		{"a\t1\na\t3\n", `"a" was counted 2 times, and 2 is missing`},
		{"a\t1\na\t2\na\t3\n", `"a" was counted 3 times, and put in 2 times`},
		{"a\n", "holds the line"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "part"), []byte(c.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := count(dir)
		if err == nil {
			err = got.within(map[string]int{"a": 2, "b": 1})
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.lines, err, c.want)
		}
	}
}
