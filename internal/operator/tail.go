package operator

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/streamgraph"
)

// Router says where a record goes, made for the record's type by whoever keyed
// or partitioned the stream.
type Router[T any] struct {
	// Hash makes, for each tail, the function that gives the hash of a record's
	// key, for Hash.
	Hash func() func(v T) uint64
	// Pick gives the subtask out of n, for Custom.
	Pick func(v T, n int) int
}

// tail collects records into one open batch a subpartition and hands over those
// that are full, or all when asked to flush.
type tail[T any] struct {
	w    shuffle.Writer
	pool *batch.Pool[T]
	open []*batch.Rows[T]
	rows int // records a batch may hold now
	c    *Context
}

// A blocking partition may have a hundred subpartitions, of which many get little:
// their batches begin with room for firstRows records and grow to what the writer
// wants. They come back as soon as they are emitted, so few are spare.
const (
	firstRows    = 64
	spareBatches = 4
)

// Tail makes the receiver that partitions records over w's subpartitions.
func (s *StreamOf[T]) Tail(c *Context, e TailEdge, w shuffle.Writer) any {
	_, blocking := w.(shuffle.BlockingWriter)
	pool := s.pool
	if blocking {
		pool = s.newPool(spareBatches, max(1, min(firstRows, w.Rows())))
	}
	t := &tail[T]{w: w, pool: pool, open: make([]*batch.Rows[T], w.Subpartitions()), rows: w.Rows(), c: c}
	for i := range t.open {
		t.open[i] = t.pool.Get()
	}
	h := control(c, w, t.flush, blocking)
	return &Receiver[T]{Push: t.push(e), Watermark: h.Watermark, Idle: h.Idle, Finish: h.Finish}
}

// control makes what a tail does with all but records.
//
//go:noinline
func control(c *Context, w shuffle.Writer, flush func(), blocking bool) Head {
	cut := flush
	if blocking {
		cut = nothing // nobody waits for the records, and only the last watermark counts
	} else {
		c.OnFlush(flush)
	}
	return Head{
		Watermark: func(at int64) {
			cut()
			Check(w.Control(element.Element{Kind: element.Watermark, Time: at}))
		},
		Idle: func(idle bool) {
			cut()
			Check(w.Control(element.Element{Kind: element.Status, Idle: idle}))
		},
		Finish: func() {
			flush()
			Check(w.Control(element.Element{Kind: element.EndOfData}))
		},
	}
}

// push makes the function that takes one record.
func (t *tail[T]) push(e TailEdge) func(T, int64) {
	n := len(t.open)
	if n == 1 && e.Partitioner != streamgraph.Custom {
		return func(v T, ts int64) { t.add(0, v, ts) }
	}
	switch e.Partitioner {
	case streamgraph.Forward, streamgraph.Rebalance, streamgraph.Rescale:
		next := t.c.Subtask % n // neighbours start at different consumers
		return func(v T, ts int64) {
			t.add(next, v, ts)
			if next++; next == n {
				next = 0
			}
		}
	case streamgraph.Shuffle:
		state := keygroup.HashInt(uint64(t.c.Subtask) + 1)
		return func(v T, ts int64) {
			state++
			t.add(int(keygroup.HashInt(state)%uint64(n)), v, ts)
		}
	case streamgraph.Broadcast:
		return func(v T, ts int64) {
			for i := range t.open {
				t.add(i, v, ts)
			}
		}
	case streamgraph.Global:
		return func(v T, ts int64) { t.add(0, v, ts) }
	case streamgraph.Hash:
		return t.pushHashed(e)
	case streamgraph.Custom:
		return t.pushCustom(e)
	}
	invariant.Broken("no tail for partitioner %s", e.Partitioner.Ship())
	return nil
}

// pushHashed sends each record to the subtask that owns its key group.
func (t *tail[T]) pushHashed(e TailEdge) func(T, int64) {
	hash, groups := e.Route.(*Router[T]).Hash(), e.MaxParallelism
	subtask := make([]uint16, groups)
	for g := range subtask {
		subtask[g] = uint16(keygroup.Subtask(g, len(t.open), groups))
	}
	return func(v T, ts int64) {
		t.add(int(subtask[keygroup.Group(hash(v), groups)]), v, ts)
	}
}

// pushCustom sends each record where the user's partitioner says.
func (t *tail[T]) pushCustom(e TailEdge) func(T, int64) {
	pick, n := e.Route.(*Router[T]).Pick, len(t.open)
	return func(v T, ts int64) {
		i := pick(v, n)
		if i < 0 || i >= n {
			noPartition(t.c.Operator, i, n)
		}
		t.add(i, v, ts)
	}
}

// noPartition fails the task because the partitioner of an operator chose one that is not there.
//
//go:noinline
func noPartition(of string, i, n int) {
	Abort(fmt.Errorf("custom partitioner of %s chose partition %d, there are %d (0 to %d)", of, i, n, n-1))
}

func (t *tail[T]) add(sub int, v T, ts int64) {
	b := t.open[sub]
	if ts != batch.NoTimestamp || len(b.TS) > 0 {
		b.Append(v, ts)
	} else {
		b.Vals = append(b.Vals, v)
	}
	if len(b.Vals) >= t.rows {
		t.emit(sub)
	}
}

// emit hands the open batch of sub over and opens another.
func (t *tail[T]) emit(sub int) {
	b := t.open[sub]
	t.c.CountOut(len(b.Vals))
	t.open[sub] = t.pool.Get()
	if err := t.w.Emit(sub, b); err != nil {
		Abort(err)
	}
	t.rows = t.w.Rows()
}

// flush hands over every open batch that holds a record. A control element is
// written after it, so that it stands behind all records before it.
func (t *tail[T]) flush() {
	for sub, b := range t.open {
		if len(b.Vals) > 0 {
			t.emit(sub)
		}
	}
}
