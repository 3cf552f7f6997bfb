package main

import (
	"encoding/json/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/weirstream/weir/internal/testkit/sim/cluster"
)

// mostEvents ends a world that does not come to rest. A healthy one has a
// hundredth of it.
const mostEvents = 2_000_000

// verdict is what came of playing worlds.
type verdict struct {
	Played    int    `json:"played"`
	Seed      uint64 `json:"seed"` // that broke an invariant; 0: none did
	Invariant string `json:"invariant"`
	Text      string `json:"text"`
}

// play plays a world that is known to notice something, and then the seeds from
// 1 upwards, until one breaks an invariant or the time is over, and writes the
// verdict to standard output.
func play(o options, first uint64) error {
	debug.SetGCPercent(800) // a world is small, and each event makes garbage
	var v verdict
	end := time.Now().Add(o.limit)
	one := func(seed uint64) (more bool) {
		r := cluster.Run(seed, cluster.Options{Events: mostEvents})
		v.Played++
		if r.Broken != nil {
			v.Seed, v.Invariant, v.Text = seed, r.Broken.Invariant, r.Broken.Text
			return false
		}
		return o.limit == 0 || time.Now().Before(end)
	}
	if first == 0 || one(first) {
		for seed := uint64(1); seed <= uint64(o.seeds) && one(seed); seed++ {
		}
	}
	return json.MarshalWrite(os.Stdout, &v)
}
