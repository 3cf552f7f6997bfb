package ast

// Alter is ALTER of a table, view, materialized table, catalog, database, model
// or connection. ALTER FUNCTION is a CreateFunction.
type Alter struct {
	Span
	Kind ObjectKind
	// Temporary is said of connections only; System too.
	Temporary, System bool
	IfExists          bool
	Name              ObjectName
	Action            AlterAction
}

// AlterAction is what is altered.
type AlterAction interface {
	Node
	alterAction()
}

// RenameTo is RENAME TO name.
type RenameTo struct {
	Span
	Name ObjectName
}

// RenameColumn is RENAME column TO name.
type RenameColumn struct {
	Span
	From, To ObjectName
}

// SetOptions is SET ('k' = 'v', …).
type SetOptions struct {
	Span
	Options []*Option
}

// ResetOptions is RESET ('k', …).
type ResetOptions struct {
	Span
	Keys []*StringLiteral
}

// SetComment is COMMENT 'text' of a catalog.
type SetComment struct {
	Span
	Comment *StringLiteral
}

// AddElements is ADD a column, watermark, constraint, or several in
// parentheses; with Modify it is MODIFY.
type AddElements struct {
	Span
	Modify   bool
	Parens   bool
	Elements []TableElement
}

// AddDistribution is ADD DISTRIBUTION, or MODIFY DISTRIBUTION.
type AddDistribution struct {
	Span
	Modify       bool
	Distribution *Distribution
}

// DropColumns is DROP column, or DROP (column, …).
type DropColumns struct {
	Span
	Parens  bool
	Columns []*ObjectName
}

// DropPart is DROP WATERMARK, PRIMARY KEY, DISTRIBUTION, or CONSTRAINT name.
type DropPart struct {
	Span
	// Part is one of the words above.
	Part string
	// Name is the constraint's.
	Name *Name
}

// AddPartitions is ADD [IF NOT EXISTS] PARTITION (…) [WITH (…)] ….
type AddPartitions struct {
	Span
	IfNotExists bool
	Partitions  []*Partition
}

// DropPartitions is DROP [IF EXISTS] PARTITION (…), ….
type DropPartitions struct {
	Span
	IfExists   bool
	Partitions []*Partition
}

// Partition is PARTITION (column = value, …), and the options of a new one.
type Partition struct {
	Span
	Values []*PartitionValue
	// With is set if WITH was written.
	With    bool
	Options []*Option
}

// PartitionValue is column = literal.
type PartitionValue struct {
	Span
	Column Name
	// Value is nil where a column alone is allowed.
	Value Expr
}

// AlterQuery is AS query, of a view or materialized table.
type AlterQuery struct {
	Span
	Query *Query
}

// AlterRefresh is SUSPEND, RESUME, REFRESH, SET FRESHNESS or SET REFRESH_MODE of
// a materialized table.
type AlterRefresh struct {
	Span
	// Action is SUSPEND, RESUME, REFRESH, FRESHNESS, REFRESH_MODE, or RESET
	// REFRESH_MODE or RESET FRESHNESS.
	Action string
	// Options belong to RESUME (With is set if WITH was written), Partition to
	// REFRESH, Freshness and Mode to those.
	With      bool
	Options   []*Option
	Partition *Partition
	Freshness Expr
	Mode      string
}

func (*Alter) statement() {}

func (*RenameTo) alterAction()        {}
func (*RenameColumn) alterAction()    {}
func (*SetOptions) alterAction()      {}
func (*ResetOptions) alterAction()    {}
func (*SetComment) alterAction()      {}
func (*AddElements) alterAction()     {}
func (*AddDistribution) alterAction() {}
func (*DropColumns) alterAction()     {}
func (*DropPart) alterAction()        {}
func (*AddPartitions) alterAction()   {}
func (*DropPartitions) alterAction()  {}
func (*AlterQuery) alterAction()      {}
func (*AlterRefresh) alterAction()    {}

func (n *Alter) children(f func(Node)) {
	f(&n.Name)
	f(n.Action)
}

func (n *RenameTo) children(f func(Node)) { f(&n.Name) }

func (n *RenameColumn) children(f func(Node)) {
	f(&n.From)
	f(&n.To)
}

func (n *SetOptions) children(f func(Node))      { each(n.Options, f) }
func (n *ResetOptions) children(f func(Node))    { each(n.Keys, f) }
func (n *SetComment) children(f func(Node))      { f(n.Comment) }
func (n *AddElements) children(f func(Node))     { each(n.Elements, f) }
func (n *AddDistribution) children(f func(Node)) { f(n.Distribution) }
func (n *DropColumns) children(f func(Node))     { each(n.Columns, f) }
func (n *DropPart) children(f func(Node))        { some(n.Name, f) }
func (n *AddPartitions) children(f func(Node))   { each(n.Partitions, f) }
func (n *DropPartitions) children(f func(Node))  { each(n.Partitions, f) }
func (n *AlterQuery) children(f func(Node))      { f(n.Query) }

func (n *Partition) children(f func(Node)) {
	each(n.Values, f)
	each(n.Options, f)
}

func (n *PartitionValue) children(f func(Node)) {
	f(&n.Column)
	expr(n.Value, f)
}

func (n *AlterRefresh) children(f func(Node)) {
	each(n.Options, f)
	some(n.Partition, f)
	expr(n.Freshness, f)
}
