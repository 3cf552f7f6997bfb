package expr

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// RowError is a failure at run time, in one row of the batch.
type RowError struct {
	// Row is the row in the batch.
	Row int
	// At is where the expression that failed stands in the statement.
	At  ast.Span
	Err error
}

// Error is the cause's text: whoever knows the row's origin adds it.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *RowError) Unwrap() error { return e.Err }

// AtRow is a failure of a kernel in a row.
func AtRow(row int, err error) error { return &RowError{Row: row, Err: err} }

// Program evaluates expressions over batches. It keeps the memory of its results for
// the next batch.
type Program struct {
	in      *batch.Columns
	root    scope
	results []*batch.Column
	numbers numbers
	// constants are the literals by their numbers, which all scopes share.
	constants map[int]*constant
}

// constant is a literal as a column whose values are all the same. It is never changed: a
// longer one takes its place.
type constant struct {
	wide *batch.Column
	// head is as much of it as the last batch had rows, and small are those of few rows,
	// which change from batch to batch.
	head  *batch.Column
	small []*batch.Column
}

// fewRows is below how many rows the heads of constants are kept.
const fewRows = 64

// scope is a set of nodes that are evaluated for the same rows, so that an expression
// that occurs twice is evaluated once.
type scope struct {
	generation int
	shared     map[int]*node
	roots      []*node
}

// node is the evaluation of one expression.
type node struct {
	program *Program
	scope   *scope
	expr    Expr
	args    []*node
	lazy    []*Arg
	kernel  Kernel
	branch  LazyKernel
	nulls   Nulls
	views   bool
	// number is that of a literal.
	number int
	// generation is that of the scope when result was made.
	generation int
	result     *batch.Column
	// out is the memory of results, nil if it was given away; columns and rows are
	// scratch.
	out     *batch.Column
	columns []*batch.Column
	rows    []int32
}

// Arg is an argument of a LazyKernel.
type Arg struct{ scope scope }

// Compile makes a program of expressions. Constant parts are folded.
func Compile(s *Session, exprs ...Expr) (*Program, error) {
	p := &Program{results: make([]*batch.Column, len(exprs))}
	p.root.shared = map[int]*node{}
	for _, e := range exprs {
		n, err := p.compile(s, &p.root, fold(e, s, PerQuery))
		if err != nil {
			return nil, err
		}
		p.root.roots = append(p.root.roots, n)
	}
	return p, nil
}

// compile makes the node of an expression, or finds that of an equal one.
func (p *Program) compile(s *Session, in *scope, e Expr) (*node, error) {
	key := p.numbers.of(e)
	if n, ok := in.shared[key]; ok {
		return n, nil
	}
	call, isCall := e.(*Call)
	if !isCall {
		n := &node{program: p, scope: in, expr: e, number: key}
		in.shared[key] = n
		return n, nil
	}
	n := &node{program: p, scope: in, expr: e, nulls: call.Fn.Nulls, views: call.Fn.Views, columns: make([]*batch.Column, len(call.Args))}
	b := bind(s, call)
	var err error
	if call.Fn.Lazy != nil {
		n.branch, err = call.Fn.Lazy(b)
	} else {
		invariant.Check(call.Fn.Kernel != nil, "function %s is evaluated by an operator of its own", call.Fn.Name)
		n.kernel, err = call.Fn.Kernel(b)
	}
	if err != nil {
		return nil, located(err, call.At)
	}
	for _, a := range call.Args {
		if err := p.argument(s, n, a); err != nil {
			return nil, err
		}
	}
	in.shared[key] = n
	return n, nil
}

// argument compiles one argument, of a lazy call in a scope of its own.
func (p *Program) argument(s *Session, n *node, a Expr) error {
	if n.branch == nil {
		arg, err := p.compile(s, n.scope, a)
		n.args = append(n.args, arg)
		return err
	}
	arg := &Arg{scope: scope{shared: map[int]*node{}}}
	root, err := p.compile(s, &arg.scope, a)
	arg.scope.roots = []*node{root}
	n.lazy = append(n.lazy, arg)
	return err
}

// bind says what the call's factory may know.
func bind(s *Session, c *Call) *Bound {
	b := &Bound{Fn: c.Fn, T: c.T, Session: s, At: c.At, Args: make([]types.Type, len(c.Args)), Constants: make([]*batch.Column, len(c.Args))}
	for i, a := range c.Args {
		b.Args[i] = a.Type()
		if l, ok := a.(*Literal); ok {
			b.Constants[i] = l.Value
		}
	}
	return b
}

// located gives a factory's refusal the place of the call.
func located(err error, at ast.Span) error {
	var refused *Error
	if errors.As(err, &refused) {
		return err
	}
	return &Error{At: at, Text: err.Error()}
}

// Eval evaluates the expressions for the rows of a batch that count. The results are
// columns of the batch's N rows, in which only those rows are defined; they hold until
// the next Eval, if they are not taken. The batch must not be changed meanwhile.
func (p *Program) Eval(in *batch.Columns) ([]*batch.Column, error) {
	p.in = in
	p.root.generation++
	for i, n := range p.root.roots {
		c, err := n.eval(Rows{N: in.N, Sel: in.Sel})
		if err != nil {
			return nil, err
		}
		if c == n.out && !n.views {
			c.ClearNulls()
		}
		p.results[i] = c
	}
	return p.results, nil
}

// Take gives the caller the result i of the last Eval: it is not overwritten by the
// next. The caller may share it, and does not change it.
func (p *Program) Take(i int) *batch.Column {
	p.root.roots[i].detach()
	return p.results[i]
}

// detach gives away the memory of the node's result.
func (n *node) detach() {
	n.out = nil
	if n.views {
		for _, a := range n.args {
			a.detach()
		}
	}
}

// Eval evaluates the argument for rows, of which there are as many as in the call.
// It holds until the next Eval of the argument.
func (a *Arg) Eval(rows Rows) (*batch.Column, error) {
	a.scope.generation++
	return a.scope.roots[0].eval(rows)
}

func (n *node) eval(rows Rows) (*batch.Column, error) {
	if n.generation == n.scope.generation {
		return n.result, nil
	}
	c, err := n.compute(rows)
	if err != nil {
		return nil, n.locate(err)
	}
	n.generation, n.result = n.scope.generation, c
	return c, nil
}

// locate gives an error the place of the innermost expression that failed.
func (n *node) locate(err error) error {
	var failed *RowError
	if errors.As(err, &failed) && failed.At == (ast.Span{}) {
		failed.At = n.expr.Span()
	}
	return err
}

func (n *node) compute(rows Rows) (*batch.Column, error) {
	switch e := n.expr.(type) {
	case *Input:
		return n.program.in.Cols[e.Index], nil
	case *Literal:
		return n.broadcast(e, rows.N), nil
	}
	if n.out == nil {
		n.out = batch.NewColumn(n.expr.Type())
	}
	if n.branch != nil {
		n.out.Reset(rows.N)
		return n.out, n.branch(n.out, n.lazy, rows)
	}
	for i, a := range n.args {
		c, err := a.eval(rows)
		if err != nil {
			return nil, err
		}
		n.columns[i] = c
	}
	if n.views {
		*n.out = batch.Column{Layout: n.out.Layout, Len: rows.N}
	} else {
		n.out.Reset(rows.N)
	}
	if n.nulls != Own && intersect(n.out, n.columns) && n.nulls == Strict {
		rows = n.present(rows)
	}
	if err := n.kernel(n.out, n.columns, rows); err != nil {
		return nil, err
	}
	return n.out, nil
}

// broadcast gives a column of n values that are all the literal's.
func (n *node) broadcast(l *Literal, count int) *batch.Column {
	p := n.program
	c := p.constants[n.number]
	if c == nil {
		if p.constants == nil {
			p.constants = map[int]*constant{}
		}
		c = &constant{wide: batch.NewColumn(l.T)}
		p.constants[n.number] = c
	}
	if have := c.wide.Len; have < count {
		wide := batch.NewColumn(l.T)
		for range max(count, min(2*have, batch.MaxRows)) {
			wide.AppendFrom(l.Value, 0)
		}
		c.wide, c.head = wide, nil
	}
	if count < fewRows {
		if c.small == nil {
			c.small = make([]*batch.Column, fewRows)
		}
		if c.small[count] == nil {
			c.small[count] = c.wide.Head(count)
		}
		return c.small[count]
	}
	if c.head == nil || c.head.Len != count {
		c.head = c.wide.Head(count)
	}
	return c.head
}

// intersect makes the values of out NULL where one of the columns is, and reports
// whether there are any such.
func intersect(out *batch.Column, columns []*batch.Column) bool {
	found := false
	for _, c := range columns {
		switch {
		case c.Layout == batch.Nothing:
			out.AllNull()
			return true
		case c.Valid == nil:
		case !found:
			out.OwnValid(c.Valid)
			found = true
		default:
			for w := range out.Valid {
				out.Valid[w] &= c.Valid[w]
			}
		}
	}
	return found
}

// present are the rows whose value in out is not NULL.
func (n *node) present(rows Rows) Rows {
	sel := n.rows[:0]
	if rows.Sel == nil {
		for i := range rows.N {
			if n.out.Valid.Get(i) {
				sel = append(sel, int32(i))
			}
		}
	} else {
		for _, i := range rows.Sel {
			if n.out.Valid.Get(int(i)) {
				sel = append(sel, i)
			}
		}
	}
	if sel == nil {
		sel = []int32{} // nil would be all rows
	}
	n.rows = sel
	return Rows{N: rows.N, Sel: sel}
}
