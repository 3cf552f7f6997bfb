package logical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/types"
)

// Match finds runs of rows that a pattern describes, and gives a row for each: the columns
// that rows are partitioned by, and the measures.
type Match struct {
	Input     Node
	Partition []int
	// Order begins with time.
	Order []SortKey
	// Pattern is as it was written; Variables are its variables in their order, and
	// Elements how often each comes.
	Pattern   ast.Pattern
	Variables []string
	Elements  []pattern.Element
	// AtFirst and AtLast say that the pattern begins and ends with the partition.
	AtFirst, AtLast bool
	// Skip is where the next run is looked for.
	Skip pattern.Skip
	// Within is the time that a run takes less than, in milliseconds; 0: any.
	Within int64
	// Defines are the conditions that a row of a variable meets; a variable without one is
	// any row.
	Defines  map[string]expr.Expr
	Measures []expr.Expr
	Names    []string
}

// Fields are the columns of the partition and the measures.
func (n *Match) Fields() []types.Field {
	in := n.Input.Fields()
	var fields []types.Field
	for _, p := range n.Partition {
		fields = append(fields, in[p])
	}
	for i, m := range n.Measures {
		fields = append(fields, types.Field{Name: n.Names[i], Type: m.Type()})
	}
	return fields
}

// Inputs are one.
func (n *Match) Inputs() []Node { return []Node{n.Input} }

// With is the operator over another input.
func (n *Match) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

func (n *Match) describe() string {
	return fmt.Sprintf("Match(partition=[%s], order=[%s], pattern=[%s], define=[%s], measures=[%s])", columns(n.Partition), keys(n.Order),
		ast.String(n.Pattern), strings.Join(n.conditions(), ", "), exprs(n.Measures))
}

// conditions are the definitions of the variables, in their order.
func (n *Match) conditions() []string {
	var all []string
	for _, v := range n.Variables {
		if c := n.Defines[v]; c != nil {
			all = append(all, v+" AS "+c.String())
		}
	}
	return all
}

// InputColumns are the columns of the input that it uses, in ascending order.
func (n *Match) InputColumns() []int {
	used := slices.Clone(n.Partition)
	for _, k := range n.Order {
		used = append(used, k.Column)
	}
	n.mapLeaves(func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *MatchRow:
			used = append(used, e.Column)
		case *MatchAggregate:
			used = append(used, Columns(e.Args...)...)
		}
		return e
	})
	slices.Sort(used)
	return slices.Compact(used)
}

// Moved is the operator over an input whose columns are where at says.
func (n *Match) Moved(in Node, at func(column int) int) *Match {
	c := n.mapLeaves(func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *MatchRow:
			moved := *e
			moved.Column = at(e.Column)
			return &moved
		case *MatchAggregate:
			moved := *e
			moved.Args = slices.Clone(e.Args)
			for i, a := range moved.Args {
				moved.Args[i] = expr.Rewrite(a, func(e expr.Expr) expr.Expr {
					if in, ok := e.(*expr.Input); ok {
						moved := *in
						moved.Index = at(in.Index)
						return &moved
					}
					return e
				})
			}
			return &moved
		}
		return e
	})
	c.Input, c.Partition, c.Order = in, slices.Clone(n.Partition), slices.Clone(n.Order)
	for i, p := range c.Partition {
		c.Partition[i] = at(p)
	}
	for i, k := range c.Order {
		c.Order[i].Column = at(k.Column)
	}
	return c
}

// mapLeaves gives the operator with the leaves of its expressions replaced.
func (n *Match) mapLeaves(f func(expr.Expr) expr.Expr) *Match {
	c := *n
	c.Defines = map[string]expr.Expr{}
	for v, e := range n.Defines {
		c.Defines[v] = expr.Rewrite(e, f)
	}
	c.Measures = slices.Clone(n.Measures)
	for i, e := range c.Measures {
		c.Measures[i] = expr.Rewrite(e, f)
	}
	return &c
}

// MatchRow is a column of a row of the run that Match has found, or is finding.
type MatchRow struct {
	// Variables are whose rows are looked at; nil: all of the run. Those that the pattern
	// does not have have no rows.
	Variables []string
	// First says that they are counted from the first on, else from the last back; Offset
	// is how many are passed over.
	First  bool
	Offset int
	// Column is that of the input. Time says that its time in milliseconds is meant.
	Column int
	Time   bool
	Name   string
	T      types.Type
	At     ast.Span
}

// Type is the column's, or NULL where there is no such row.
func (e *MatchRow) Type() types.Type { return e.T }

// Span is where it is written.
func (e *MatchRow) Span() ast.Span { return e.At }

// String names the row and the column.
func (e *MatchRow) String() string {
	if e.Time {
		return "MATCH_ROWTIME()"
	}
	which := "LAST"
	if e.First {
		which = "FIRST"
	}
	return which + "(" + variables(e.Variables) + e.Name + ", " + strconv.Itoa(e.Offset) + ")"
}

// variables are what stands before a name of theirs.
func variables(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + "."
	}
	return "(" + strings.Join(names, ", ") + ")."
}

// MatchAggregate is an aggregate over the rows of a variable.
type MatchAggregate struct {
	// Variables are as those of MatchRow.
	Variables []string
	Fn        *expr.Function
	// Args are over the input.
	Args []expr.Expr
	T    types.Type
	At   ast.Span
}

// Type is that of the result.
func (e *MatchAggregate) Type() types.Type { return e.T }

// Span is where the call stands.
func (e *MatchAggregate) Span() ast.Span { return e.At }

// String is the call.
func (e *MatchAggregate) String() string {
	return variables(e.Variables) + e.Fn.Name + "(" + exprs(e.Args) + ")"
}
