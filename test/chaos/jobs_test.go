package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// boundedJob is a job of n records with a known answer. Left alone it takes about
// three seconds, so that faults meet it.
type boundedJob struct {
	kind    string
	n       int
	prepare func(t *testing.T, dir string, n int) (glob string)
	answer  func(n int) []string
}

var bounded = []boundedJob{
	{kind: "sums", n: 9000, answer: func(n int) []string { return sums(n, 64) }},
	{kind: "words", n: 2400, prepare: writeWords, answer: words},
	{kind: "stages", n: 6000, answer: func(n int) []string { return sums(n, 8) }},
	{kind: "lines", n: 9000, answer: numbers},
}

// mode is how a job is run.
type mode struct{ name, options string }

// next gives the job and the mode of a round: each job comes up in each mode.
func next(round int) (boundedJob, mode) {
	return bounded[round%len(bounded)], modes[(round+round/len(bounded))%len(modes)]
}

// The modes have all exchanges pipelined, or run stage by stage.
var modes = []mode{
	{"streaming", "execution.runtime-mode=STREAMING"},
	{"batch", "execution.runtime-mode=BATCH execution.batch-shuffle-mode=ALL_EXCHANGES_PIPELINED"},
	{"batch through files", "execution.runtime-mode=BATCH execution.batch-shuffle-mode=ALL_EXCHANGES_BLOCKING execution.batch.adaptive.auto-parallelism.enabled=false"},
	{"batch sized while it runs", "execution.runtime-mode=BATCH execution.batch-shuffle-mode=ALL_EXCHANGES_BLOCKING execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task=1kb"},
}

// sums are those of 1..n by remainder: an arithmetic series each.
func sums(n, modulus int) (lines []string) {
	for r := range modulus {
		first := r
		if r == 0 {
			first = modulus
		}
		terms := (n-first)/modulus + 1
		lines = append(lines, fmt.Sprintf("%d %d", r, terms*first+modulus*terms*(terms-1)/2))
	}
	return lines
}

// writeWords writes n lines into files: line i holds the words k that divide i.
func writeWords(t *testing.T, dir string, n int) string {
	const files = 12
	for file := range files {
		var text strings.Builder
		for i := 1 + file*n/files; i <= (file+1)*n/files; i++ {
			for k := 1; k <= 20; k++ {
				if i%k == 0 {
					fmt.Fprintf(&text, "w%d ", k)
				}
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", file)), []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "*.txt")
}

// words: of 1..n, every k-th number is divisible by k.
func words(n int) (lines []string) {
	for k := 1; k <= 20; k++ {
		lines = append(lines, fmt.Sprintf("w%d %d", k, n/k))
	}
	return lines
}

func numbers(n int) (lines []string) {
	for i := 1; i <= n; i++ {
		lines = append(lines, strconv.Itoa(i))
	}
	return lines
}

// difference names the first line at which two sorted lists differ; empty: they
// do not.
func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%q is missing", want[i])
		case i >= len(want):
			return fmt.Sprintf("%q is too much", got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("got %q, want %q", got[i], want[i])
		}
	}
	return ""
}

// TestAnswers checks the closed forms against adding up.
func TestAnswers(t *testing.T) {
	const n = 1000
	for _, modulus := range []int{8, 64} {
		added := make([]int, modulus)
		for v := 1; v <= n; v++ {
			added[v%modulus] += v
		}
		var want []string
		for r, sum := range added {
			want = append(want, fmt.Sprintf("%d %d", r, sum))
		}
		if got := sums(n, modulus); !slices.Equal(got, want) {
			t.Errorf("modulo %d: %s", modulus, difference(got, want))
		}
	}
}

// TestEveryJobComesUpInEveryMode checks the order of the rounds.
func TestEveryJobComesUpInEveryMode(t *testing.T) {
	seen := map[[2]string]bool{}
	for i := range len(bounded) * len(modes) {
		b, m := next(i)
		seen[[2]string{b.kind, m.name}] = true
	}
	if want := len(bounded) * len(modes); len(seen) != want {
		t.Errorf("%d pairs of %d: %v", len(seen), want, seen)
	}
}
