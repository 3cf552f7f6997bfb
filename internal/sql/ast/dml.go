package ast

// Insert is INSERT INTO or INSERT OVERWRITE. The source is any query, VALUES
// too.
type Insert struct {
	Span
	Overwrite bool
	// Upsert is UPSERT INTO, which Flink reads and refuses.
	Upsert    bool
	Table     ObjectName
	Hints     []*Hint
	Partition *Partition
	Columns   []Name
	Query     *Query
	// OnConflict is NOTHING, ERROR, DEDUPLICATE, or empty.
	OnConflict string
}

// Update is UPDATE table SET column = value, … [WHERE].
type Update struct {
	Span
	Table       ObjectName
	Hints       []*Hint
	Alias       *Name
	Assignments []*Assignment
	Where       Expr
}

// Assignment is column = value.
type Assignment struct {
	Span
	Column ObjectName
	Value  Expr
}

// Delete is DELETE FROM table [WHERE].
type Delete struct {
	Span
	Table ObjectName
	Hints []*Hint
	Alias *Name
	Where Expr
}

// Merge is MERGE INTO, which is read and refused: Flink does not run it.
type Merge struct {
	Span
	Table     ObjectName
	Alias     *Name
	Source    Relation
	Condition Expr
	// Update is WHEN MATCHED THEN UPDATE SET, Insert the columns and values of
	// WHEN NOT MATCHED THEN INSERT.
	Update        []*Assignment
	InsertColumns []Name
	InsertValues  []Expr
}

// StatementSet is STATEMENT SET BEGIN …; END: inserts that are one job.
type StatementSet struct {
	Span
	Inserts []Statement
}

// Execute is EXECUTE of a query, an insert or a statement set, which means the
// same as without it.
type Execute struct {
	Span
	Statement Statement
}

// BeginStatementSet is BEGIN STATEMENT SET, which opens a set that
// EndStatementSet closes.
type BeginStatementSet struct{ Span }

// EndStatementSet is END.
type EndStatementSet struct{ Span }

// CompilePlan is COMPILE [AND EXECUTE] PLAN 'file' [IF NOT EXISTS] FOR ….
type CompilePlan struct {
	Span
	Execute     bool
	File        *StringLiteral
	IfNotExists bool
	Statement   Statement
}

// ExecutePlan is EXECUTE PLAN 'file'.
type ExecutePlan struct {
	Span
	File *StringLiteral
}

// Truncate is TRUNCATE TABLE.
type Truncate struct {
	Span
	Table ObjectName
}

// Analyze is ANALYZE TABLE t [PARTITION (…)] COMPUTE STATISTICS [FOR …].
type Analyze struct {
	Span
	Table     ObjectName
	Partition *Partition
	// AllColumns is FOR ALL COLUMNS, Columns FOR COLUMNS a, b.
	AllColumns bool
	Columns    []Name
}

// CallProcedure is CALL procedure(args).
type CallProcedure struct {
	Span
	Call *Call
}

func (*Insert) statement()            {}
func (*Update) statement()            {}
func (*Delete) statement()            {}
func (*Merge) statement()             {}
func (*StatementSet) statement()      {}
func (*Execute) statement()           {}
func (*BeginStatementSet) statement() {}
func (*EndStatementSet) statement()   {}
func (*CompilePlan) statement()       {}
func (*ExecutePlan) statement()       {}
func (*Truncate) statement()          {}
func (*Analyze) statement()           {}
func (*CallProcedure) statement()     {}

func (n *Insert) children(f func(Node)) {
	f(&n.Table)
	each(n.Hints, f)
	some(n.Partition, f)
	names(n.Columns, f)
	f(n.Query)
}

func (n *Update) children(f func(Node)) {
	f(&n.Table)
	each(n.Hints, f)
	some(n.Alias, f)
	each(n.Assignments, f)
	expr(n.Where, f)
}

func (n *Assignment) children(f func(Node)) {
	f(&n.Column)
	f(n.Value)
}

func (n *Delete) children(f func(Node)) {
	f(&n.Table)
	each(n.Hints, f)
	some(n.Alias, f)
	expr(n.Where, f)
}

func (n *Merge) children(f func(Node)) {
	f(&n.Table)
	some(n.Alias, f)
	f(n.Source)
	f(n.Condition)
	each(n.Update, f)
	names(n.InsertColumns, f)
	each(n.InsertValues, f)
}

func (n *StatementSet) children(f func(Node))  { each(n.Inserts, f) }
func (n *Execute) children(f func(Node))       { f(n.Statement) }
func (*BeginStatementSet) children(func(Node)) {}
func (*EndStatementSet) children(func(Node))   {}
func (n *ExecutePlan) children(f func(Node))   { f(n.File) }
func (n *Truncate) children(f func(Node))      { f(&n.Table) }
func (n *CallProcedure) children(f func(Node)) { f(n.Call) }

func (n *CompilePlan) children(f func(Node)) {
	f(n.File)
	f(n.Statement)
}

func (n *Analyze) children(f func(Node)) {
	f(&n.Table)
	some(n.Partition, f)
	names(n.Columns, f)
}
