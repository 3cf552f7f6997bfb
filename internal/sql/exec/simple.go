package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// values makes the source of rows that the plan holds, in the first subtask.
func values(n *plan.Values) operator.SourceFactory {
	return operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		push, next := operator.Output[*batch.Columns](out).Push, 0
		if c.Subtask > 0 {
			next = len(n.Rows)
		}
		return pollFunc(func() operator.Progress {
			if next == len(n.Rows) {
				return operator.Done
			}
			c.CountIn(n.Rows[next].Len())
			push(n.Rows[next], batch.NoTimestamp)
			next++
			return operator.More
		})
	})
}

type pollFunc func() operator.Progress

func (f pollFunc) Poll() operator.Progress { return f() }

// calc makes the operator that filters and projects.
func (e *environment) calc(n *plan.Calc) operator.Factory {
	return transform(func(_ *operator.Context, emit emitter) stage {
		var filter, project *evaluation
		if n.Filter != nil {
			filter = e.compile(n.Filter)
		}
		if n.Project != nil {
			project = e.compile(n.Project...)
		}
		var sel []int32
		return stage{push: func(b *batch.Columns) {
			out := *b
			if filter != nil {
				sel = isTrue(sel[:0], b, filter.eval(b)[0])
				if out.Sel = sel; len(sel) == b.N {
					out.Sel = nil
				}
				if len(sel) == 0 {
					return
				}
			}
			if project != nil {
				out.Cols = project.eval(&out)
			}
			emit(&out)
		}}
	})
}

// union makes the operator that passes on what it gets.
func union() operator.Factory {
	return transform(func(_ *operator.Context, emit emitter) stage { return stage{push: emit} })
}

// expand makes the operator that gives each row once for each projection.
func (e *environment) expand(n *plan.Expand) operator.Factory {
	return transform(func(_ *operator.Context, emit emitter) stage {
		var all []*evaluation
		for _, p := range n.Projects {
			all = append(all, e.compile(p...))
		}
		return stage{push: func(b *batch.Columns) {
			for _, p := range all {
				out := *b
				out.Cols = p.eval(b)
				emit(&out)
			}
		}}
	})
}

// limit makes the operator that gives some rows of those that come.
func limit(n *plan.Limit) operator.Factory {
	return transform(func(_ *operator.Context, emit emitter) stage {
		wanted := bounds{n.Offset, n.Fetch}
		return stage{push: func(b *batch.Columns) {
			if b = wanted.take(b); b != nil {
				emit(b)
			}
		}}
	})
}

// bounds are which rows of those that come are wanted still: how many are skipped, and
// how many are given; below 0: all.
type bounds struct{ skip, left int64 }

// take gives the rows of a batch that are wanted; nil: none.
func (w *bounds) take(b *batch.Columns) *batch.Columns {
	rows := int64(b.Len())
	first := min(w.skip, rows)
	w.skip -= first
	last := rows
	if w.left >= 0 {
		last = min(rows, first+w.left)
		w.left -= last - first
	}
	if first == last {
		return nil
	}
	return part(b, int(first), int(last))
}

// part is the rows from first to before last of those that count.
func part(b *batch.Columns, first, last int) *batch.Columns {
	if first == 0 && last == b.Len() {
		return b
	}
	out := *b
	if b.Sel != nil {
		out.Sel = b.Sel[first:last]
		return &out
	}
	out.Sel = make([]int32, 0, last-first)
	for i := first; i < last; i++ {
		out.Sel = append(out.Sel, int32(i))
	}
	return &out
}

// sort makes the operator that gives rows in order, all or some of the first.
func (e *environment) sort(in []types.Type, keys []plan.SortKey, offset, fetch int64) operator.Factory {
	return managing{transform(func(c *operator.Context, emit emitter) stage {
		most := int64(-1)
		if fetch >= 0 {
			most = offset + fetch
		}
		s := newSorter(newDisk(c), in, keys, most, budget(c))
		return stage{push: s.add, finish: func() {
			wanted := bounds{offset, fetch}
			rows := s.finish()
			for b := rows.next(); b != nil; b = rows.next() {
				if b = wanted.take(b); b != nil {
					emit(b)
				}
			}
		}}
	})}
}
