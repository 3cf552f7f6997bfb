package ast

// Query is a whole query: with its common table expressions, order and limit.
// It is a statement, and also the operand of a set operation if it stood in
// parentheses.
type Query struct {
	Span
	With []*CommonTable
	// Recursive is said of the WITH.
	Recursive bool
	Body      QueryBody
	OrderBy   []*OrderItem
	// Offset and Fetch are a number or a parameter, or nil. LIMIT and FETCH
	// FIRST are one.
	Offset, Fetch Expr
}

// QueryBody is *Select, *SetOperation, *Values, *ExplicitTable, or *Query in
// parentheses.
type QueryBody interface {
	Node
	queryBody()
}

// CommonTable is one name of a WITH.
type CommonTable struct {
	Span
	Name    Name
	Columns []Name
	Query   *Query
}

// Quantifier is DISTINCT or ALL, or not said.
type Quantifier string

const (
	Distinct Quantifier = "DISTINCT"
	All      Quantifier = "ALL"
)

// Select is SELECT … FROM …. From is nil if there is no FROM.
type Select struct {
	Span
	Hints      []*Hint
	Quantifier Quantifier
	// Stream is set for SELECT STREAM, which Flink does not allow.
	Stream  bool
	Items   []*SelectItem
	From    Relation
	Where   Expr
	GroupBy *GroupBy
	Having  Expr
	Windows []*NamedWindow
	Qualify Expr
}

// SelectItem is an expression, which may be a *Star, and its alias or nil.
type SelectItem struct {
	Span
	Expr  Expr
	Alias *Name
}

// Hint is one of /*+ A(x, y), B('k' = 'v'), C */: it has words, options or
// nothing.
type Hint struct {
	Span
	Name Name
	// Words are names, strings or numbers in parentheses.
	Words   []*HintWord
	Options []*Option
	// Parens is set if there were parentheses.
	Parens bool
}

// HintWord is an argument of a hint: a name (which may have dots), or a string,
// or a number.
type HintWord struct {
	Span
	Text string
	// Names are the parts of a name, Literal is the string or number: one of them.
	Names   []Name
	Literal Expr
}

// GroupBy is the GROUP BY clause. Its quantifier says what becomes of equal
// grouping sets.
type GroupBy struct {
	Span
	Quantifier Quantifier
	Items      []GroupingElement
}

// GroupingElement is *GroupingKey or *GroupingSets.
type GroupingElement interface {
	Node
	groupingElement()
}

// GroupingKey is an expression, or several in parentheses which belong
// together, or none: ().
type GroupingKey struct {
	Span
	Exprs []Expr
	// Set is set if the expressions stood in parentheses.
	Set bool
}

// GroupingSets is ROLLUP(…), CUBE(…) or GROUPING SETS(…).
type GroupingSets struct {
	Span
	// Kind is ROLLUP, CUBE or GROUPING SETS.
	Kind  string
	Items []GroupingElement
}

// NamedWindow is name AS (…) in the WINDOW clause.
type NamedWindow struct {
	Span
	Name   Name
	Window *Window
}

// Window is what follows OVER: a name alone, or a specification in parentheses,
// which may start with a name.
type Window struct {
	Span
	// Reference is a window of the WINDOW clause, or nil.
	Reference *Name
	// Inline is set if there were parentheses.
	Inline      bool
	PartitionBy []Expr
	OrderBy     []*OrderItem
	Frame       *Frame
	// AllowPartial is nil if not said: ALLOW PARTIAL or DISALLOW PARTIAL.
	AllowPartial *bool
}

// Frame is ROWS or RANGE with its bounds. Without BETWEEN the end is nil, which
// means CURRENT ROW.
type Frame struct {
	Span
	// Unit is ROWS or RANGE.
	Unit       string
	Start, End *FrameBound
	// Exclude is CURRENT ROW, GROUP, TIES, NO OTHERS, or empty.
	Exclude string
}

// FrameBoundKind says where a frame starts or ends.
type FrameBoundKind string

const (
	UnboundedPreceding FrameBoundKind = "UNBOUNDED PRECEDING"
	Preceding          FrameBoundKind = "PRECEDING"
	CurrentRow         FrameBoundKind = "CURRENT ROW"
	Following          FrameBoundKind = "FOLLOWING"
	UnboundedFollowing FrameBoundKind = "UNBOUNDED FOLLOWING"
)

// FrameBound is one end of a frame. Offset is set for Preceding and Following.
type FrameBound struct {
	Span
	Kind   FrameBoundKind
	Offset Expr
}

// OrderItem is one key of ORDER BY.
type OrderItem struct {
	Span
	Expr Expr
	// Descending is set for DESC.
	Descending bool
	// Nulls is FIRST, LAST, or empty.
	Nulls string
}

// SetOperation is Left UNION Right and the like. The operands are bodies: an
// operand with its own WITH, ORDER BY or limit is a *Query.
type SetOperation struct {
	Span
	// Kind is UNION, INTERSECT or EXCEPT.
	Kind        string
	Quantifier  Quantifier
	Left, Right QueryBody
}

// Values is VALUES (…), (…). An expression without parentheses is a row of one.
type Values struct {
	Span
	Rows []*Row
}

// ExplicitTable is TABLE t used as a query.
type ExplicitTable struct {
	Span
	Name ObjectName
}

func (*Query) statement()                    {}
func (*Query) queryBody()                    {}
func (*Select) queryBody()                   {}
func (*SetOperation) queryBody()             {}
func (*Values) queryBody()                   {}
func (*ExplicitTable) queryBody()            {}
func (*GroupingKey) groupingElement()        {}
func (*GroupingSets) groupingElement()       {}
func (n *GroupingKey) children(f func(Node)) { each(n.Exprs, f) }
func (n *GroupingSets) children(f func(Node)) {
	each(n.Items, f)
}

func (n *Query) children(f func(Node)) {
	each(n.With, f)
	f(n.Body)
	each(n.OrderBy, f)
	expr(n.Offset, f)
	expr(n.Fetch, f)
}

func (n *CommonTable) children(f func(Node)) {
	f(&n.Name)
	names(n.Columns, f)
	f(n.Query)
}

func (n *Select) children(f func(Node)) {
	each(n.Hints, f)
	each(n.Items, f)
	if n.From != nil {
		f(n.From)
	}
	expr(n.Where, f)
	some(n.GroupBy, f)
	expr(n.Having, f)
	each(n.Windows, f)
	expr(n.Qualify, f)
}

func (n *SelectItem) children(f func(Node)) {
	f(n.Expr)
	some(n.Alias, f)
}

func (n *Hint) children(f func(Node)) {
	f(&n.Name)
	each(n.Words, f)
	each(n.Options, f)
}

func (n *HintWord) children(f func(Node)) {
	names(n.Names, f)
	expr(n.Literal, f)
}

func (n *GroupBy) children(f func(Node))   { each(n.Items, f) }
func (n *OrderItem) children(f func(Node)) { f(n.Expr) }
func (n *Values) children(f func(Node))    { each(n.Rows, f) }

func (n *NamedWindow) children(f func(Node)) {
	f(&n.Name)
	f(n.Window)
}

func (n *Window) children(f func(Node)) {
	some(n.Reference, f)
	each(n.PartitionBy, f)
	each(n.OrderBy, f)
	some(n.Frame, f)
}

func (n *Frame) children(f func(Node)) {
	f(n.Start)
	some(n.End, f)
}

func (n *FrameBound) children(f func(Node)) { expr(n.Offset, f) }

func (n *SetOperation) children(f func(Node)) {
	f(n.Left)
	f(n.Right)
}

func (n *ExplicitTable) children(f func(Node)) { f(&n.Name) }
