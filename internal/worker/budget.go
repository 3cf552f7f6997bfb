package worker

import (
	"fmt"
	"runtime/debug"

	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/streamgraph"
)

// setBudget takes what the worker may use from now on. The answer says what it
// holds: borrowed buffers come back one by one, and memory when the garbage
// collector has run.
func (w *Worker) setBudget(b *pb.WorkerBudget, reply func(*pb.WorkerBudgetResponse, error)) {
	size := int64(w.BufferSize)
	held := w.shuffle.Resize(int(b.Network/size), shareOf(b.AllNetwork/size, int(b.Held), int(b.Slots)))
	answer := &pb.WorkerBudgetResponse{Network: int64(held) * size}
	if w.LimitMemory == nil || b.Memory <= 0 {
		reply(answer, nil)
		return
	}
	w.state.limit(b.Memory)
	w.Loop.Go(func() { w.LimitMemory(b.Memory) }, func() { reply(answer, nil) })
}

// limitMemory sets what the garbage collector of this process aims at. When that
// is less than before, what is garbage goes back to the system now.
func limitMemory(bytes int64) {
	if bytes < debug.SetMemoryLimit(bytes) {
		debug.FreeOSMemory()
	}
}

// shareOf says what a worker's network buffers are a part of, which are all.
func shareOf(all int64, held, slots int) string {
	if held >= slots {
		return ""
	}
	return fmt.Sprintf(", for %d of the %d slots of the TaskManager, which has %d", held, slots, all)
}

// managed is the managed memory of each operator of a slot sharing group: a slot
// may hold a task of every vertex of the group at once, and they share its.
func (w *Worker) managed(group string) int64 {
	users := int64(0)
	for _, chain := range w.Compiled.Chains { // order: it only counts
		if chain.Vertex.SlotSharingGroup != group {
			continue
		}
		for _, n := range chain.Nodes {
			if _, uses := n.Operator.(operator.Managing); uses {
				users++
			}
		}
	}
	return w.ManagedBytes / max(1, users)
}

// affords refuses a chain whose operators find less managed memory than they
// cannot do without. Within one process with everything else it is not counted.
func (w *Worker) affords(chain *streamgraph.Chain, managed int64) error {
	if w.PID == 0 || !w.Compiled.Graph.Batch || managed >= operator.LeastManaged {
		return nil
	}
	for i, n := range chain.Nodes {
		if _, uses := n.Operator.(operator.Managing); uses {
			return fmt.Errorf("managed memory exhausted: operator %s needs at least %d bytes, and its part of the %d bytes of its slot is %d. "+
				"You can increase it by setting the configuration keys 'taskmanager.memory.managed.size' or 'taskmanager.memory.managed.fraction'",
				chain.Vertex.Operators[i].Name, operator.LeastManaged, w.ManagedBytes, managed)
		}
	}
	return nil
}
