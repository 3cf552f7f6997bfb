package operator

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
)

// pollFunc makes a function a Source.
type pollFunc func() Progress

func (f pollFunc) Poll() Progress { return f() }

// Slice makes the source of the given records, in order, in one subtask.
func Slice[T any](vals []T) SourceFactory {
	return SourceFunc(func(c *Context, out any) Source {
		push, signal, next := Output[T](out).Push, c.Signal, 0
		if c.Subtask > 0 {
			next = len(vals)
		}
		keepRanges(c, func() []span { return spansOf(int64(next), int64(len(vals))-1) }, func(all []span) {
			if next = len(vals); len(all) > 0 {
				next = min(next, int(all[0].from))
			}
		})
		return pollFunc(func() Progress {
			end := min(next+batch.MaxRows, len(vals))
			c.CountIn(end - next)
			for next < end {
				block := vals[next:min(next+signal.Block(), end)]
				for _, v := range block {
					push(v, batch.NoTimestamp)
				}
				next += len(block)
			}
			if next == len(vals) {
				return Done
			}
			return More
		})
	})
}

// Sequence makes the source of the numbers from first to last, both included,
// each subtask emitting a contiguous share in order.
func Sequence(first, last int64) SourceFactory {
	return SourceFunc(func(c *Context, out any) Source {
		push, signal := Output[int64](out).Push, c.Signal
		var left []span
		if from, to, some := share(first, last, c.Subtask, c.Parallelism); some {
			left = []span{{from, to}}
		}
		keepRanges(c, func() []span { return slices.Clone(left) }, func(all []span) { left = all })
		return pollFunc(func() Progress {
			for range batch.MaxRows / maxBlock {
				if len(left) == 0 {
					return Done
				}
				next, end := left[0].from, left[0].to
				stop := end
				if size := signal.Block(); uint64(end)-uint64(next) >= uint64(size) {
					stop = next + int64(size) - 1
				}
				for v := next; v < stop; v++ {
					push(v, batch.NoTimestamp)
				}
				push(stop, batch.NoTimestamp)
				c.CountIn(int(stop-next) + 1)
				if stop == end {
					left = left[1:]
				} else {
					left[0].from = stop + 1
				}
			}
			return More
		})
	})
}

// span is numbers that a source has still to emit, both ends included.
type span struct{ from, to int64 }

func spansOf(from, to int64) []span {
	if from > to {
		return nil
	}
	return []span{{from, to}}
}

// keepRanges makes what a source has still to emit part of checkpoints.
func keepRanges(c *Context, save func() []span, load func([]span)) {
	c.Keep(c.OperatorID, Kept{Lists: []KeptList{{
		Name: "ranges", Schema: "int64,int64",
		Save: func() (all [][]byte) {
			for _, s := range save() {
				all = append(all, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(s.from)), uint64(s.to)))
			}
			return all
		},
		Load: func(elements [][]byte) error {
			var all []span
			for _, e := range elements {
				if len(e) != 16 {
					return fmt.Errorf("a range of a checkpoint has %d bytes, want 16", len(e))
				}
				all = append(all, span{int64(binary.LittleEndian.Uint64(e)), int64(binary.LittleEndian.Uint64(e[8:]))})
			}
			load(all)
			return nil
		},
	}}})
}

// share cuts [first, last] into parts as equal as can be and gives the i-th, both
// ends included; some is false if it is empty. Every step fits into 64 bits,
// though there may be 2^64 numbers.
func share(first, last int64, i, parts int) (from, to int64, some bool) {
	if last < first {
		return 0, 0, false
	}
	// There are size*parts+longer numbers: the first parts have one more.
	span := uint64(last) - uint64(first)
	size, longer := span/uint64(parts), span%uint64(parts)+1
	before := uint64(i)*size + min(uint64(i), longer)
	from = first + int64(before)
	to = from + int64(size)
	if uint64(i) >= longer {
		to--
	}
	return from, to, size > 0 || uint64(i) < longer
}
