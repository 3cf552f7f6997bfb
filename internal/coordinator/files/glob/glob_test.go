package glob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files, their content their own names, and links "a -> b".
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		from, to, link := strings.Cut(name, " -> ")
		p := filepath.Join(dir, from)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if link {
			err = os.Symlink(to, p)
		} else {
			err = os.WriteFile(p, []byte(name), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestList(t *testing.T) {
	dir := tree(t, "a.txt", "b.go", "sub/c.txt", "sub/deep/d.txt", "sub/_e.txt", ".hidden/f.txt", "odd[1].txt",
		"loop -> .", "link.txt -> a.txt", ".#a.txt -> nowhere")
	for pattern, want := range map[string]string{
		"*.txt":        "a.txt link.txt odd[1].txt",
		"**/*.txt":     ".hidden/f.txt a.txt link.txt odd[1].txt sub/_e.txt sub/c.txt sub/deep/d.txt",
		"**/sub/**":    "sub/_e.txt sub/c.txt sub/deep/d.txt",
		"**/d*/*":      "sub/deep/d.txt",
		"none/**/*":    "",
		"sub":          "sub/c.txt sub/deep/d.txt",
		"sub/":         "sub/c.txt sub/deep/d.txt",
		"sub/*":        "sub/_e.txt sub/c.txt",
		"a.txt":        "a.txt",
		"./sub/../a.*": "a.txt",
		"odd[1].txt":   "odd[1].txt",
		`odd\[1\].txt`: "odd[1].txt",
		"{a,b}.*":      "a.txt b.go",
		"none*":        "",
		"none/*.txt":   "",
	} {
		found, err := List(dir + "/" + pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		var names []string
		for _, f := range found {
			name := strings.TrimPrefix(f.Path, dir+"/")
			names = append(names, name)
			if info, err := os.Stat(f.Path); err != nil || info.Size() != f.Size {
				t.Errorf("%s: %s has size %d, listed with %d (%v)", pattern, name, info.Size(), f.Size, err)
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", pattern, got, want)
		}
	}
	if _, err := List(dir + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a path that does not exist: %v", err)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	if _, err := List("[a"); err == nil || !strings.Contains(err.Error(), `"[a"`) {
		t.Errorf("an open bracket: %v", err)
	}
	links := tree(t, "a.txt", "sub/gone.txt -> nowhere")
	for _, pattern := range []string{"sub/gone.txt", "sub/*", "**/*.txt", ""} {
		found, err := List(links + "/" + pattern)
		if want := links + "/sub/gone.txt is a symbolic link to nowhere, which does not exist"; err == nil || err.Error() != want {
			t.Errorf("%s: %v %v, want %s", pattern, found, err, want)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("nothing is unreadable for the superuser")
	}
	dir := tree(t, "shut/a.txt")
	shut := filepath.Join(dir, "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(shut, 0o777) })
	for _, pattern := range []string{dir + "/**/*.txt", dir} {
		if found, err := List(pattern); err == nil || !strings.Contains(fmt.Sprint(err), shut) {
			t.Errorf("%s: %v %v", pattern, found, err)
		}
	}
}

func FuzzList(f *testing.F) {
	for _, seed := range []string{"*.txt", "**/x", "[", "{a,b", `\`, "a/../b", "", "/", "..//*"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, pattern string) {
		if strings.Contains(pattern, "..") {
			t.Skip("leaves the directory")
		}
		List(dir + "/" + pattern)
	})
}
