package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// Function is an entry of the registry: a function, an operator or a special form.
//
// Invariant: one of Kernel and Lazy is set, but for functions that are evaluated by
// an operator of their own (aggregates, window and table functions), which have neither.
type Function struct {
	// Name is the canonical one, in upper case; operators have their sign.
	Name    string
	Aliases []string
	// Form is how calls are written.
	Form Form
	// Category, Usage and Doc are the documentation: a word, the signatures, a sentence.
	Category, Usage, Doc string
	// Infer gives the type of a call's result, having put the arguments right: it may
	// replace those of s.Args, or refuse with s.Refuse.
	Infer func(s *Site) (types.Type, error)
	// Nulls says what is done about NULL arguments before the kernel is called.
	Nulls Nulls
	// Volatility says how long a result holds for the same arguments.
	Volatility Volatility
	// Typed says that the type of the result is chosen by the call, as CAST's is.
	Typed bool
	// Views says that the kernel's result may share memory with its arguments.
	Views bool
	// Kernel makes the code for one call. It is called once per call and program: what
	// it makes may keep scratch memory, and is used by one goroutine.
	Kernel func(b *Bound) (Kernel, error)
	// Lazy makes the code for one call that evaluates its arguments itself.
	Lazy func(b *Bound) (LazyKernel, error)
	// Aggregate computes an aggregate function that is not built in.
	Aggregate *Aggregate
	// Generate makes the code for one call of a function that gives the rows of a table.
	// The type of such a call is an ARRAY of them.
	Generate func(b *Bound) (Generator, error)
}

// Form is how a call of a function is written.
type Form uint8

// The forms of calls.
const (
	// Plain is NAME(a, b).
	Plain Form = iota
	// Operator is written with a sign or a word before, between or after operands.
	Operator
	// Special has a syntax of its own in parentheses, such as EXTRACT(unit FROM x).
	Special
	// Niladic may be written without parentheses.
	Niladic
)

// Nulls is what is done about NULL arguments.
type Nulls uint8

// The treatments of NULL.
const (
	// Strict: a NULL argument makes the result NULL, and the kernel is called for the
	// other rows only.
	Strict Nulls = iota
	// Total is Strict for a kernel that is cheap, defined for all values and never fails:
	// it is called for all rows, and its results for NULL arguments are not looked at.
	Total
	// Own: the kernel looks at the arguments' validity itself. The result is not NULL
	// where the kernel does not say so.
	Own
)

// Volatility is how long a result holds for the same arguments.
type Volatility uint8

// The volatilities.
const (
	// Stable results hold for ever within one session: they are folded.
	Stable Volatility = iota
	// PerQuery results hold within one query.
	PerQuery
	// PerRow results differ from call to call.
	PerRow
)

// Rows are those of a batch that a kernel is to compute.
type Rows struct {
	// N is how many rows the columns have.
	N int
	// Sel are the rows to compute, ascending; nil: all.
	Sel []int32
}

// Len is how many rows are to be computed.
func (r Rows) Len() int {
	if r.Sel != nil {
		return len(r.Sel)
	}
	return r.N
}

// At is the row at a place of those to be computed.
func (r Rows) At(k int) int {
	if r.Sel != nil {
		return int(r.Sel[k])
	}
	return k
}

// Each calls f with each row in ascending order until it fails.
func (r Rows) Each(f func(i int) error) error {
	if r.Sel == nil {
		for i := range r.N {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range r.Sel {
		if err := f(int(i)); err != nil {
			return err
		}
	}
	return nil
}

// Kernel computes the rows of out from the arguments' columns, which all have rows.N
// values. out has been Reset to rows.N values, none of them NULL (but for those that
// Strict and Total have found). The kernel writes the selected rows of fixed-size
// values in place; texts and collections it appends in order, with a Writer. NULL
// is out.SetNull(i). It does not change or keep the arguments.
type Kernel func(out *batch.Column, args []*batch.Column, rows Rows) error

// LazyKernel is a Kernel that evaluates its arguments itself, for the rows it wants:
// args[k].Eval(rows). out is as for Kernel.
type LazyKernel func(out *batch.Column, args []*Arg, rows Rows) error

// Generator takes the arguments of a batch. What it gives appends to out, the columns of a
// table, the rows for row i of the arguments; after each it calls added, which may empty
// out.
type Generator func(args []*batch.Column) func(out []*batch.Column, i int, added func()) error

// Bind says what a factory of kernels may know of a call.
func Bind(s *Session, c *Call) *Bound { return bind(s, c) }

// Bound is what a factory of kernels knows of the call.
type Bound struct {
	// Fn is the function called.
	Fn *Function
	// Args are the arguments' types, and T the result's.
	Args []types.Type
	T    types.Type
	// Constants are the arguments that are constant, each a column with one row; nil
	// for the others.
	Constants []*batch.Column
	Session   *Session
	At        ast.Span
}

// ConstantText is the text of a constant argument that is not NULL.
func (b *Bound) ConstantText(arg int) (text string, ok bool) {
	if arg >= len(b.Constants) || b.Constants[arg] == nil || b.Constants[arg].Layout != batch.ByteSlices || b.Constants[arg].IsNull(0) {
		return "", false
	}
	return string(b.Constants[arg].Bytes(0)), true
}
