package exec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// emitter is where an operator's batches go. A batch belongs to the operator again
// when emit returns; one without rows is not passed on.
type emitter func(b *batch.Columns)

// stage is one operator in one subtask.
type stage struct {
	// push takes a batch, which belongs to the caller.
	push func(b *batch.Columns)
	// finish is called when all batches have come; nil: there is nothing left.
	finish func()
}

// transform makes the factory of an operator with one input. Errors are aborts.
func transform(open func(c *operator.Context, emit emitter) stage) operator.Factory {
	return operator.FactoryFunc(func(c *operator.Context, out any) any {
		o := operator.Output[*batch.Columns](out)
		return receiver(open(c, emitTo(c, o)), o)
	})
}

// emitTo counts what an operator emits.
func emitTo(c *operator.Context, o *operator.Receiver[*batch.Columns]) emitter {
	emitted, signal := c.Emitted(), c.Signal
	return func(b *batch.Columns) {
		n := b.Len()
		if n == 0 {
			return
		}
		signal.Attend()
		*emitted += int64(n)
		o.Push(b, batch.NoTimestamp)
	}
}

// receiver is a stage that is given all there is.
func receiver(s stage, o *operator.Receiver[*batch.Columns]) *operator.Receiver[*batch.Columns] {
	return &operator.Receiver[*batch.Columns]{
		Push:      func(b *batch.Columns, _ int64) { s.push(b) },
		Watermark: o.Watermark,
		Idle:      o.Idle,
		Finish: func() {
			if s.finish != nil {
				s.finish()
			}
			o.Finish()
		},
	}
}

// managing marks a factory as one whose operators use managed memory.
type managing struct{ operator.Factory }

// Managing does nothing.
func (managing) Managing() {}

// budget is how many bytes an operator may use.
func budget(c *operator.Context) int {
	if c.ManagedBytes > 0 {
		return max(operator.LeastManaged, int(c.ManagedBytes))
	}
	return 64 << 20
}

// evaluation is a program with what its errors need.
type evaluation struct {
	program   *expr.Program
	statement string
}

// compile makes the program of expressions for one subtask.
func (e *environment) compile(exprs ...expr.Expr) *evaluation {
	p, err := expr.Compile(e.session, exprs...)
	operator.Check(err)
	return &evaluation{p, e.statement}
}

// eval evaluates over b. The results hold until the next eval.
func (v *evaluation) eval(b *batch.Columns) []*batch.Column {
	cols, err := v.program.Eval(b)
	if err != nil {
		abortAt(b, v.located(err))
	}
	return cols
}

// abortAt aborts with an error that may be at a row of b.
func abortAt(b *batch.Columns, err error) {
	if failed, ok := errors.AsType[*expr.RowError](err); ok && b.Origin != 0 {
		err = &OriginError{Origin: b.Origin, Row: failed.Row, Err: err}
	}
	operator.Abort(err)
}

// OriginError is a failure at a row of a batch as its source made it.
type OriginError struct {
	// Origin is the batch's number, and Row the place among its rows.
	Origin int64
	Row    int
	Err    error
}

func (e *OriginError) Error() string { return e.Err.Error() }

// Unwrap gives the failure.
func (e *OriginError) Unwrap() error { return e.Err }

// located says where in the statement the expression stands that has failed.
func (v *evaluation) located(err error) error {
	failed, ok := errors.AsType[*expr.RowError](err)
	if !ok || failed.At.End == 0 || failed.At.Start > len(v.statement) {
		return err
	}
	line, column := 1, 1
	for _, r := range v.statement[:failed.At.Start] {
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return fmt.Errorf("line %d, column %d: %s: %w", line, column, failed.At.Text(v.statement), err)
}

// isTrue gives the rows of b that count and in which c is TRUE.
func isTrue(dst []int32, b *batch.Columns, c *batch.Column) []int32 {
	switch {
	case c.Layout == batch.Nothing:
	case b.Sel == nil && c.Valid == nil:
		from := len(dst)
		dst = slices.Grow(dst, b.N)[:from+b.N]
		n := from
		for i, v := range c.Bool[:b.N] {
			dst[n] = int32(i) // counts if the row does, and no branch depends on it
			if v {
				n++
			}
		}
		dst = dst[:n]
	case b.Sel == nil:
		for i, v := range c.Bool[:b.N] {
			if v && c.Valid.Get(i) {
				dst = append(dst, int32(i))
			}
		}
	default:
		for _, i := range b.Sel {
			if c.Bool[i] && !c.IsNull(int(i)) {
				dst = append(dst, i)
			}
		}
	}
	if dst == nil {
		dst = []int32{}
	}
	return dst
}

// newBatch makes an empty batch with columns of these types.
func newBatch(schema []types.Type) *batch.Columns {
	return &batch.Columns{Cols: shape(schema)}
}

// shape are empty columns of these types.
func shape(schema []types.Type) []*batch.Column {
	all := make([]*batch.Column, len(schema))
	for i, t := range schema {
		all[i] = batch.NewColumn(t)
	}
	return all
}

// clearBatch makes a batch of one's own empty.
func clearBatch(b *batch.Columns) {
	for _, c := range b.Cols {
		c.Reset(0)
	}
	b.N, b.TS, b.Kind = 0, b.TS[:0], b.Kind[:0]
}

// addRows adds rows of b to a batch of one's own; nil: those that count.
func addRows(to, b *batch.Columns, rows []int32) {
	if rows == nil {
		rows = b.Sel
	}
	for i, c := range to.Cols {
		c.AppendRows(b.Cols[i], rows)
	}
	if rows == nil {
		to.N += b.N
	} else {
		to.N += len(rows)
	}
}
