package logical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Outer is a column of a query around the one that the expression stands in. It is gone
// once sub-queries have become joins.
type Outer struct {
	// Levels is how many queries out it is; 1: the next one.
	Levels int
	Index  int
	Name   string
	T      types.Type
	At     ast.Span
}

// Type is the column's type.
func (e *Outer) Type() types.Type { return e.T }

// Span is where the name stands.
func (e *Outer) Span() ast.Span { return e.At }

// String names the column, its place and how far out it is.
func (e *Outer) String() string {
	return e.Name + "#" + strconv.Itoa(e.Index) + strings.Repeat("^", e.Levels)
}

// SubqueryKind is what of a sub-query an expression asks.
type SubqueryKind uint8

// The kinds of sub-queries.
const (
	// Scalar is the one value of the one row; NULL if there is no row.
	Scalar SubqueryKind = iota
	// Exists is whether there is a row.
	Exists
	// Some is whether Test is true of a row: x IN (…), x < SOME (…). It is unknown if it
	// is not true of any and unknown of one.
	Some
)

// Subquery is a query in an expression. It is gone once sub-queries have become joins.
type Subquery struct {
	Kind SubqueryKind
	Plan Node
	// Operands are the values that Some compares the row's columns with.
	Operands []expr.Expr
	// Test is over the operands, as Input 0 to n-1, and then the row's columns.
	Test expr.Expr
	T    types.Type
	At   ast.Span
}

// Type is that of the value.
func (e *Subquery) Type() types.Type { return e.T }

// Span is where the sub-query stands.
func (e *Subquery) Span() ast.Span { return e.At }

// String draws the sub-query's tree in braces.
func (e *Subquery) String() string {
	kind := [...]string{"SCALAR", "EXISTS", "SOME"}[e.Kind]
	if e.Kind == Some {
		kind += "(" + exprs(e.Operands) + "; " + e.Test.String() + ")"
	}
	return fmt.Sprintf("%s{%s}", kind, strings.Join(strings.Fields(strings.ReplaceAll(Text(e.Plan), "\n", " ")), " "))
}

// UsedColumns are the columns of a query that an expression in it uses, in its sub-queries
// too, in ascending order.
func UsedColumns(e expr.Expr) []int {
	var used []int
	var of func(e expr.Expr, depth int)
	var in func(n Node, depth int)
	of = func(e expr.Expr, depth int) {
		expr.Walk(e, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Input:
				if depth == 0 {
					used = append(used, e.Index)
				}
			case *Outer:
				if e.Levels == depth {
					used = append(used, e.Index)
				}
			case *Subquery:
				for _, o := range e.Operands {
					of(o, depth)
				}
				in(e.Plan, depth+1)
			}
			return true
		})
	}
	in = func(n Node, depth int) {
		for _, e := range Exprs(n) {
			of(e, depth)
		}
		for i, input := range n.Inputs() {
			if _, apply := n.(*Apply); apply && i == 1 {
				in(input, depth+1)
				continue
			}
			in(input, depth)
		}
	}
	of(e, 0)
	slices.Sort(used)
	return slices.Compact(used)
}

// Apply gives each left row with the rows that the right side has for it, where Outer
// columns are the left row's. It is gone once sub-queries have become joins.
type Apply struct {
	// Kind is Inner or Left.
	Kind        JoinKind
	Left, Right Node
	Condition   expr.Expr
}

// Fields are the left columns and then the right ones.
func (n *Apply) Fields() []types.Field {
	return (&Join{Kind: n.Kind, Left: n.Left, Right: n.Right}).Fields()
}

// Inputs are the left and the right one.
func (n *Apply) Inputs() []Node { return []Node{n.Left, n.Right} }

// With is the operator over other inputs.
func (n *Apply) With(in []Node) Node { c := *n; c.Left, c.Right = in[0], in[1]; return &c }

func (n *Apply) describe() string {
	return strings.Replace((&Join{Kind: n.Kind, Condition: n.Condition}).describe(), "Join", "Apply", 1)
}
