package filesystem

import (
	"encoding/json/v2"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRejectsOfPartsReadAgain has readers that end half-way, and parts whose limits change.
func TestRejectsOfPartsReadAgain(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(strings.Repeat("x\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	read := func(r *rejects, from int64, at ...int64) {
		t.Helper()
		r.begin(path, from)
		for _, a := range at {
			if err := r.add([]rejected{{at: a, reason: "no", raw: []byte("x")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	finish := func(r *rejects, end int64) {
		t.Helper()
		if err := r.finish(end); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what, want string) {
		t.Helper()
		names, err := filepath.Glob(dir + "/*.json")
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				var n, offset int
				if _, err := fmt.Sscanf(line[strings.Index(line, `"line"`):], `"line":%d,"byte_offset":%d`, &n, &offset); err != nil {
					t.Fatal(err)
				}
				lines = append(lines, fmt.Sprintf("%d@%d", n, offset))
			}
		}
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	first, second := &rejects{dir: dir, reader: "r"}, &rejects{dir: dir, reader: "r"}
	read(first, 0, 2)
	expect("a part that is not finished", "")
	read(second, 0, 2, 4) // the first has vanished without a word
	finish(second, 10)
	expect("a part", "2@2 3@4")
	if err := first.finish(10); err == nil {
		t.Error("an attempt that was given up has finished a part")
	}
	read(second, 10, 18)
	finish(second, 20)
	expect("both parts", "2@2 3@4 10@18")
	read(second, 0, 4)
	finish(second, 10)
	expect("the first part again", "3@4 10@18")
	read(second, 0, 4, 18)
	finish(second, 20)
	expect("the whole file in one part", "3@4 10@18")
	read(second, 0, 2, 4)
	finish(second, 6) // a checkpoint
	if err := second.add([]rejected{{at: 8, reason: "no", raw: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	finish(second, 12)                                      // another
	expect("two sections of one part", "2@2 3@4 5@8 10@18") // the last was found before
	read(second, 6, 8, 18)                                  // gone on with from the first
	finish(second, 20)
	expect("from the first checkpoint on", "2@2 3@4 5@8 10@18")
	other := &rejects{dir: dir, reader: "o"} // another query, which reads at the same time
	read(second, 0, 2)
	read(other, 0, 2)
	finish(second, 20)
	expect("one of two queries", "2@2")
	finish(other, 20)
	expect("both queries", "2@2")
	other.lines.close()
	read(other, 0, 2) // and is killed
	if err := os.Chtimes(other.file.Name(), time.Time{}, time.Now().Add(-2*forgotten)); err != nil {
		t.Fatal(err)
	}
	read(second, 0, 2)
	finish(second, 20)
	if err := other.finish(20); err == nil {
		t.Error("a query that was forgotten has finished a part")
	}
	other.lines.close()
	read(second, 0)
	finish(second, 20)
	expect("without a bad row", "")
	second.close()
	second.lines.close()
	first.lines.close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// TestRejectsOfQueriesAtOnce has two queries read one file in different sections, as they do
// when checkpoints are taken or the file is cut elsewhere. In whatever order these end, and
// wherever one of the queries does, each row is there once.
func TestRejectsOfQueriesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(strings.Repeat("x\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	ends := [][]int64{{6, 12, 20}, {9, 20}, {20}, {3, 16, math.MaxInt64}}
	for _, a := range ends {
		for _, b := range ends {
			for order := range 1 << (len(a) + len(b)) { // bit: whose section ends next
				if bits.OnesCount(uint(order)) != len(b) {
					continue
				}
				dir := t.TempDir()
				read := func(reader string, ends []int64) (next func()) {
					r := &rejects{dir: dir, reader: reader}
					t.Cleanup(r.lines.close)
					r.begin(path, 0)
					begun := int64(0)
					return func() {
						for at := begun; at < min(20, ends[0]); at++ {
							if at%4 == 0 {
								if err := r.add([]rejected{{at: at, reason: "no", raw: []byte("x")}}); err != nil {
									t.Fatal(err)
								}
							}
						}
						begun = ends[0]
						if err := r.finish(ends[0]); err != nil {
							t.Fatal(err)
						}
						ends = ends[1:]
					}
				}
				nextOf := []func(){read("a", a), read("b", b)}
				left := []int{len(a), len(b)}
				for i := range len(a) + len(b) {
					whose := order >> i & 1
					nextOf[whose]()
					if left[whose]--; left[whose] > 0 {
						continue
					}
					if got, want := offsets(t, dir), "[0 4 8 12 16]"; got != want { // one has read all
						t.Errorf("sections end at %v and %v in the order %b: after %d rows at %s, want %s", a, b, order, i+1, got, want)
					}
				}
			}
		}
	}
}

// TestRejectsOfASectionThatWasHalfCut has what is left when somebody was killed as he took a
// part out of a section.
func TestRejectsOfASectionThatWasHalfCut(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(strings.Repeat("x\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	r := &rejects{dir: dir, reader: "r"}
	t.Cleanup(r.lines.close)
	r.begin(path, 0)
	if err := r.add([]rejected{{at: 2, reason: "no"}, {at: 8, reason: "no"}, {at: 16, reason: "no"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.finish(20); err != nil {
		t.Fatal(err)
	}
	if err := r.cut(section{sectionName(r.prefix(), 0, 20), 0, 20}, section{begin: 10, end: 20}); err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, dir); got != "[2 8 16 16]" {
		t.Errorf("cut are %s", got)
	}
	r.begin(path, 6)
	if err := r.finish(10); err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, dir); got != "[2 16]" {
		t.Errorf("after another reading there are %s", got)
	}
}

// offsets are the places of all rows that are kept in a directory.
func offsets(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(dir + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var row rejectedRow
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			all = append(all, row.Offset)
		}
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}
