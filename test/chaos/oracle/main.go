// Oracle reads what the sinks of a job hold and says whether every record of its
// input is there as often as it must be. It shares no package with the engine.
//
//	oracle KIND SPLITS N DIR [final]
//
// The input of a job is SPLITS splits of N records each; a record is known by its
// split and its place in it, from 0. DIR holds the finished files, whose lines are
// numbers: the record and what the job has made of it. Files whose names begin
// with "." are not finished. At every moment what is finished must be right; with
// "final" it must be complete too, and no other file may be there.
//
// The kinds, and what their lines hold:
//
//	counted  SPLIT PLACE KEY COUNT   the key's records, numbered from 1 without a gap; of each split and key a prefix, in order
//	rescaled SPLIT PLACE KEY COUNT   the same, but those of a split may come in any order
//	skewed   SPLIT PLACE KEY COUNT   as counted, with another key
//	windows  SPLIT PLACE START SIZE  the window's begin in milliseconds and how many records it has; START is -1 for one that came too late
//	pairs    PLACE PLACE KEY         two records of two inputs that are at most 40 ms apart
//	ruled    SPLIT PLACE KEY COUNT VERSION  counted, with the newest of the rules that was known, which never goes back
//	valued   SPLIT PLACE VALUE       the record and three times its place, of each split a prefix
//	matched  SPLIT PLACE VALUE       the same in any order
package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: oracle KIND SPLITS N DIR [final]")
		os.Exit(2)
	}
	splits, err1 := strconv.ParseInt(os.Args[2], 10, 64)
	n, err2 := strconv.ParseInt(os.Args[3], 10, 64)
	judge, known := judges[os.Args[1]]
	if err1 != nil || err2 != nil || !known {
		fmt.Fprintf(os.Stderr, "oracle: %q: a kind that is known, and two numbers, are wanted\n", os.Args[1:4])
		os.Exit(2)
	}
	rows, stray, err := read(os.Args[4])
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	}
	v := &verdict{splits: splits, n: n, rows: rows, final: len(os.Args) > 5 && os.Args[5] == "final"}
	judge(v)
	for _, name := range stray {
		if v.final {
			v.count("stray", "file %s is left over", name)
		}
	}
	fmt.Println(v)
	if len(v.wrong) > 0 {
		os.Exit(1)
	}
}

// read gives the lines of all finished files, those of one file in their order,
// and the names of the other files. It lists the directory until nothing has
// changed, so that no file is missing that was finished before another.
func read(dir string) (rows [][]int64, stray []string, err error) {
	finished, stray, err := list(dir)
	for err == nil {
		var again []string
		if again, stray, err = list(dir); slices.Equal(again, finished) {
			break
		}
		finished = again
	}
	for _, path := range finished {
		if rows, err = appendLines(rows, path); err != nil {
			return nil, nil, err
		}
	}
	return rows, stray, err
}

func list(dir string) (finished, other []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case path != dir && strings.HasPrefix(d.Name(), "."):
			if other = append(other, path); d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			finished = append(finished, path)
		}
		return nil
	})
	return finished, other, err
}

func appendLines(rows [][]int64, path string) ([][]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return rows, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row []int64
		for _, field := range strings.Fields(lines.Text()) {
			value, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return rows, fmt.Errorf("%s: line %q: %w", path, lines.Text(), err)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}

// verdict is what the oracle finds.
type verdict struct {
	splits, n int64
	rows      [][]int64
	final     bool
	records   int      // that are there
	wrong     []string // kinds of mistake, in the order in which they were met
	counts    map[string]int
	examples  map[string]string
}

// count notes a mistake of a kind: lost, doubled, disordered, wrong or stray.
func (v *verdict) count(kind, format string, args ...any) {
	if v.counts == nil {
		v.counts, v.examples = map[string]int{}, map[string]string{}
	}
	if v.counts[kind]++; v.counts[kind] == 1 {
		v.wrong = append(v.wrong, kind)
		v.examples[kind] = fmt.Sprintf(format, args...)
	}
}

// String is one line: how many records there are, and every kind of mistake with
// how often it was made and the first one.
func (v *verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records", v.records)
	for _, kind := range v.wrong {
		fmt.Fprintf(&b, "; %d %s: %s", v.counts[kind], kind, v.examples[kind])
	}
	return b.String()
}

// record notes that a record is there, and says whether it is the first time and
// one of the input.
func (v *verdict) record(seen map[[2]int64]bool, split, place int64) bool {
	id := [2]int64{split, place}
	switch {
	case split < 0 || split >= v.splits || place < 0 || place >= v.n:
		v.count("wrong", "record %d of split %d is none of the input", place, split)
	case seen[id]:
		v.count("doubled", "record %d of split %d", place, split)
	default:
		seen[id] = true
		v.records++
		return true
	}
	return false
}

// complete counts what is missing in the end.
func (v *verdict) complete(seen map[[2]int64]bool) {
	for split := range v.splits {
		for place := range v.n {
			if v.final && !seen[[2]int64{split, place}] {
				v.count("lost", "record %d of split %d", place, split)
			}
		}
	}
}

// shaped says whether a row has as many numbers as it must.
func (v *verdict) shaped(row []int64, width int) bool {
	if len(row) != width {
		v.count("wrong", "line %v has %d numbers, want %d", row, len(row), width)
	}
	return len(row) == width
}
