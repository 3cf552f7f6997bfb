package sim_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/sim/cluster"
)

const (
	seedsByDefault = 5000
	seedsInShort   = 200
	oneOf          = 100 // one world of so many is played twice
)

var (
	seeds    = flag.Int("seeds", 0, "how many worlds TestWorld plays; 0: the usual number")
	from     = flag.Uint64("from", 1, "the first seed of the worlds that TestWorld plays")
	oneSeed  = flag.Uint64("seed", 0, "the only world TestWorld plays; 0: many")
	fullText = flag.Bool("fulltrace", false, "print the whole course of the world of -seed")
)

func report(t *testing.T, r cluster.Result) {
	t.Helper()
	if r.Broken == nil {
		return
	}
	t.Errorf("seed %d, %s after its beginning: %v\nlast of the course:\n%s\nreplay: go test ./internal/testkit/sim -run TestWorld -seed=%d -v   (-fulltrace prints the whole course)",
		r.Seed, r.Virtual, r.Broken, strings.Join(r.Last, "\n"), r.Seed)
}

// TestWorld plays a cluster with faults, once for each seed, and one of a hundred
// seeds a second time, which must have the same course.
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
	sum, begun := newTotals(), time.Now()
	var next atomic.Uint64
	next.Store(*from - 1)
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for seed := next.Add(1); seed < *from+uint64(n); seed = next.Add(1) {
				r := cluster.Run(seed, cluster.Options{})
				sum.add(r)
				if seed%oneOf == 0 {
					sum.again(r, cluster.Run(seed, cluster.Options{}))
				}
			}
		})
	}
	players.Wait()
	fmt.Println(sum.summary(time.Since(begun)))
	t.Logf("faults: %s", listed(sum.faults))
	t.Logf("jobs at the end: %s", listed(sum.jobs))
	t.Logf("met: %s", listed(sum.met))
	t.Logf("states and messages:%s", sum.cells())
	sum.watchRarities(t, n >= seedsByDefault)
	for _, r := range sum.broken {
		report(t, r)
	}
	for _, text := range sum.differ {
		t.Error(text)
	}
	for _, what := range []string{"tasks of an older JobMaster", "deployments", "regions of several subtasks", "freed slots",
		"duplicate submissions", "jobs at their next master", "restarts", "restarted tasks that ran", "lost outputs that were produced again",
		"causes found after what followed"} {
		if sum.met[what] == 0 && n >= seedsByDefault {
			t.Errorf("no %s in %d seeds", what, n)
		}
	}
	if faults := sum.faultCount(); faults < 20*sum.seeds && n >= seedsInShort {
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
