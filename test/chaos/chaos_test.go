package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

var (
	planned = flag.Int("faults", 15, "faults to inject")
	seed    = flag.Uint64("seed", 0, "seed that chooses the faults and their times; 0 draws one")
)

// bin is where TestMain has built the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-chaos-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	if err := processes.Build(dir, "cmd/weir", "test/chaos/jobs"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestChaos runs rounds: each submits a bounded job, injects one or two faults
// into the cluster while it runs, and checks its answer and that the endless job
// runs again.
func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000_000)
	}
	began := time.Now()
	c := start(t, 3)
	f := &faults{c: c, random: rand.New(rand.NewPCG(*seed, 0)), injected: map[string]int{}, harmed: map[int]bool{}}
	jobs, wrong, restarts := 0, 0, 0
	defer func() {
		fmt.Printf("chaos: seed %d, %d faults of %d planned in %.0f s: %v; %d bounded jobs, %d wrong results; the endless job restarted %d times\n",
			*seed, f.total(), *planned, time.Since(began).Seconds(), f, jobs, wrong, restarts)
	}()
	kinds := []string{killManager, freezeManager, killWorker, freezeWorker}
	if c.net != nil {
		kinds = append(kinds, cutNetwork)
	}
	endless := c.submit("4", "endless")
	c.running(endless)
	for left := plan(f.random, *planned, kinds); len(left) > 0; jobs++ {
		n := min(len(left), 2, 1+f.random.IntN(3)) // two of three times two
		if !round(t, f, bounded[jobs%len(bounded)], left[:n], endless) {
			wrong++
		}
		left = left[n:]
	}
	if restarts = c.attempt(endless); restarts == 0 && *planned >= 2*len(kinds) {
		t.Error("no fault has met the endless job")
	}
	if f.total() < *planned {
		t.Errorf("injected %d faults, want %d", f.total(), *planned)
	}
}

// round says whether the answer of the round's job was right.
func round(t *testing.T, f *faults, b boundedJob, kinds []string, endless string) bool {
	t.Helper()
	began := time.Now()
	dir := t.TempDir()
	output := filepath.Join(dir, "out")
	arguments := []string{b.kind, strconv.Itoa(b.n), output}
	if b.prepare != nil {
		arguments = append(arguments, b.prepare(t, dir, b.n))
	}
	id := f.c.submit("3", arguments...)
	for _, kind := range kinds {
		<-time.After(time.Duration(f.random.IntN(1200)) * time.Millisecond)
		f.inject(kind)
	}
	f.undo()
	f.c.allRegistered()
	f.c.finished(id)
	f.c.running(endless)
	t.Logf("%s, %s: %.1f s", b.kind, strings.Join(kinds, " and "), time.Since(began).Seconds())
	got, err := processes.Lines(output)
	if err != nil {
		t.Fatal(err)
	}
	want := b.answer(b.n)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s of %d after %q: got %d lines, want %d: %s", b.kind, b.n, kinds, len(got), len(want), difference(got, want))
		return false
	}
	return true
}

// difference names the first line at which two sorted lists differ.
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
	return "none"
}

// boundedJob is a job of n records with a known answer.
type boundedJob struct {
	kind    string
	n       int
	prepare func(t *testing.T, dir string, n int) (glob string)
	answer  func(n int) []string
}

var bounded = []boundedJob{
	{kind: "sums", n: 6000, answer: sums},
	{kind: "words", n: 2400, prepare: writeWords, answer: words},
	{kind: "lines", n: 6000, answer: numbers},
}

// sums are those of 1..n by remainder modulo 64: an arithmetic series each.
func sums(n int) (lines []string) {
	for r := range 64 {
		first := r
		if r == 0 {
			first = 64
		}
		terms := (n-first)/64 + 1
		lines = append(lines, fmt.Sprintf("%d %d", r, terms*first+64*terms*(terms-1)/2))
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

// TestPlan checks that every kind comes up, as often as the others.
func TestPlan(t *testing.T) {
	kinds := []string{killManager, freezeManager, killWorker, freezeWorker, cutNetwork}
	counts := map[string]int{}
	for _, kind := range plan(rand.New(rand.NewPCG(1, 0)), 17, kinds) {
		counts[kind]++
	}
	for i, kind := range kinds {
		if want := 3 + (17%5+4-i)/5; counts[kind] != want {
			t.Errorf("%s comes up %d times of 17, want %d", kind, counts[kind], want)
		}
	}
}
