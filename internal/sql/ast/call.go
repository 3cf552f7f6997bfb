package ast

// Call is a function with its arguments and what may follow an aggregate.
//
// Special forms have their keywords as Symbol arguments, always in the same
// places:
//
//	EXTRACT(unit FROM x)             EXTRACT, [unit, x]
//	FLOOR(x TO unit), CEIL           FLOOR, [x, unit]
//	TIMESTAMPADD(unit, n, x)         TIMESTAMPADD, [unit, n, x]; TIMESTAMPDIFF too
//	TRIM([[side] [y] FROM] x)        TRIM, [side, y, x]; side is BOTH and y ' ' if not said
//	SUBSTRING(x FROM a FOR b)        SUBSTRING, [x, a, b] as with commas
//	POSITION(x IN y FROM a)          POSITION, [x, y, a]
//	OVERLAY(x PLACING y FROM a FOR b) OVERLAY, [x, y, a, b]
//	TRANSLATE(x USING c)             TRANSLATE, [x, c as Symbol]; CONVERT too
//
// COUNT(*) has one *Star argument. Functions called without parentheses, such
// as CURRENT_DATE, have no arguments.
type Call struct {
	Span
	Name ObjectName
	Args []Expr
	Aggregation
}

// Aggregation is what may stand in and after a call of an aggregate function.
type Aggregation struct {
	Quantifier Quantifier
	// OrderBy is in the parentheses: ARRAY_AGG(x ORDER BY y).
	OrderBy []*OrderItem
	// Nulls is IGNORE NULLS, RESPECT NULLS, or empty.
	Nulls string
	// WithinGroup is WITHIN GROUP (ORDER BY …).
	WithinGroup []*OrderItem
	// WithinDistinct is WITHIN DISTINCT (…).
	WithinDistinct []Expr
	Filter         Expr
	Over           *Window
}

// NamedArgument is name => value. A value nil means DEFAULT.
type NamedArgument struct {
	Span
	Name  Name
	Value Expr
}

// Default is DEFAULT as an argument or in a row of values to be inserted.
type Default struct{ Span }

// TableArgument is TABLE t or (query) [PARTITION BY …] [ORDER BY …] as an
// argument: a *TableName, an *Aliased, a *DerivedTable or a *FunctionTable.
type TableArgument struct {
	Span
	Table       Relation
	PartitionBy []Expr
	OrderBy     []*OrderItem
}

// ModelArgument is MODEL m as an argument.
type ModelArgument struct {
	Span
	Name ObjectName
}

// Descriptor is DESCRIPTOR(a, b): columns by name.
type Descriptor struct {
	Span
	Columns []Name
}

// JSONBehaviour is what JSON functions give ON EMPTY and ON ERROR.
type JSONBehaviour struct {
	Span
	// Kind is ERROR, NULL, DEFAULT, EMPTY ARRAY, EMPTY OBJECT, TRUE, FALSE or
	// UNKNOWN.
	Kind string
	// Default is the value of DEFAULT.
	Default Expr
}

// JSONExists is JSON_EXISTS(input, path [… ON ERROR]).
type JSONExists struct {
	Span
	Input, Path Expr
	OnError     *JSONBehaviour
}

// JSONValue is JSON_VALUE(input, path [RETURNING type] [… ON EMPTY] [… ON
// ERROR]).
type JSONValue struct {
	Span
	Input, Path      Expr
	Returning        DataType
	OnEmpty, OnError *JSONBehaviour
}

// JSONQuery is JSON_QUERY(input, path [RETURNING type] [wrapper] [… ON EMPTY]
// [… ON ERROR]).
type JSONQuery struct {
	Span
	Input, Path Expr
	Returning   DataType
	// Wrapper is WITHOUT ARRAY, WITH CONDITIONAL ARRAY, WITH UNCONDITIONAL ARRAY,
	// or empty.
	Wrapper          string
	OnEmpty, OnError *JSONBehaviour
}

// JSONObject is JSON_OBJECT(KEY k VALUE v, …), or the aggregate JSON_OBJECTAGG
// with one entry.
type JSONObject struct {
	Span
	Aggregate bool
	Entries   []*JSONEntry
	// OnNull is NULL, ABSENT, or empty.
	OnNull string
	Aggregation
}

// JSONEntry is KEY k VALUE v.
type JSONEntry struct {
	Span
	Key, Value Expr
	// Format is set by FORMAT JSON.
	Format bool
}

// JSONArray is JSON_ARRAY(a, b), or the aggregate JSON_ARRAYAGG with one
// element.
type JSONArray struct {
	Span
	Aggregate bool
	Elements  []*JSONElement
	// OnNull is NULL, ABSENT, or empty.
	OnNull string
	Aggregation
}

// JSONElement is a value [FORMAT JSON].
type JSONElement struct {
	Span
	Value  Expr
	Format bool
}

func (*Call) expression()          {}
func (*NamedArgument) expression() {}
func (*Default) expression()       {}
func (*TableArgument) expression() {}
func (*ModelArgument) expression() {}
func (*Descriptor) expression()    {}
func (*JSONExists) expression()    {}
func (*JSONValue) expression()     {}
func (*JSONQuery) expression()     {}
func (*JSONObject) expression()    {}
func (*JSONArray) expression()     {}

func (n *Call) children(f func(Node)) {
	f(&n.Name)
	each(n.Args, f)
	n.Aggregation.parts(f)
}

func (a *Aggregation) parts(f func(Node)) {
	each(a.OrderBy, f)
	each(a.WithinDistinct, f)
	each(a.WithinGroup, f)
	expr(a.Filter, f)
	some(a.Over, f)
}

func (n *NamedArgument) children(f func(Node)) {
	f(&n.Name)
	expr(n.Value, f)
}

func (*Default) children(func(Node)) {}

func (n *TableArgument) children(f func(Node)) {
	f(n.Table)
	each(n.PartitionBy, f)
	each(n.OrderBy, f)
}

func (n *ModelArgument) children(f func(Node)) { f(&n.Name) }
func (n *Descriptor) children(f func(Node))    { names(n.Columns, f) }
func (n *JSONBehaviour) children(f func(Node)) { expr(n.Default, f) }

func (n *JSONExists) children(f func(Node)) {
	f(n.Input)
	f(n.Path)
	some(n.OnError, f)
}

func (n *JSONValue) children(f func(Node)) {
	f(n.Input)
	f(n.Path)
	dataType(n.Returning, f)
	some(n.OnEmpty, f)
	some(n.OnError, f)
}

func (n *JSONQuery) children(f func(Node)) {
	f(n.Input)
	f(n.Path)
	dataType(n.Returning, f)
	some(n.OnEmpty, f)
	some(n.OnError, f)
}

func (n *JSONObject) children(f func(Node)) {
	each(n.Entries, f)
	n.Aggregation.parts(f)
}

func (n *JSONEntry) children(f func(Node)) {
	f(n.Key)
	f(n.Value)
}

func (n *JSONArray) children(f func(Node)) {
	each(n.Elements, f)
	n.Aggregation.parts(f)
}

func (n *JSONElement) children(f func(Node)) { f(n.Value) }
