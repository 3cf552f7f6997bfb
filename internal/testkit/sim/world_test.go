package sim_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirstream/weir/internal/testkit/sim/cluster"
)

const (
	seedsByDefault = 5000
	seedsInShort   = 200
)

var (
	seeds    = flag.Int("seeds", 0, "how many worlds TestWorld plays, from seed 1; 0: the usual number")
	oneSeed  = flag.Uint64("seed", 0, "the only world TestWorld plays; 0: many")
	fullText = flag.Bool("fulltrace", false, "print the whole course of the world of -seed")
)

// totals sums up many worlds.
type totals struct {
	mu           sync.Mutex // guards the fields below
	seeds        int
	events       uint64
	faults, jobs map[string]int
	met          map[string]int
	pairs        map[cluster.Pair]int
	broken       []cluster.Result // the lowest seeds first, at most three
}

func (s *totals) add(r cluster.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeds++
	s.events += r.Events
	for kind, n := range r.Faults {
		s.faults[kind] += n
	}
	for state, n := range r.Jobs {
		s.jobs[state] += n
	}
	for what, n := range r.Met {
		s.met[what] += n
	}
	for pair, n := range r.Pairs {
		s.pairs[pair] += n
	}
	if r.Broken != nil {
		s.broken = append(s.broken, r)
		slices.SortFunc(s.broken, func(a, b cluster.Result) int { return int(a.Seed) - int(b.Seed) })
		s.broken = s.broken[:min(3, len(s.broken))]
	}
}

func listed(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// cells lists each state with the messages that found it, and how often.
func (s *totals) cells() string {
	var lines []string
	for p, n := range s.pairs {
		lines = append(lines, fmt.Sprintf("%9d  %s", n, p))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[11:], b[11:]) })
	return strings.Join(lines, "\n")
}

// watchRarities prints how often each named situation was met. all says that so
// many worlds were played that none may be missing.
func (s *totals) watchRarities(t *testing.T, all bool) {
	t.Helper()
	var lines []string
	for _, y := range cluster.Rarities() {
		n := y.Seen(s.pairs, s.met)
		lines = append(lines, fmt.Sprintf("%9d  %s", n, y.Name))
		if n == 0 && all {
			t.Errorf("never seen in %d seeds: %s", s.seeds, y.Name)
		}
	}
	t.Logf("rare situations:\n%s", strings.Join(lines, "\n"))
}

func report(t *testing.T, r cluster.Result) {
	t.Helper()
	if r.Broken == nil {
		return
	}
	t.Errorf("seed %d, %s after its beginning: %v\nlast of the course:\n%s\nreplay: go test ./internal/testkit/sim -run TestWorld -seed=%d -v   (-fulltrace prints the whole course)",
		r.Seed, r.Virtual, r.Broken, strings.Join(r.Last, "\n"), r.Seed)
}

// TestWorld plays a cluster with faults, once for each seed.
func TestWorld(t *testing.T) {
	if *oneSeed != 0 {
		o := cluster.Options{}
		if *fullText {
			o.Trace = os.Stdout
		}
		r := cluster.Run(*oneSeed, o)
		t.Logf("seed %d: %d events in %s, course %016x, faults: %s; jobs at the end: %s", r.Seed, r.Events, r.Virtual, r.Hash, listed(r.Faults), listed(r.Jobs))
		report(t, r)
		return
	}
	n := *seeds
	switch {
	case n == 0 && testing.Short():
		n = seedsInShort
	case n == 0:
		n = seedsByDefault
	}
	sum := totals{faults: map[string]int{}, jobs: map[string]int{}, met: map[string]int{}, pairs: map[cluster.Pair]int{}}
	var next atomic.Uint64
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for seed := next.Add(1); seed <= uint64(n); seed = next.Add(1) {
				sum.add(cluster.Run(seed, cluster.Options{}))
			}
		})
	}
	players.Wait()
	faults := 0
	for _, k := range sum.faults {
		faults += k
	}
	fmt.Printf("simulation: %d seeds, %d events, %.1f faults a seed\n", sum.seeds, sum.events, float64(faults)/float64(sum.seeds))
	t.Logf("faults: %s", listed(sum.faults))
	t.Logf("jobs at the end: %s", listed(sum.jobs))
	t.Logf("met: %s", listed(sum.met))
	t.Logf("states and messages:\n%s", sum.cells())
	sum.watchRarities(t, n >= seedsByDefault)
	for _, r := range sum.broken {
		report(t, r)
	}
	for _, what := range []string{"tasks of an older JobMaster", "deployments", "regions of several subtasks", "freed slots",
		"duplicate submissions", "jobs at their next master", "restarts", "restarted tasks that ran", "lost outputs that were produced again",
		"causes found after what followed"} {
		if sum.met[what] == 0 && n >= seedsByDefault {
			t.Errorf("no %s in %d seeds", what, n)
		}
	}
	if faults < 20*sum.seeds && n >= seedsInShort {
		t.Errorf("%d faults in %d seeds, want 20 a seed", faults, sum.seeds)
	}
}

// TestSameSeedSameCourse plays worlds twice.
func TestSameSeedSameCourse(t *testing.T) {
	hashes := map[uint64]uint64{}
	for seed := uint64(1); seed <= 40; seed++ {
		a, b := cluster.Run(seed, cluster.Options{}), cluster.Run(seed, cluster.Options{})
		if a.Hash != b.Hash || a.Events != b.Events {
			t.Errorf("seed %d: %d events with hash %016x, then %d with %016x", seed, a.Events, a.Hash, b.Events, b.Hash)
		}
		if other, twice := hashes[a.Hash]; twice {
			t.Errorf("seeds %d and %d have the same course", seed, other)
		}
		hashes[a.Hash] = seed
	}
}
