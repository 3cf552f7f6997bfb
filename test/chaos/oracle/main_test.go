package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	testSplits = 3
	testN      = 400
)

// right gives what a job that makes no mistake has written after the first n
// records of each split.
func right(kind string, n int64) (lines []string) {
	counts, sizes := map[int64]int64{}, map[[2]int64]int64{}
	if kind == "pairs" {
		for a := range n {
			for b := range n {
				if paired(a, b) {
					lines = append(lines, fmt.Sprint(a, b, a%13))
				}
			}
		}
		return lines
	}
	window := func(split, place int64) [2]int64 {
		return [2]int64{evenKey(split, place), begins(timeOf(split, place))}
	}
	for split := range int64(testSplits) {
		for place := range n {
			sizes[window(split, place)]++
		}
	}
	for place := range n {
		for split := range int64(testSplits) {
			key := evenKey(split, place)
			if kind == "skewed" {
				key = skewedKey(split, place)
			}
			counts[key]++
			switch w := window(split, place); kind {
			case "counted", "skewed", "rescaled":
				lines = append(lines, fmt.Sprint(split, place, key, counts[key]))
			case "ruled":
				lines = append(lines, fmt.Sprint(split, place, key, counts[key], place/100))
			case "windows":
				lines = append(lines, fmt.Sprint(split, place, w[1], sizes[w]))
			case "valued", "matched":
				lines = append(lines, fmt.Sprint(split, place, 3*place))
			}
		}
	}
	return lines
}

// judge gives what the oracle says of lines.
func judge(t *testing.T, kind string, lines []string, final bool) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "part"), []byte(strings.Join(append(lines, ""), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, _, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := &verdict{splits: testSplits, n: testN, rows: rows, final: final}
	if kind == "pairs" {
		v.splits = 2
	}
	judges[kind](v)
	return v.String()
}

// The oracle finds nothing wrong with a job that makes no mistake, at any moment.
func TestRightJobs(t *testing.T) {
	for kind := range judges {
		for _, n := range []int64{0, 1, 57, testN} {
			if got := judge(t, kind, right(kind, n), n == testN); strings.Contains(got, ";") {
				t.Errorf("%s after %d records: %s", kind, n, got)
			}
		}
	}
}

// The oracle finds each kind of mistake in each kind of job.
func TestWrongJobs(t *testing.T) {
	mistakes := []struct {
		name string
		make func(lines []string) []string
		want string
	}{
		{"a record is lost", func(l []string) []string { return append(l[:100:100], l[101:]...) }, "lost"},
		{"a record is doubled", func(l []string) []string { return append(l, l[100]) }, "doubled"},
		{"a record is foreign", func(l []string) []string { return append(l, strings.Replace(l[100], " ", " 9999", 1)) }, "wrong"},
		{"a line is cut", func(l []string) []string { return append(l, "1") }, "wrong"},
	}
	for kind := range judges {
		for _, m := range mistakes {
			if got := judge(t, kind, m.make(right(kind, testN)), true); !strings.Contains(got, " "+m.want+":") {
				t.Errorf("%s, %s: %s", kind, m.name, got)
			}
		}
	}
	swapped := right("counted", testN)
	// Records 0 and 97 of split 0 have key 0, with the numbers 1 and 4.
	for i, l := range swapped {
		switch {
		case l == "0 0 0 1":
			swapped[i] = "0 97 0 1"
		case strings.HasPrefix(l, "0 97 0 "):
			swapped[i] = "0 0 0 " + strings.TrimPrefix(l, "0 97 0 ")
		}
	}
	if got := judge(t, "counted", swapped, true); !strings.Contains(got, "disordered:") {
		t.Errorf("swapped: %s", got)
	}
	back := right("ruled", testN)
	back[len(back)-1] = back[len(back)-1][:strings.LastIndexByte(back[len(back)-1], ' ')] + " 0"
	if got := judge(t, "ruled", back, true); !strings.Contains(got, "after rule") {
		t.Errorf("a rule goes back: %s", got)
	}
	early := right("windows", testN)
	early[0] = "0 0 -1 0"
	if got := judge(t, "windows", early, true); !strings.Contains(got, "counts as too late") {
		t.Errorf("too late too early: %s", got)
	}
	// What is missing at the end of a split is lost in the end only.
	if got := judge(t, "counted", right("counted", 57), true); !strings.Contains(got, "lost:") {
		t.Errorf("an end is missing: %s", got)
	}
}

// Files that are not finished are not read, and are left over in the end.
func TestStrayFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"part-0", ".part-1.pending", "a=1/part-2", "a=1/.part-3"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1 2 3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows, stray, err := read(dir)
	if err != nil || len(rows) != 2 || len(stray) != 2 {
		t.Errorf("got rows %v, stray files %v, %v; want 2 of each", rows, stray, err)
	}
}
