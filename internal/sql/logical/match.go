package logical

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Match finds runs of rows that a pattern describes, and gives a row for each: the columns
// that rows are partitioned by, and the measures.
type Match struct {
	Input     Node
	Partition []int
	Order     []SortKey
	Pattern   ast.Pattern
	// Start and End say that the pattern begins and ends with the partition.
	Start, End bool
	// Skip is where the next run is looked for: PAST LAST ROW, TO NEXT ROW, TO FIRST or
	// TO LAST, which are of SkipVariable.
	Skip, SkipVariable string
	// Within is the longest time that a run may take, in milliseconds; 0: any.
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
	return fmt.Sprintf("Match(partition=[%s], pattern=[%s], measures=[%s])", columns(n.Partition), ast.String(n.Pattern), exprs(n.Measures))
}

// MatchRow is a column of a row of the run that Match has found, or is finding.
type MatchRow struct {
	// Variable is whose rows are looked at; empty: all of the run.
	Variable string
	// First says that they are counted from the first on, else from the last back; Offset
	// is how many are passed over.
	First  bool
	Offset int
	// Physical is how many rows of the input before the row found it is; below 0: after.
	Physical int
	// Column is that of the input; below 0: the name of the row's variable.
	Column int
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
	which := "LAST"
	if e.First {
		which = "FIRST"
	}
	text := which + "(" + e.Variable + "." + e.Name + ", " + strconv.Itoa(e.Offset) + ")"
	if e.Physical != 0 {
		text = "PREV(" + text + ", " + strconv.Itoa(e.Physical) + ")"
	}
	return text
}

// MatchAggregate is an aggregate over the rows of a variable; without one, of the run.
type MatchAggregate struct {
	Variable string
	Fn       *expr.Function
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
	return strings.TrimPrefix(e.Variable+".", ".") + e.Fn.Name + "(" + exprs(e.Args) + ")"
}
