package operator

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Mine makes the function that leaves in a batch what the partitioner of an operator
// sends to a subtask. A tail would send the same records there.
func (s *StreamOf[T]) Mine(e TailEdge, of string, subtask, n int) func(b batch.Batch) {
	route := e.Route.(*Router[T])
	var mine func(v T) bool
	switch e.Partitioner {
	case streamgraph.Hash:
		hash := route.Hash()
		mine = func(v T) bool {
			return keygroup.Subtask(keygroup.Group(hash(v), e.MaxParallelism), n, e.MaxParallelism) == subtask
		}
	case streamgraph.Custom:
		mine = func(v T) bool {
			i := route.Pick(v, n)
			if i < 0 || i >= n {
				noPartition(of, i, n)
			}
			return i == subtask
		}
	default:
		invariant.Broken("partitioner %s sends a record to any subtask", e.Partitioner.Ship())
	}
	return func(b batch.Batch) { keep(b.(*batch.Rows[T]), mine) }
}

// keep leaves in a batch the records that are wanted, in their order.
func keep[T any](b *batch.Rows[T], wanted func(v T) bool) {
	n := 0
	for i, v := range b.Vals {
		if !wanted(v) {
			continue
		}
		b.Vals[n] = v
		if len(b.TS) > 0 {
			b.TS[n] = b.TS[i]
		}
		if len(b.Kind) > 0 {
			b.Kind[n] = b.Kind[i]
		}
		n++
	}
	clear(b.Vals[n:])
	b.Vals, b.TS, b.Kind = b.Vals[:n], b.TS[:min(n, len(b.TS))], b.Kind[:min(n, len(b.Kind))]
}
