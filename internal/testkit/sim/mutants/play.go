package main

import (
	"encoding/json/v2"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirstream/weir/internal/testkit/sim/cluster"
)

// mostEvents ends a world that does not come to rest. A healthy one has a
// hundredth of it.
const mostEvents = 2_000_000

// verdict is what came of playing worlds.
type verdict struct {
	Played    int    `json:"played"`
	Seed      uint64 `json:"seed"` // the first that broke an invariant; 0: none did
	Invariant string `json:"invariant"`
	Text      string `json:"text"`
}

// play plays the seeds from 1 upwards until one breaks an invariant, or the time
// is over, and writes the verdict to standard output.
func play(seeds, players int, limit time.Duration) error {
	var (
		mu     sync.Mutex // guards v
		v      verdict
		next   atomic.Uint64
		found  atomic.Bool
		active sync.WaitGroup
	)
	debug.SetGCPercent(800) // a world is small, and each event makes garbage
	end := time.Now().Add(limit)
	for range players {
		active.Go(func() {
			for seed := next.Add(1); seed <= uint64(seeds) && !found.Load() && time.Now().Before(end); seed = next.Add(1) {
				r := cluster.Run(seed, cluster.Options{Events: mostEvents})
				mu.Lock()
				v.Played++
				if r.Broken != nil && (v.Seed == 0 || seed < v.Seed) {
					v.Seed, v.Invariant, v.Text = seed, r.Broken.Invariant, r.Broken.Text
					found.Store(true)
				}
				mu.Unlock()
			}
		})
	}
	active.Wait()
	return json.MarshalWrite(os.Stdout, &v)
}
