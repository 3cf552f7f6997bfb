package ast

// Expr is a value: a literal of literal.go, a call of call.go, or a node of
// this file.
type Expr interface {
	Node
	expression()
}

// Identifier is a column, or a path to one: [[[catalog.]database.]table.]column,
// followed by fields of a row. Which part is what is for the binder to say.
type Identifier struct {
	Span
	Parts []Name
}

// Star is * or t.*.
type Star struct {
	Span
	Qualifier []Name
}

// Parameter is ?, counted from 0.
type Parameter struct {
	Span
	Index int
}

// UnaryOp is an operator before its operand.
type UnaryOp string

const (
	Negate UnaryOp = "-"
	Plus   UnaryOp = "+"
	Not    UnaryOp = "NOT"
	// Final and Running stand before measures of MATCH_RECOGNIZE.
	Final   UnaryOp = "FINAL"
	Running UnaryOp = "RUNNING"
)

// Unary is an operator and its operand.
type Unary struct {
	Span
	Op      UnaryOp
	Operand Expr
}

// BinaryOp is an operator between its operands.
type BinaryOp string

const (
	Or                BinaryOp = "OR"
	And               BinaryOp = "AND"
	Equals            BinaryOp = "="
	NotEquals         BinaryOp = "<>"
	Less              BinaryOp = "<"
	LessOrEqual       BinaryOp = "<="
	Greater           BinaryOp = ">"
	GreaterOrEqual    BinaryOp = ">="
	IsDistinctFrom    BinaryOp = "IS DISTINCT FROM"
	IsNotDistinctFrom BinaryOp = "IS NOT DISTINCT FROM"
	Add               BinaryOp = "+"
	Subtract          BinaryOp = "-"
	Multiply          BinaryOp = "*"
	Divide            BinaryOp = "/"
	Modulo            BinaryOp = "%"
	Concat            BinaryOp = "||"

	// Multisets.
	MemberOf                  BinaryOp = "MEMBER OF"
	SubmultisetOf             BinaryOp = "SUBMULTISET OF"
	NotSubmultisetOf          BinaryOp = "NOT SUBMULTISET OF"
	MultisetUnion             BinaryOp = "MULTISET UNION ALL"
	MultisetUnionDistinct     BinaryOp = "MULTISET UNION DISTINCT"
	MultisetIntersect         BinaryOp = "MULTISET INTERSECT ALL"
	MultisetIntersectDistinct BinaryOp = "MULTISET INTERSECT DISTINCT"
	MultisetExcept            BinaryOp = "MULTISET EXCEPT ALL"
	MultisetExceptDistinct    BinaryOp = "MULTISET EXCEPT DISTINCT"

	// Periods: each operand is a *Row of two, with or without PERIOD before it.
	Overlaps            BinaryOp = "OVERLAPS"
	Contains            BinaryOp = "CONTAINS"
	PeriodEquals        BinaryOp = "EQUALS"
	Precedes            BinaryOp = "PRECEDES"
	ImmediatelyPrecedes BinaryOp = "IMMEDIATELY PRECEDES"
	Succeeds            BinaryOp = "SUCCEEDS"
	ImmediatelySucceeds BinaryOp = "IMMEDIATELY SUCCEEDS"
)

// Binary is two operands and the operator between them. OpSpan is where the
// operator stands.
type Binary struct {
	Span
	Op          BinaryOp
	OpSpan      Span
	Left, Right Expr
}

// Is is operand IS [NOT] test.
type Is struct {
	Span
	Operand Expr
	Not     bool
	// Test is NULL, TRUE, FALSE, UNKNOWN, JSON, JSON VALUE, JSON OBJECT, JSON
	// ARRAY, JSON SCALAR, A SET or EMPTY.
	Test string
}

// Between is operand [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Span
	Operand   Expr
	Not       bool
	Symmetric bool
	Low, High Expr
}

// Like is operand [NOT] LIKE pattern [ESCAPE e].
type Like struct {
	Span
	Operand Expr
	Not     bool
	// Kind is LIKE or SIMILAR TO.
	Kind    string
	Pattern Expr
	Escape  Expr
}

// In is operand [NOT] IN (list) or (query): one of them.
type In struct {
	Span
	Operand Expr
	Not     bool
	List    []Expr
	Query   *Query
}

// Quantified is operand op SOME|ALL (list) or (query): one of them. ANY is SOME.
type Quantified struct {
	Span
	Operand Expr
	Op      BinaryOp
	All     bool
	List    []Expr
	Query   *Query
}

// Exists is EXISTS (query).
type Exists struct {
	Span
	Query *Query
}

// Subquery is a query used as a value.
type Subquery struct {
	Span
	Query *Query
}

// Case is CASE [operand] WHEN … THEN … [ELSE …] END.
type Case struct {
	Span
	Operand Expr
	Whens   []*When
	Else    Expr
}

// When is one branch of a Case. With an operand there may be several values:
// WHEN 1, 2 THEN.
type When struct {
	Span
	Conditions []Expr
	Result     Expr
}

// Cast is CAST(operand AS type), or TRY_CAST, which gives NULL where CAST fails.
type Cast struct {
	Span
	Operand Expr
	Type    DataType
	Try     bool
	// Format is CAST(… FORMAT 'pattern'), or nil.
	Format Expr
}

// Row is ROW(a, b) or (a, b).
type Row struct {
	Span
	// Explicit is set if ROW was written.
	Explicit bool
	// Period is set if PERIOD was written.
	Period   bool
	Elements []Expr
}

// Collection is ARRAY[…], MULTISET[…], or their form with a query.
type Collection struct {
	Span
	// Kind is ARRAY or MULTISET.
	Kind     string
	Elements []Expr
	Query    *Query
}

// Map is MAP[key, value, …], or MAP(query) with two columns.
type Map struct {
	Span
	// Entries are keys and values by turns.
	Entries []Expr
	Query   *Query
}

// Index is an element of an array, a map, or a field of a row by its number:
// operand[index].
type Index struct {
	Span
	Operand Expr
	Index   Expr
	// Mode is OFFSET, ORDINAL, SAFE_OFFSET, SAFE_ORDINAL, or empty.
	Mode string
}

// Field is a field of a row that is not a plain path: f(x).name, (r).name.
type Field struct {
	Span
	Operand Expr
	Name    Name
}

// IntervalOf is INTERVAL expression qualifier, with a value that is not a
// string.
type IntervalOf struct {
	Span
	Operand   Expr
	Qualifier *IntervalQualifier
}

// Difference is (left - right) qualifier: the interval between two times.
type Difference struct {
	Span
	Left, Right Expr
	Qualifier   *IntervalQualifier
}

func (*Difference) expression() {}
func (*Identifier) expression() {}
func (*Star) expression()       {}
func (*Parameter) expression()  {}
func (*Unary) expression()      {}
func (*Binary) expression()     {}
func (*Is) expression()         {}
func (*Between) expression()    {}
func (*Like) expression()       {}
func (*In) expression()         {}
func (*Quantified) expression() {}
func (*Exists) expression()     {}
func (*Subquery) expression()   {}
func (*Case) expression()       {}
func (*Cast) expression()       {}
func (*Row) expression()        {}
func (*Collection) expression() {}
func (*Map) expression()        {}
func (*Index) expression()      {}
func (*Field) expression()      {}
func (*IntervalOf) expression() {}

func (n *Identifier) children(f func(Node)) { names(n.Parts, f) }
func (n *Star) children(f func(Node))       { names(n.Qualifier, f) }
func (*Parameter) children(func(Node))      {}
func (n *Unary) children(f func(Node))      { f(n.Operand) }
func (n *Is) children(f func(Node))         { f(n.Operand) }
func (n *Exists) children(f func(Node))     { f(n.Query) }
func (n *Subquery) children(f func(Node))   { f(n.Query) }
func (n *Row) children(f func(Node))        { each(n.Elements, f) }

func (n *Binary) children(f func(Node)) {
	f(n.Left)
	f(n.Right)
}

func (n *Between) children(f func(Node)) {
	f(n.Operand)
	f(n.Low)
	f(n.High)
}

func (n *Like) children(f func(Node)) {
	f(n.Operand)
	f(n.Pattern)
	expr(n.Escape, f)
}

func (n *In) children(f func(Node)) {
	f(n.Operand)
	each(n.List, f)
	some(n.Query, f)
}

func (n *Quantified) children(f func(Node)) {
	f(n.Operand)
	each(n.List, f)
	some(n.Query, f)
}

func (n *Case) children(f func(Node)) {
	expr(n.Operand, f)
	each(n.Whens, f)
	expr(n.Else, f)
}

func (n *When) children(f func(Node)) {
	each(n.Conditions, f)
	f(n.Result)
}

func (n *Cast) children(f func(Node)) {
	f(n.Operand)
	f(n.Type)
	expr(n.Format, f)
}

func (n *Collection) children(f func(Node)) {
	each(n.Elements, f)
	some(n.Query, f)
}

func (n *Map) children(f func(Node)) {
	each(n.Entries, f)
	some(n.Query, f)
}

func (n *Index) children(f func(Node)) {
	f(n.Operand)
	f(n.Index)
}

func (n *Field) children(f func(Node)) {
	f(n.Operand)
	f(&n.Name)
}

func (n *IntervalOf) children(f func(Node)) {
	f(n.Operand)
	f(n.Qualifier)
}

func (n *Difference) children(f func(Node)) {
	f(n.Left)
	f(n.Right)
	f(n.Qualifier)
}
