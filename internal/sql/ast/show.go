package ast

// Show is SHOW of a list of things.
type Show struct {
	Span
	// What is TABLES, VIEWS, MATERIALIZED TABLES, DATABASES, CATALOGS, COLUMNS,
	// FUNCTIONS, USER FUNCTIONS, PROCEDURES, MODULES, FULL MODULES, MODELS,
	// CONNECTIONS, JARS, JOBS, CURRENT CATALOG or CURRENT DATABASE.
	What string
	// Preposition is FROM, IN, or empty; In is the database, catalog or table it
	// names.
	Preposition string
	In          *ObjectName
	NotLike     bool
	// LikeKind is LIKE, ILIKE, or empty.
	LikeKind string
	Like     *StringLiteral
}

// ShowCreate is SHOW CREATE kind name.
type ShowCreate struct {
	Span
	Kind ObjectKind
	Name ObjectName
}

// ShowPartitions is SHOW PARTITIONS table [PARTITION (…)].
type ShowPartitions struct {
	Span
	Table     ObjectName
	Partition *Partition
}

// Describe is DESCRIBE or DESC.
type Describe struct {
	Span
	// Kind is TABLE if none was written.
	Kind     ObjectKind
	Extended bool
	Name     ObjectName
	// Job is the id of DESCRIBE JOB, which has no name.
	Job *StringLiteral
	// Query is the query of DESCRIBE SELECT …, which has no name.
	Query *Query
}

// Explain is EXPLAIN [details] statement, or EXPLAIN PLAN FOR statement.
type Explain struct {
	Span
	// PlanFor is set if PLAN FOR was written.
	PlanFor bool
	// Details are ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE and
	// JSON_EXECUTION_PLAN.
	Details   []string
	Statement Statement
}

// CheckTable is CHECK TABLE t, a statement of Weir's own: connect, read some
// rows, show what their fields parsed to.
type CheckTable struct {
	Span
	Table ObjectName
}

func (*Show) statement()           {}
func (*ShowCreate) statement()     {}
func (*ShowPartitions) statement() {}
func (*Describe) statement()       {}
func (*Explain) statement()        {}
func (*CheckTable) statement()     {}

func (n *Show) children(f func(Node)) {
	some(n.In, f)
	some(n.Like, f)
}

func (n *ShowCreate) children(f func(Node)) { f(&n.Name) }
func (n *Explain) children(f func(Node))    { f(n.Statement) }
func (n *CheckTable) children(f func(Node)) { f(&n.Table) }

func (n *ShowPartitions) children(f func(Node)) {
	f(&n.Table)
	some(n.Partition, f)
}

func (n *Describe) children(f func(Node)) {
	if len(n.Name.Parts) > 0 {
		f(&n.Name)
	}
	some(n.Job, f)
	some(n.Query, f)
}
