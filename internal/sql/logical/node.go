package logical

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Node is a relational operator with its inputs.
type Node interface {
	// Fields are the columns of the result.
	Fields() []types.Field
	// Inputs are the operators whose rows this one takes.
	Inputs() []Node
	// With is the operator over other inputs, of the same columns.
	With(inputs []Node) Node
	// describe is the operator as one line, without its inputs.
	describe() string
}

// Scan reads a table.
type Scan struct {
	Path  catalog.Path
	Table *catalog.Table
	// Columns are those that are read, by their places in Table.Schema; none is computed.
	Columns []int
	// Filters are conditions over Columns that the connector is asked to look at. It
	// need not: whoever reads looks again.
	Filters []expr.Expr
	// Hints are the options of an OPTIONS hint.
	Hints map[string]string
}

// Values are rows of constants.
type Values struct {
	Row  []types.Field
	Rows [][]expr.Expr
}

// Nothing is one row of a column that nobody asked for: what a SELECT without FROM is
// computed over.
func Nothing() *Values {
	t := types.Of(types.Int).NotNull()
	return &Values{Row: []types.Field{{Name: "ZERO", Type: t}}, Rows: [][]expr.Expr{{expr.Constant(t, int32(0))}}}
}

// Project computes columns.
type Project struct {
	Input Node
	Exprs []expr.Expr
	Names []string
}

// Filter lets rows through for which the condition is true.
type Filter struct {
	Input     Node
	Condition expr.Expr
}

// JoinKind says which rows a join gives.
type JoinKind uint8

// The kinds of joins.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	// Semi gives the left rows that have a partner, once, and no right columns.
	Semi
	// Anti gives the left rows that have none.
	Anti
)

// Join pairs rows for which the condition is true; nil: every pair.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	Condition   expr.Expr
	// NullAware is said of an Anti join that answers NOT IN: a left row for which the
	// condition is unknown with some right row is not given.
	NullAware bool
	// Temporal is said of a join with the right side as it is, or was, at the time of each
	// left row. Over bounded input that is a join as any other.
	Temporal bool
}

// Aggregate groups rows by columns of its input, and gives for each group the keys and
// then the results of the calls. Without keys there is one group, even of no rows.
type Aggregate struct {
	Input Node
	Keys  []int
	Calls []AggregateCall
}

// AggregateCall is an aggregate function over columns of the input.
type AggregateCall struct {
	Fn   *expr.Function
	Args []int
	T    types.Type
	Name string
	// Distinct says that equal arguments count once.
	Distinct bool
	// Filter is a BOOLEAN column that says which rows count; -1: all.
	Filter int
	// Order is that of the rows, where the function minds.
	Order []SortKey
	// IgnoreNulls is said of functions that can mind NULL or not.
	IgnoreNulls bool
	// Constants are the arguments that are constant, nil for the others.
	Constants []*expr.Literal
}

// Expand gives each row several times, by as many lists of expressions.
type Expand struct {
	Input Node
	Lists [][]expr.Expr
	Row   []types.Field
}

// Over adds to each row the results of calls over the rows around it.
type Over struct {
	Input     Node
	Partition []int
	Order     []SortKey
	Frame     Frame
	Calls     []AggregateCall
}

// Frame is which rows around a row count.
type Frame struct {
	// Rows says that rows are counted; otherwise the bounds are differences of the order's
	// value, and rows of equal order belong together.
	Rows       bool
	Start, End Bound
}

// Bound is one end of a Frame.
type Bound struct {
	// Unbounded says that all rows on that side count.
	Unbounded bool
	// Offset is how far from the row: negative is before it. nil is the row itself.
	Offset    expr.Expr
	Following bool
}

// SortKey is a column to sort by.
type SortKey struct {
	Column     int
	Descending bool
	NullsLast  bool
}

// Sort orders rows by Keys, leaves out the first Offset and gives Fetch of the rest.
type Sort struct {
	Input  Node
	Keys   []SortKey
	Offset int64
	Fetch  int64 // -1: all
}

// SetKind is which rows of two inputs a set operation gives.
type SetKind uint8

// The kinds of set operations.
const (
	Union SetKind = iota
	Intersect
	Except
)

// SetOperation gives rows of its inputs, which have columns of equal types. Without All
// equal rows are given once.
type SetOperation struct {
	Kind SetKind
	All  bool
	Of   []Node
	Row  []types.Field
}

// Unnest gives each row once for each element of a collection of its input, with the
// element's columns after its own.
type Unnest struct {
	Input      Node
	Collection expr.Expr
	// Elements are the columns of an element; with Ordinality one more, which counts
	// from 1.
	Elements   []types.Field
	Ordinality bool
	// Outer gives a row once with NULL where the collection has no element.
	Outer bool
}

// WindowKind is how a Window cuts time.
type WindowKind uint8

// The kinds of windows.
const (
	Tumble WindowKind = iota
	Hop
	Cumulate
	Session
)

// Window gives each row once for each window that it is in, with window_start, window_end
// and window_time after its own columns. Times are in milliseconds.
type Window struct {
	Input Node
	Kind  WindowKind
	// Time is the column of the row's time.
	Time int
	// Size is the gap of a session, and the greatest size of Cumulate.
	Size int64
	// Slide is that of Hop, and the step of Cumulate.
	Slide  int64
	Offset int64
	// Partition are the keys that sessions are told apart by.
	Partition []int
	// Zone says that windows are laid out in the session's zone.
	Zone bool
}

// Sink writes rows to a table, or to whoever asked if Table is nil.
type Sink struct {
	Input     Node
	Path      catalog.Path
	Table     *catalog.Table
	Overwrite bool
	// Static are the partition's columns that the statement names, with their values.
	Static map[string]string
	Hints  map[string]string
}

// Fields are the columns that are read.
func (n *Scan) Fields() []types.Field {
	fields := make([]types.Field, len(n.Columns))
	for i, c := range n.Columns {
		column := n.Table.Schema.Columns[c]
		fields[i] = types.Field{Name: column.Name, Type: column.Type, Comment: column.Comment}
	}
	return fields
}

// Fields are the columns of the constants.
func (n *Values) Fields() []types.Field { return n.Row }

// Fields are the computed columns.
func (n *Project) Fields() []types.Field {
	fields := make([]types.Field, len(n.Exprs))
	for i, e := range n.Exprs {
		fields[i] = types.Field{Name: n.Names[i], Type: e.Type()}
	}
	return fields
}

// Fields are those of the input.
func (n *Filter) Fields() []types.Field { return n.Input.Fields() }

// Fields are the left columns and then the right ones, which may be NULL where a side
// may be missing.
func (n *Join) Fields() []types.Field {
	left := n.Left.Fields()
	if n.Kind == Semi || n.Kind == Anti {
		return left
	}
	return append(missing(left, n.Kind == Right || n.Kind == Full), missing(n.Right.Fields(), n.Kind == Left || n.Kind == Full)...)
}

// missing gives a copy of columns, which may be NULL if they may be missing.
func missing(fields []types.Field, may bool) []types.Field {
	fields = slices.Clone(fields)
	if may {
		for i := range fields {
			fields[i].Type = fields[i].Type.OrNull()
		}
	}
	return fields
}

// Fields are the keys and the results.
func (n *Aggregate) Fields() []types.Field {
	in := n.Input.Fields()
	var fields []types.Field
	for _, k := range n.Keys {
		fields = append(fields, in[k])
	}
	return append(fields, results(n.Calls)...)
}

func results(calls []AggregateCall) []types.Field {
	fields := make([]types.Field, len(calls))
	for i, c := range calls {
		fields[i] = types.Field{Name: c.Name, Type: c.T}
	}
	return fields
}

// Fields are those of the lists.
func (n *Expand) Fields() []types.Field { return n.Row }

// Fields are those of the input and the results.
func (n *Over) Fields() []types.Field {
	return append(slices.Clone(n.Input.Fields()), results(n.Calls)...)
}

// Fields are those of the input.
func (n *Sort) Fields() []types.Field { return n.Input.Fields() }

// Fields are the columns that the inputs have in common.
func (n *SetOperation) Fields() []types.Field { return n.Row }

// Fields are those of the input and of the elements.
func (n *Unnest) Fields() []types.Field {
	return append(slices.Clone(n.Input.Fields()), missing(n.Elements, n.Outer)...)
}

// Fields are those of the input and the window's three.
func (n *Window) Fields() []types.Field {
	in := n.Input.Fields()
	plain, time := types.TimestampOf(3).NotNull(), in[n.Time].Type.NotNull()
	time.Precision = 3
	if in[n.Time].Type.Time == types.Proctime {
		time = types.TimestampLTZOf(3).NotNull()
		time.Time = types.Proctime
	}
	return append(slices.Clone(in), types.Field{Name: "window_start", Type: plain}, types.Field{Name: "window_end", Type: plain}, types.Field{Name: "window_time", Type: time})
}

// Fields are those of the input.
func (n *Sink) Fields() []types.Field { return n.Input.Fields() }

// Inputs are none.
func (n *Scan) Inputs() []Node { return nil }

// Inputs are none.
func (n *Values) Inputs() []Node { return nil }

// Inputs are one.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs are one.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs are the left and the right one.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs are one.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs are one.
func (n *Expand) Inputs() []Node { return []Node{n.Input} }

// Inputs are one.
func (n *Over) Inputs() []Node { return []Node{n.Input} }

// Inputs are one.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs are two or more.
func (n *SetOperation) Inputs() []Node { return n.Of }

// Inputs are one.
func (n *Unnest) Inputs() []Node { return []Node{n.Input} }

// Inputs are one.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

// Inputs are one.
func (n *Sink) Inputs() []Node { return []Node{n.Input} }

// With is n: it has no inputs.
func (n *Scan) With([]Node) Node { return n }

// With is n: it has no inputs.
func (n *Values) With([]Node) Node { return n }

// With is the operator over another input.
func (n *Project) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over another input.
func (n *Filter) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over other inputs.
func (n *Join) With(in []Node) Node { c := *n; c.Left, c.Right = in[0], in[1]; return &c }

// With is the operator over another input.
func (n *Aggregate) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over another input.
func (n *Expand) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over another input.
func (n *Over) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over another input.
func (n *Sort) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over other inputs.
func (n *SetOperation) With(in []Node) Node { c := *n; c.Of = in; return &c }

// With is the operator over another input.
func (n *Unnest) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over another input.
func (n *Window) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// With is the operator over another input.
func (n *Sink) With(in []Node) Node { c := *n; c.Input = in[0]; return &c }
