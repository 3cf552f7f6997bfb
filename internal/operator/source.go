package operator

import "github.com/weirstream/weir/batch"

// pollFunc makes a function a Source.
type pollFunc func() Progress

func (f pollFunc) Poll() Progress { return f() }

// Slice makes the source of the given records, in order, in one subtask.
func Slice[T any](vals []T) SourceFactory {
	return SourceFunc(func(c *Context, out any) Source {
		push, next := Output[T](out).Push, 0
		if c.Subtask > 0 {
			next = len(vals)
		}
		return pollFunc(func() Progress {
			end := min(next+batch.MaxRows, len(vals))
			for _, v := range vals[next:end] {
				push(v, batch.NoTimestamp)
			}
			c.CountIn(end - next)
			if next = end; next == len(vals) {
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
		push := Output[int64](out).Push
		next, end := share(first, last, c.Subtask, c.Parallelism)
		return pollFunc(func() Progress {
			stop := min(next+batch.MaxRows, end)
			for v := next; v < stop; v++ {
				push(v, batch.NoTimestamp)
			}
			c.CountIn(int(stop - next))
			if next = stop; next >= end {
				return Done
			}
			return More
		})
	})
}

// share cuts [first, last] into parts as equal as can be; it gives the i-th as
// [from, to).
func share(first, last int64, i, parts int) (from, to int64) {
	if last < first {
		return first, first
	}
	size, rest := (last-first+1)/int64(parts), (last-first+1)%int64(parts)
	from = first + int64(i)*size + min(int64(i), rest)
	to = from + size
	if int64(i) < rest {
		to++
	}
	return from, to
}
