package operator

import (
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec/columns"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/types"
)

// ColumnStream is the Stream of rows held by columns. Its operators are those of
// Receiver[*batch.Columns], whose Push is called once a batch: of up to batch.MaxRows
// rows at exchanges, and as many as an operator likes between operators. The time
// that comes with a Push has no meaning; that of rows is in the batch.
//
// A batch that is pushed is its pusher's again when Push returns: who keeps rows for
// longer copies them.
type ColumnStream struct {
	StreamOf[*batch.Columns]
	schema []types.Type
	shape  []*batch.Column
}

// NewColumnStream makes the stream of rows with columns of these types.
func NewColumnStream(schema []types.Type) *ColumnStream {
	return &ColumnStream{schema: schema, shape: shapeOf(schema)}
}

func shapeOf(schema []types.Type) []*batch.Column {
	shape := make([]*batch.Column, len(schema))
	for i, t := range schema {
		shape[i] = batch.NewColumn(t)
	}
	return shape
}

// ColumnKeys are the columns whose hash says where a row goes: the Route of a Hash
// edge between columns.
type ColumnKeys []int

// Err is nil: all columns can be encoded.
func (s *ColumnStream) Err() error { return nil }

// Type names the columns' types.
func (s *ColumnStream) Type() string {
	text := "columns("
	for i, t := range s.schema {
		if i > 0 {
			text += ", "
		}
		text += t.String()
	}
	return text + ")"
}

// Head gives the functions that feed in.
func (s *ColumnStream) Head(in any, signal *Signal) Head {
	r := Output[*batch.Columns](in)
	return Head{
		Batch: func(b batch.Batch) {
			signal.Attend()
			r.Push(b.(*batch.Columns), batch.NoTimestamp)
		},
		Watermark: r.Watermark,
		Idle:      r.Idle,
		Finish:    r.Finish,
	}
}

// Serializer makes a serializer for one edge end.
func (s *ColumnStream) Serializer() shuffle.Serializer { return columnSerializer{s.shape} }

type columnSerializer struct{ shape []*batch.Column }

func (s columnSerializer) Append(dst []byte, b batch.Batch) ([]byte, error) {
	return columns.Append(dst, b.(*batch.Columns)), nil
}

func (s columnSerializer) Decode(src []byte) (batch.Batch, error) {
	return columns.Decode(src, s.shape)
}

// columnTail gathers rows into one open batch a subpartition and hands over those
// that are full, or all when asked to flush.
type columnTail struct {
	c      *Context
	w      shuffle.Writer
	shape  []*batch.Column
	open   []*batch.Columns
	rows   int // a batch may hold now
	hashes []uint64
	picked [][]int32 // rows of a batch by subpartition
	next   int
	// blocking says that Emit encodes a batch before it returns.
	blocking bool
}

// Tail makes the receiver that partitions rows over w's subpartitions.
func (s *ColumnStream) Tail(c *Context, e TailEdge, w shuffle.Writer) any {
	t := &columnTail{c: c, w: w, shape: s.shape, open: make([]*batch.Columns, w.Subpartitions()), rows: w.Rows()}
	t.picked = make([][]int32, len(t.open))
	t.next = c.Subtask % len(t.open)
	cut := t.flush
	if _, t.blocking = w.(shuffle.BlockingWriter); t.blocking {
		cut = func() {} // nobody waits for the rows, and only the last watermark counts
	} else {
		c.OnFlush(t.flush)
	}
	push := t.push(e)
	return &Receiver[*batch.Columns]{
		Push: func(b *batch.Columns, _ int64) { push(b) },
		Watermark: func(at int64) {
			cut()
			Check(w.Control(element.Element{Kind: element.Watermark, Time: at}))
		},
		Idle: func(idle bool) {
			cut()
			Check(w.Control(element.Element{Kind: element.Status, Idle: idle}))
		},
		Finish: func() {
			t.flush()
			Check(w.Control(element.Element{Kind: element.EndOfData}))
		},
	}
}

// push makes the function that takes a batch.
func (t *columnTail) push(e TailEdge) func(*batch.Columns) {
	n := len(t.open)
	if n == 1 {
		return func(b *batch.Columns) { t.all(0, b) }
	}
	switch e.Partitioner {
	case streamgraph.Forward, streamgraph.Rebalance, streamgraph.Rescale, streamgraph.Shuffle:
		return t.deal
	case streamgraph.Broadcast:
		return func(b *batch.Columns) {
			for sub := range t.open {
				t.all(sub, b)
			}
		}
	case streamgraph.Global:
		return func(b *batch.Columns) { t.all(0, b) }
	case streamgraph.Hash:
		return t.hashed(e.Route.(ColumnKeys), e.MaxParallelism)
	}
	invariant.Broken("no tail of columns for partitioner %s", e.Partitioner.Ship())
	return nil
}

// all gives all rows to one subpartition: as they are if they make a good batch and none
// wait there.
func (t *columnTail) all(sub int, b *batch.Columns) {
	n := b.Len()
	if n == 0 {
		return
	}
	if !t.blocking || n < t.rows/2 || n > 2*t.rows || t.open[sub] != nil && t.open[sub].N > 0 {
		t.add(sub, b, b.Sel)
		return
	}
	t.c.CountOut(n)
	whole := *b
	Check(t.w.Emit(sub, &whole))
	t.rows = t.w.Rows()
}

// deal gives rows to the subpartitions in turn.
func (t *columnTail) deal(b *batch.Columns) {
	for k := range b.Len() {
		t.pick(t.next, b, k)
		if t.next++; t.next == len(t.open) {
			t.next = 0
		}
	}
	t.addPicked(b)
}

// hashed sends each row to the subtask that owns its key group.
func (t *columnTail) hashed(keys ColumnKeys, groups int) func(*batch.Columns) {
	subtask := make([]uint16, groups)
	for g := range subtask {
		subtask[g] = uint16(keygroup.Subtask(g, len(t.open), groups))
	}
	return func(b *batch.Columns) {
		t.hashes = columns.Hash(t.hashes[:0], b, keys)
		for k, h := range t.hashes {
			t.pick(int(subtask[keygroup.Group(h, groups)]), b, k)
		}
		t.addPicked(b)
	}
}

// pick notes that the k-th row that counts goes to a subpartition.
func (t *columnTail) pick(sub int, b *batch.Columns, k int) {
	row := int32(k)
	if b.Sel != nil {
		row = b.Sel[k]
	}
	t.picked[sub] = append(t.picked[sub], row)
}

func (t *columnTail) addPicked(b *batch.Columns) {
	for sub, rows := range t.picked {
		if len(rows) > 0 {
			t.add(sub, b, rows)
			t.picked[sub] = rows[:0]
		}
	}
}

// add adds rows of b, nil for all, to the open batch of a subpartition.
func (t *columnTail) add(sub int, b *batch.Columns, rows []int32) {
	if rows == nil && b.N > t.rows {
		rows = make([]int32, b.N)
		for i := range rows {
			rows[i] = int32(i)
		}
	}
	for rows == nil || len(rows) > 0 {
		if t.open[sub] == nil {
			t.open[sub] = newColumns(t.shape)
		}
		open := t.open[sub]
		some := rows
		if n := max(1, t.rows-open.N); rows != nil && len(rows) > n {
			some = rows[:n]
		}
		appendRows(open, b, some)
		if open.N >= t.rows {
			t.emit(sub)
		}
		if rows == nil {
			return
		}
		rows = rows[len(some):]
	}
}

// newColumns makes an empty batch with columns as those of shape.
func newColumns(shape []*batch.Column) *batch.Columns {
	b := &batch.Columns{Cols: make([]*batch.Column, len(shape))}
	for i, c := range shape {
		b.Cols[i] = c.Empty()
	}
	return b
}

// appendRows adds rows of b, nil for all, to a batch that is open.
func appendRows(open, b *batch.Columns, rows []int32) {
	n := len(rows)
	if rows == nil {
		n = b.N
	}
	for i, c := range open.Cols {
		c.AppendRows(b.Cols[i], rows)
	}
	open.TS = appendSide(open.TS, b.TS, open.N, n, rows, batch.NoTimestamp)
	open.Kind = appendSide(open.Kind, b.Kind, open.N, n, rows, batch.Insert)
	open.N += n
}

// appendSide keeps what rows have beside their columns as long as these, where either
// batch has it: had rows were there, and n come.
func appendSide[T any](dst, src []T, had, n int, rows []int32, none T) []T {
	if len(dst) == 0 && len(src) == 0 || n == 0 {
		return dst
	}
	for len(dst) < had {
		dst = append(dst, none)
	}
	switch {
	case len(src) == 0:
		return append(dst, slices.Repeat([]T{none}, n)...)
	case rows == nil:
		return append(dst, src[:n]...)
	}
	for _, i := range rows {
		dst = append(dst, src[i])
	}
	return dst
}

// emit hands the open batch of sub over.
func (t *columnTail) emit(sub int) {
	b := t.open[sub]
	t.open[sub] = nil
	t.c.CountOut(b.N)
	Check(t.w.Emit(sub, b))
	t.rows = t.w.Rows()
}

// flush hands over every open batch that holds a row.
func (t *columnTail) flush() {
	for sub, b := range t.open {
		if b != nil && b.N > 0 {
			t.emit(sub)
		}
	}
}
