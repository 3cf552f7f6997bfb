package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// values are rows that the plan holds, a batch after another: a source with one subtask.
type values []*batch.Columns

// Bounded is true: they have an end.
func (v values) Bounded() bool { return true }

// Open makes the reader.
func (v values) Open(c connector.SourceContext, out connector.Output[*batch.Columns]) (connector.Reader, error) {
	r := &valuesReader{rows: v, out: out}
	if c.Restored || c.Subtask > 0 {
		r.next = len(v)
	}
	return r, nil
}

type valuesReader struct {
	rows []*batch.Columns
	next int
	out  connector.Output[*batch.Columns]
}

// Poll gives a batch.
func (r *valuesReader) Poll() (connector.Progress, error) {
	if r.next == len(r.rows) {
		return connector.Done, nil
	}
	r.out.Room()
	b := r.rows[r.next]
	r.next++
	r.out.Count(b.Len())
	r.out.Emit(b, batch.NoTimestamp)
	return connector.More, nil
}

// Add goes on where a checkpoint was.
func (r *valuesReader) Add(split []byte) error {
	next, n := binary.Uvarint(split)
	if n != len(split) || next > uint64(len(r.rows)) {
		return fmt.Errorf("the position % x of a checkpoint is not within %d batches of rows", split, len(r.rows))
	}
	r.next = int(next)
	return nil
}

// NoMore is never called: there is no coordinator.
func (r *valuesReader) NoMore() error { return nil }

// Splits is where it is.
func (r *valuesReader) Splits() ([][]byte, error) {
	if r.next == len(r.rows) {
		return nil, nil
	}
	return [][]byte{binary.AppendUvarint(nil, uint64(r.next))}, nil
}

// Close does nothing.
func (r *valuesReader) Close() error { return nil }

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
	return transform(func(c *operator.Context, emit emitter) stage {
		wanted := bounds{n.Offset, n.Fetch}
		c.Keep(c.OperatorID, operator.Kept{Lists: []operator.KeptList{wanted.kept()}})
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

// kept are the bounds as a checkpoint has them. At another parallelism than one subtask's
// they are those of the beginning: then another limit follows, which has its own.
func (w *bounds) kept() operator.KeptList {
	return operator.KeptList{
		Name: "rows that are wanted", Schema: "skip, left",
		Save: func() [][]byte { return [][]byte{binary.AppendVarint(binary.AppendVarint(nil, w.skip), w.left)} },
		Load: func(elements [][]byte) error {
			if len(elements) != 1 {
				return nil
			}
			skip, n := binary.Varint(elements[0])
			left, m := binary.Varint(elements[0][max(n, 0):])
			if n <= 0 || m <= 0 || n+m != len(elements[0]) {
				return fmt.Errorf("% x are no bounds", elements[0])
			}
			w.skip, w.left = skip, left
			return nil
		},
	}
}

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
