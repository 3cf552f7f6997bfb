package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/sim/cluster"
)

// totals sums up many worlds.
type totals struct {
	mu           sync.Mutex // guards the fields below
	seeds        int
	twice        int    // that were played twice, with the same course
	hash         uint64 // of all courses, in whatever order they were played
	events       uint64
	virtual      time.Duration
	faults, jobs map[string]int
	met          map[string]int
	pairs        map[cluster.Pair]int
	broken       []cluster.Result // the lowest seeds first, at most three
	differ       []string         // seeds that had two courses
}

func newTotals() *totals {
	return &totals{faults: map[string]int{}, jobs: map[string]int{}, met: map[string]int{}, pairs: map[cluster.Pair]int{}}
}

func (s *totals) add(r cluster.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeds++
	s.hash += r.Hash
	s.events += r.Events
	s.virtual += r.Virtual
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

// again takes the second course of a world.
func (s *totals) again(first, second cluster.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.twice++
	if first.Hash != second.Hash || first.Events != second.Events {
		s.differ = append(s.differ, fmt.Sprintf("seed %d has two courses: %d events with hash %016x, then %d with %016x",
			first.Seed, first.Events, first.Hash, second.Events, second.Hash))
	}
}

// faultCount is the number of all faults.
func (s *totals) faultCount() int {
	n := 0
	for _, k := range s.faults {
		n += k
	}
	return n
}

// summary is what a run leaves behind, in one line.
func (s *totals) summary(took time.Duration) string {
	return fmt.Sprintf("simulation: %d seeds in %.1fs (%.1f seeds/s), %d played twice; %d events in %.0f h of their time; %d faults (%.1f a seed); %d states and messages; hash %016x; %d violations",
		s.seeds, took.Seconds(), float64(s.seeds)/took.Seconds(), s.twice, s.events, s.virtual.Hours(), s.faultCount(),
		float64(s.faultCount())/float64(s.seeds), len(s.pairs), s.hash, len(s.broken)+len(s.differ))
}

// listed names counts in the order of their names.
func listed(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// cells lists each state with the messages that found it, and how often.
func (s *totals) cells() string {
	byState := slices.SortedFunc(maps.Keys(s.pairs), func(a, b cluster.Pair) int {
		return strings.Compare(a.State+"\x00"+a.Event, b.State+"\x00"+b.Event)
	})
	var b strings.Builder
	for _, p := range byState {
		fmt.Fprintf(&b, "\n%9d  %s", s.pairs[p], p)
	}
	return b.String()
}

// watchRarities prints how often each named situation was met. all says that so
// many worlds were played that none may be missing.
func (s *totals) watchRarities(t *testing.T, all bool) {
	t.Helper()
	var b strings.Builder
	seen := 0
	for _, y := range cluster.Rarities() {
		n := y.Seen(s.pairs, s.met)
		fmt.Fprintf(&b, "\n%9d  %s", n, y.Name)
		if n > 0 {
			seen++
		} else if all {
			t.Errorf("never seen in %d seeds: %s", s.seeds, y.Name)
		}
	}
	t.Logf("rare situations, %d of %d seen:%s", seen, len(cluster.Rarities()), b.String())
}
