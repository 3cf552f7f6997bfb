package worker

import (
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/pebble"
)

// stateOf is what all keyed state of a worker shares.
type stateOf struct {
	pool state.Pool
	disk *pebble.Shared
}

// leastCache is the memory for what is read from state on a disk, at least.
const leastCache = 1 << 20

func newStateOf(managed int64) *stateOf {
	s := &stateOf{disk: pebble.NewShared(max(leastCache, managed/8*operator.ReadEighths))}
	s.pool.Advice = "You can increase it by setting the configuration key '" + config.TaskManagerProcessSize.Key +
		"', give the job more TaskManagers, or keep its state on a disk with '" + config.StateBackend.Key + ": rocksdb'"
	return s
}

// limit takes what the garbage collector aims at as the measure of what state may
// take that stays in memory: three quarters, since records, what a checkpoint copies
// and what is garbage need some too.
func (s *stateOf) limit(memory int64) { s.pool.SetLimit(memory / 4 * 3) }

// stateBackend says where a job keeps its state.
func (w *Worker) stateBackend(job *pb.Job) operator.StateBackend {
	b := operator.StateBackend{Pool: &w.state.pool}
	if kind := job.GetConfiguration()[config.StateBackend.Key]; kind == "rocksdb" || kind == "pebble" {
		b.Disk = w.state.disk.Open
	}
	return b
}
