package files

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/files/glob"
)

// replacement is a sink's end whose new files are complete and not seen.
type replacement struct {
	t   *testing.T
	dir string
	*replacer
	all []connector.Committable
}

func replacementOf(t *testing.T, dir string, partitions bool, names ...string) replacement {
	t.Helper()
	var files []pending
	for _, name := range names {
		p := pending{Dir: dir, Hidden: ".hidden", Partition: filepath.Dir(name), Name: filepath.Base(name)}
		if p.Partition == "." {
			p.Partition = ""
		}
		files = append(files, p)
		writeFile(t, p.hidden())
	}
	texts, err := encodeAll(files)
	if err != nil {
		t.Fatal(err)
	}
	r := replacement{t: t, dir: dir, replacer: &replacer{committer: committer{slog.New(slog.DiscardHandler)}, dir: dir, partitions: partitions}}
	for _, text := range append(texts, removal) {
		r.all = append(r.all, connector.Committable{Data: text})
	}
	return r
}

func (r replacement) commit() {
	r.t.Helper()
	if done, err := r.Commit(r.t.Context(), r.all); done != len(r.all) || err != nil {
		r.t.Fatalf("%d done of %d: %v", done, len(r.all), err)
	}
}

// stop commits as far as a point: before the new files count, or before the old ones are
// removed.
func (r replacement) stop(count bool) {
	r.t.Helper()
	fresh := map[string]bool{}
	for _, c := range r.all[:len(r.all)-1] {
		p, err := decodePending(c.Data)
		if err != nil {
			r.t.Fatal(err)
		}
		fresh[p.final()] = true
	}
	old, err := r.others(fresh)
	r.old, r.known = old, true
	if err == nil {
		err = r.announce(fresh)
	}
	switch {
	case err != nil:
	case count:
		err = r.turn(r.t.Context(), r.all[:len(r.all)-1], fresh)
		r.switched = true
	default:
		_, err = r.committer.Commit(r.t.Context(), r.all[:len(r.all)-1])
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// listed are the names of the files that a source finds.
func listed(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := glob.List(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		name, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// present are all names that are in a directory.
func present(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// A directory is listed at every step of a replacement, and by every kind of pattern: there
// are the old files, and then the new ones.
func TestFilesAreReplacedAtOnce(t *testing.T) {
	for _, pattern := range []string{"", "*", "**/*", "{n,o}*"} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "o1"))
		writeFile(t, filepath.Join(dir, "o2"))
		steps := []string{listed(t, dir, "[no]*")}
		r := replacementOf(t, dir, false, "n1", "n2")
		r.stop(false)
		steps = append(steps, listed(t, dir, pattern))
		if there := present(t, dir); !strings.Contains(there, "n1") || !strings.Contains(there, "o2") {
			t.Errorf("%q: there are %s", pattern, there)
		}
		r.switched = false
		r.stop(true)
		steps = append(steps, listed(t, dir, pattern))
		writeFile(t, filepath.Join(dir, "another")) // of a program that adds files meanwhile
		r.commit()
		if pattern == "" {
			steps = append(steps, listed(t, dir, pattern))
		}
		want := []string{"o1 o2", "o1 o2", "n1 n2", "another n1 n2"}
		if !slices.Equal(steps, want[:len(steps)]) {
			t.Errorf("%q: %q, want %q", pattern, steps, want)
		}
		if there := present(t, dir); there != "another n1 n2" {
			t.Errorf("%q: in the end there are %s", pattern, there)
		}
	}
}

// Some partitions are replaced: at once, whether the whole table is listed or one of them.
func TestPartitionsAreReplacedAtOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p=1/o", "p=2/o", "p=3/o"} {
		writeFile(t, filepath.Join(dir, name))
	}
	r := replacementOf(t, dir, true, "p=1/n", "p=2/m")
	r.stop(false)
	if all, one := listed(t, dir, ""), listed(t, dir, "p=1"); all != "p=1/o p=2/o p=3/o" || one != "p=1/o" {
		t.Errorf("before: %q, of one %q", all, one)
	}
	r.stop(true)
	if all, one := listed(t, dir, ""), listed(t, dir, "p=1"); all != "p=1/n p=2/m p=3/o" || one != "p=1/n" {
		t.Errorf("after: %q, of one %q", all, one)
	}
	r.commit()
	if there := present(t, dir) + present(t, filepath.Join(dir, "p=1")); there != "p=1 p=2 p=3n" {
		t.Errorf("in the end there are %s", there)
	}
}

// Attempts end at every step of a replacement, and the next one does all again.
func TestAReplacementThatIsGivenUpIsDoneAgain(t *testing.T) {
	for _, switched := range []bool{false, true} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "o"))
		first := replacementOf(t, dir, false, "a1", "a2")
		first.stop(switched)
		if got, want := listed(t, dir, ""), map[bool]string{false: "o", true: "a1 a2"}[switched]; got != want {
			t.Errorf("after the first attempt: %q, want %q", got, want)
		}
		second := replacementOf(t, dir, false, "b")
		before := listed(t, dir, "")
		second.stop(false)
		if got := listed(t, dir, ""); got != before {
			t.Errorf("in the second attempt: %q, want %q", got, before)
		}
		second.commit()
		if there := present(t, dir); there != "b" {
			t.Errorf("after the second attempt there are %s", there)
		}
		// The first one lives, and goes on.
		if _, err := first.Commit(t.Context(), first.all); switched == (err != nil) {
			t.Errorf("the first attempt goes on: %v", err)
		}
		if got := listed(t, dir, ""); got != "b" {
			t.Errorf("after the first attempt has gone on: %q", got)
		}
	}
}

// A directory is replaced again and again while it is listed all the time.
func TestListsWhileFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	replacementOf(t, dir, false, "0-a", "0-b", "0-c").commit()
	end := make(chan struct{})
	var lists sync.WaitGroup
	lists.Go(func() {
		for {
			found, err := glob.List(dir)
			if err != nil {
				t.Error(err)
				return
			}
			var of []string
			for _, f := range found {
				of = append(of, strings.Split(filepath.Base(f.Path), "-")[0])
			}
			if len(of) != 3 || of[0] != of[1] || of[1] != of[2] {
				t.Errorf("files of replacements %q are listed", of)
				return
			}
			select {
			case <-end:
				return
			default:
			}
		}
	})
	for i := range 20 {
		n := strconv.Itoa(i + 1)
		replacementOf(t, dir, false, n+"-a", n+"-b", n+"-c").commit()
	}
	close(end)
	lists.Wait()
}
