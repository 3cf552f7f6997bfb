package expr

import (
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// Expr is a typed expression: *Literal, *Input or *Call.
type Expr interface {
	// Type is that of the value, with its nullability.
	Type() types.Type
	// Span is where the expression stands in the statement; zero if it was not written.
	Span() ast.Span
	// String writes the expression for explanations and as a key: equal texts are equal
	// expressions.
	String() string
}

// Literal is a constant.
type Literal struct {
	T types.Type
	// Value has one row. It is shared and never changed.
	Value *batch.Column
	At    ast.Span
	// Text is the literal as written, where its form matters (the digits of a number);
	// empty otherwise.
	Text string
}

// Input is a column of the batch that the expression is evaluated over.
type Input struct {
	Index int
	Name  string
	T     types.Type
	At    ast.Span
}

// Call is a function with its arguments, which have the types that its kernel takes.
type Call struct {
	Fn   *Function
	Args []Expr
	T    types.Type
	At   ast.Span
}

// Type is the literal's type.
func (e *Literal) Type() types.Type { return e.T }

// Type is the column's type.
func (e *Input) Type() types.Type { return e.T }

// Type is that of the call's result.
func (e *Call) Type() types.Type { return e.T }

// Span is where the literal stands.
func (e *Literal) Span() ast.Span { return e.At }

// Span is where the name stands.
func (e *Input) Span() ast.Span { return e.At }

// Span is where the call stands.
func (e *Call) Span() ast.Span { return e.At }

// IsNull reports whether the literal is NULL.
func (e *Literal) IsNull() bool { return e.Value.IsNull(0) }

// String writes the literal with its type, so that equal values of two types differ.
func (e *Literal) String() string {
	return string(appendExact(nil, e.T, e.Value, 0)) + ":" + e.T.String()
}

// appendExact writes a value as results show it, but texts in quotes wherever they are:
// what differs is written differently.
func appendExact(dst []byte, t types.Type, c *batch.Column, i int) []byte {
	switch {
	case c.IsNull(i):
		return append(dst, "NULL"...)
	case t.Kind.IsText() || t.Kind == types.Symbol:
		return append(append(append(dst, '\''), strings.ReplaceAll(string(c.Bytes(i)), "'", "''")...), '\'')
	case t.Kind.IsComposite():
		dst = append(dst, '(')
		for k, child := range c.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendExact(dst, part(t, k), child, i)
		}
		return append(dst, ')')
	case t.Kind.IsCollection():
		dst = append(dst, '[')
		for from, to := c.Span(i); from < to; from++ {
			for k, child := range c.Children {
				dst = append(appendExact(dst, part(t, k), child, from), ';')
			}
		}
		return append(dst, ']')
	}
	return AppendDisplay(dst, time.UTC, t, c, i)
}

// String is the column's name and place.
func (e *Input) String() string { return e.Name + "#" + strconv.Itoa(e.Index) }

// String writes the call in the form NAME(args), casts with their type.
func (e *Call) String() string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.String()
	}
	if e.Fn.Typed {
		args = append(args, e.T.String())
	}
	return e.Fn.Name + "(" + strings.Join(args, ", ") + ")"
}

// Null is a NULL of a type.
func Null(t types.Type, at ast.Span) *Literal {
	c := batch.NewColumn(t)
	c.AppendNull()
	return &Literal{T: t.OrNull(), Value: c, At: at}
}

// Constant is a literal of a value of fixed size.
func Constant[T batch.Fixed](t types.Type, v T) *Literal {
	c := batch.NewColumn(t)
	batch.Append(c, v)
	return &Literal{T: t.NotNull(), Value: c}
}

// Text is a literal CHAR of the text's own length in characters.
func Text(s string) *Literal { return textOf(types.CharOf(characters(s)).NotNull(), s) }

// textOf is a literal of bytes or a text of a type.
func textOf(t types.Type, s string) *Literal {
	c := batch.NewColumn(t)
	c.AppendBytes([]byte(s))
	return &Literal{T: t, Value: c}
}

// Walk calls visit with e and all expressions below it, parents first; where it
// returns false, what lies below is left out.
func Walk(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	if c, ok := e.(*Call); ok {
		for _, a := range c.Args {
			Walk(a, visit)
		}
	}
}

// Rewrite gives e with every expression replaced by what replace makes of it,
// arguments first. What is not changed is shared.
func Rewrite(e Expr, replace func(Expr) Expr) Expr {
	if c, ok := e.(*Call); ok {
		args := make([]Expr, len(c.Args))
		changed := false
		for i, a := range c.Args {
			args[i] = Rewrite(a, replace)
			changed = changed || args[i] != a
		}
		if changed {
			copied := *c
			copied.Args = args
			e = &copied
		}
	}
	return replace(e)
}

// Conjuncts takes a condition apart at its ANDs; nil has none.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if call, ok := e.(*Call); ok && call.Fn.Name == "AND" {
		var all []Expr
		for _, a := range call.Args {
			all = append(all, Conjuncts(a)...)
		}
		return all
	}
	return []Expr{e}
}
