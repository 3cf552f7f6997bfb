package ast

// Relation is what FROM reads: *TableName, *DerivedTable, *FunctionTable,
// *Unnest, *Join, *Aliased, *Snapshot, *Sampled or *MatchRecognize.
type Relation interface {
	Node
	relation()
}

// TableName is a table or view, with its hints.
type TableName struct {
	Span
	Name  ObjectName
	Hints []*Hint
}

// DerivedTable is a query in parentheses.
type DerivedTable struct {
	Span
	Lateral bool
	Query   *Query
}

// FunctionTable is a call whose result is a table: TABLE(f(…)), or f(…) alone.
type FunctionTable struct {
	Span
	Lateral bool
	// Wrapped is set if TABLE( ) stood around the call.
	Wrapped bool
	Call    *Call
}

// Unnest is UNNEST(x, …) [WITH ORDINALITY].
type Unnest struct {
	Span
	Lateral    bool
	Args       []Expr
	Ordinality bool
}

// Aliased is a relation AS name (columns).
type Aliased struct {
	Span
	Relation Relation
	Alias    Name
	Columns  []Name
}

// Snapshot is a relation FOR SYSTEM_TIME AS OF a time.
type Snapshot struct {
	Span
	Relation Relation
	Time     Expr
}

// Sampled is a relation TABLESAMPLE.
type Sampled struct {
	Span
	Relation Relation
	// Method is BERNOULLI, SYSTEM or SUBSTITUTE.
	Method string
	// Argument is the percentage, or the name to SUBSTITUTE.
	Argument Expr
	// Repeatable is the seed, or nil.
	Repeatable Expr
}

// JoinKind says which rows without a partner a join keeps.
type JoinKind string

const (
	InnerJoin JoinKind = "INNER"
	LeftJoin  JoinKind = "LEFT"
	RightJoin JoinKind = "RIGHT"
	FullJoin  JoinKind = "FULL"
	CrossJoin JoinKind = "CROSS"
	// CommaJoin is a comma in FROM: a cross join that binds weaker than others.
	CommaJoin JoinKind = "COMMA"
	// AsofJoin and LeftAsofJoin have a MATCH_CONDITION.
	AsofJoin     JoinKind = "ASOF"
	LeftAsofJoin JoinKind = "LEFT ASOF"
)

// Join is two relations side by side. At most one of On and Using is there.
type Join struct {
	Span
	Kind        JoinKind
	Natural     bool
	Left, Right Relation
	// Match is the condition of an ASOF join.
	Match Expr
	On    Expr
	Using []Name
}

// MatchRecognize is a relation MATCH_RECOGNIZE (…).
type MatchRecognize struct {
	Span
	Relation    Relation
	PartitionBy []Expr
	OrderBy     []*OrderItem
	Measures    []*SelectItem
	// Rows is ONE ROW PER MATCH, ALL ROWS PER MATCH, or empty.
	Rows string
	// After is nil if not said.
	After *AfterMatch
	// Start and End are set by ^ and $.
	Start, End bool
	Pattern    Pattern
	Within     Expr
	Subsets    []*PatternSubset
	Define     []*PatternDefinition
}

// AfterMatch is AFTER MATCH SKIP ….
type AfterMatch struct {
	Span
	// Kind is PAST LAST ROW, TO NEXT ROW, TO FIRST, TO LAST.
	Kind string
	// Variable is set for the last two.
	Variable *Name
}

// PatternSubset is name = (A, B).
type PatternSubset struct {
	Span
	Name    Name
	Members []Name
}

// PatternDefinition is name AS condition in DEFINE.
type PatternDefinition struct {
	Span
	Name      Name
	Condition Expr
}

// Pattern is *PatternVariable, *PatternSequence, *PatternAlternation,
// *PatternRepeat, *PatternExclude or *PatternPermute.
type Pattern interface {
	Node
	pattern()
}

// PatternVariable is the name of a row.
type PatternVariable struct {
	Span
	Name string
}

// PatternSequence is patterns one after another, two at least.
type PatternSequence struct {
	Span
	Items []Pattern
}

// PatternAlternation is A | B, two at least.
type PatternAlternation struct {
	Span
	Items []Pattern
}

// PatternRepeat is a pattern with *, +, ? or {n,m}.
type PatternRepeat struct {
	Span
	Pattern Pattern
	// Min is -1 if it is not said: {,m}. Max is -1 if there is no bound.
	Min, Max  int
	Reluctant bool
}

// PatternExclude is {- p -}.
type PatternExclude struct {
	Span
	Pattern Pattern
}

// PatternPermute is PERMUTE(p, …).
type PatternPermute struct {
	Span
	Items []Pattern
}

func (*TableName) relation()      {}
func (*DerivedTable) relation()   {}
func (*FunctionTable) relation()  {}
func (*Unnest) relation()         {}
func (*Aliased) relation()        {}
func (*Snapshot) relation()       {}
func (*Sampled) relation()        {}
func (*Join) relation()           {}
func (*MatchRecognize) relation() {}

func (*PatternVariable) pattern()    {}
func (*PatternSequence) pattern()    {}
func (*PatternAlternation) pattern() {}
func (*PatternRepeat) pattern()      {}
func (*PatternExclude) pattern()     {}
func (*PatternPermute) pattern()     {}

func (n *TableName) children(f func(Node)) {
	f(&n.Name)
	each(n.Hints, f)
}

func (n *DerivedTable) children(f func(Node))  { f(n.Query) }
func (n *FunctionTable) children(f func(Node)) { f(n.Call) }
func (n *Unnest) children(f func(Node))        { each(n.Args, f) }

func (n *Aliased) children(f func(Node)) {
	f(n.Relation)
	f(&n.Alias)
	names(n.Columns, f)
}

func (n *Snapshot) children(f func(Node)) {
	f(n.Relation)
	f(n.Time)
}

func (n *Sampled) children(f func(Node)) {
	f(n.Relation)
	f(n.Argument)
	expr(n.Repeatable, f)
}

func (n *Join) children(f func(Node)) {
	f(n.Left)
	f(n.Right)
	expr(n.Match, f)
	expr(n.On, f)
	names(n.Using, f)
}

func (n *MatchRecognize) children(f func(Node)) {
	f(n.Relation)
	each(n.PartitionBy, f)
	each(n.OrderBy, f)
	each(n.Measures, f)
	some(n.After, f)
	f(n.Pattern)
	expr(n.Within, f)
	each(n.Subsets, f)
	each(n.Define, f)
}

func (n *AfterMatch) children(f func(Node)) { some(n.Variable, f) }

func (n *PatternSubset) children(f func(Node)) {
	f(&n.Name)
	names(n.Members, f)
}

func (n *PatternDefinition) children(f func(Node)) {
	f(&n.Name)
	f(n.Condition)
}

func (*PatternVariable) children(func(Node))        {}
func (n *PatternSequence) children(f func(Node))    { each(n.Items, f) }
func (n *PatternAlternation) children(f func(Node)) { each(n.Items, f) }
func (n *PatternRepeat) children(f func(Node))      { f(n.Pattern) }
func (n *PatternExclude) children(f func(Node))     { f(n.Pattern) }
func (n *PatternPermute) children(f func(Node))     { each(n.Items, f) }
