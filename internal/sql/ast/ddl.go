package ast

// ObjectKind is what a CREATE, ALTER, DROP, SHOW or DESCRIBE speaks of.
type ObjectKind string

const (
	KindTable             ObjectKind = "TABLE"
	KindView              ObjectKind = "VIEW"
	KindMaterializedTable ObjectKind = "MATERIALIZED TABLE"
	KindCatalog           ObjectKind = "CATALOG"
	KindDatabase          ObjectKind = "DATABASE"
	KindFunction          ObjectKind = "FUNCTION"
	KindModel             ObjectKind = "MODEL"
	KindConnection        ObjectKind = "CONNECTION"
	KindModule            ObjectKind = "MODULE"
	KindJob               ObjectKind = "JOB"
)

// CreateTable is CREATE [OR REPLACE] TABLE or REPLACE TABLE, with its elements,
// or like another table, or as the result of a query.
type CreateTable struct {
	Span
	// OrReplace is CREATE OR REPLACE, Replace is REPLACE alone.
	OrReplace, Replace bool
	Temporary          bool
	IfNotExists        bool
	Name               ObjectName
	// Parens is set if a list of elements was written.
	Parens       bool
	Elements     []TableElement
	Comment      *StringLiteral
	Distribution *Distribution
	PartitionBy  []Name
	// With is set if WITH was written; its options may be none.
	With    bool
	Options []*Option
	Like    *TableLike
	As      *Query
}

// TableElement is *Column, *Watermark or *Constraint.
type TableElement interface {
	Node
	tableElement()
}

// ColumnKind tells the columns of a table apart.
type ColumnKind string

const (
	// PhysicalColumn is stored: name type.
	PhysicalColumn ColumnKind = "PHYSICAL"
	// ComputedColumn is name AS expression.
	ComputedColumn ColumnKind = "COMPUTED"
	// MetadataColumn is name type METADATA.
	MetadataColumn ColumnKind = "METADATA"
	// ColumnReference is a name alone, in CREATE TABLE … AS.
	ColumnReference ColumnKind = "REFERENCE"
)

// Column is one column of a table.
type Column struct {
	Span
	Kind ColumnKind
	// Name has one part, or is a path to a field in ALTER TABLE MODIFY.
	Name ObjectName
	// Type is nil for computed columns and references.
	Type DataType
	// Expr is a computed column's.
	Expr Expr
	// MetadataKey is nil if the key is the column's name.
	MetadataKey *StringLiteral
	Virtual     bool
	// Constraint is PRIMARY KEY or UNIQUE written at the column, or nil.
	Constraint *Constraint
	Comment    *StringLiteral
	// Position is where ALTER TABLE puts the column, or nil.
	Position *ColumnPosition
}

// ColumnPosition is FIRST, or AFTER a column.
type ColumnPosition struct {
	Span
	// After is nil for FIRST.
	After *ObjectName
}

// Watermark is WATERMARK FOR column AS expression.
type Watermark struct {
	Span
	Column ObjectName
	Expr   Expr
}

// Constraint is [CONSTRAINT name] PRIMARY KEY or UNIQUE (columns) [NOT]
// ENFORCED.
type Constraint struct {
	Span
	Name *Name
	// Unique is set for UNIQUE, which Flink does not support.
	Unique bool
	// Columns is empty for a constraint written at its column.
	Columns []Name
	// Enforced is nil if not said.
	Enforced *bool
}

// Distribution is DISTRIBUTED [BY [HASH|RANGE] (columns)] [INTO n BUCKETS].
type Distribution struct {
	Span
	// Kind is HASH, RANGE, or empty.
	Kind    string
	Columns []Name
	// Buckets is nil if not said.
	Buckets *NumberLiteral
}

// TableLike is LIKE table (options).
type TableLike struct {
	Span
	Table   ObjectName
	Options []*LikeOption
}

// LikeOption is INCLUDING ALL and the like.
type LikeOption struct {
	Span
	// Strategy is INCLUDING, EXCLUDING or OVERWRITING.
	Strategy string
	// Feature is ALL, CONSTRAINTS, DISTRIBUTION, GENERATED, METADATA, OPTIONS,
	// PARTITIONS or WATERMARKS.
	Feature string
}

// CreateView is CREATE VIEW.
type CreateView struct {
	Span
	OrReplace   bool
	Temporary   bool
	IfNotExists bool
	Name        ObjectName
	Columns     []Name
	Comment     *StringLiteral
	Query       *Query
}

// CreateCatalog is CREATE CATALOG.
type CreateCatalog struct {
	Span
	IfNotExists bool
	Name        Name
	Comment     *StringLiteral
	// With is set if WITH was written.
	With    bool
	Options []*Option
}

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Span
	IfNotExists bool
	Name        ObjectName
	Comment     *StringLiteral
	// With is set if WITH was written.
	With    bool
	Options []*Option
}

// CreateFunction is CREATE FUNCTION, or ALTER FUNCTION which has the same
// parts.
type CreateFunction struct {
	Span
	// Alter is set for ALTER FUNCTION; IfExists belongs to it.
	Alter, IfExists   bool
	Temporary, System bool
	IfNotExists       bool
	Name              ObjectName
	Class             *StringLiteral
	// Language is JAVA, SCALA, PYTHON, SQL, or empty.
	Language string
	Using    []*FunctionResource
	// With is set if WITH was written.
	With    bool
	Options []*Option
}

// FunctionResource is JAR 'path' or ARTIFACT 'path' of USING.
type FunctionResource struct {
	Span
	// Kind is JAR, ARTIFACT, FILE or ARCHIVE.
	Kind string
	Path *StringLiteral
}

// CreateModel is CREATE MODEL.
type CreateModel struct {
	Span
	Temporary     bool
	IfNotExists   bool
	Name          ObjectName
	Input, Output []*Column
	Comment       *StringLiteral
	// With is set if WITH was written.
	With    bool
	Options []*Option
	As      *Query
}

// CreateConnection is CREATE CONNECTION.
type CreateConnection struct {
	Span
	Temporary, System bool
	IfNotExists       bool
	Name              ObjectName
	Comment           *StringLiteral
	Options           []*Option
}

// CreateMaterializedTable is CREATE [OR ALTER] MATERIALIZED TABLE.
type CreateMaterializedTable struct {
	Span
	OrAlter      bool
	IfNotExists  bool
	Name         ObjectName
	Parens       bool
	Elements     []TableElement
	Comment      *StringLiteral
	Distribution *Distribution
	PartitionBy  []Name
	// With is set if WITH was written.
	With    bool
	Options []*Option
	// Freshness is an IntervalLiteral, or nil.
	Freshness Expr
	// RefreshMode is FULL, CONTINUOUS, or empty.
	RefreshMode string
	As          *Query
}

// Drop is DROP of anything.
type Drop struct {
	Span
	Kind              ObjectKind
	Temporary, System bool
	IfExists          bool
	Name              ObjectName
	// Behavior is CASCADE, RESTRICT, or empty.
	Behavior string
}

func (*CreateTable) statement()             {}
func (*CreateView) statement()              {}
func (*CreateCatalog) statement()           {}
func (*CreateDatabase) statement()          {}
func (*CreateFunction) statement()          {}
func (*CreateModel) statement()             {}
func (*CreateConnection) statement()        {}
func (*CreateMaterializedTable) statement() {}
func (*Drop) statement()                    {}

func (*Column) tableElement()     {}
func (*Watermark) tableElement()  {}
func (*Constraint) tableElement() {}

func (n *CreateTable) children(f func(Node)) {
	f(&n.Name)
	each(n.Elements, f)
	some(n.Comment, f)
	some(n.Distribution, f)
	names(n.PartitionBy, f)
	each(n.Options, f)
	some(n.Like, f)
	some(n.As, f)
}

func (n *Column) children(f func(Node)) {
	f(&n.Name)
	dataType(n.Type, f)
	expr(n.Expr, f)
	some(n.MetadataKey, f)
	some(n.Constraint, f)
	some(n.Comment, f)
	some(n.Position, f)
}

func (n *ColumnPosition) children(f func(Node)) { some(n.After, f) }

func (n *Watermark) children(f func(Node)) {
	f(&n.Column)
	f(n.Expr)
}

func (n *Constraint) children(f func(Node)) {
	some(n.Name, f)
	names(n.Columns, f)
}

func (n *Distribution) children(f func(Node)) {
	names(n.Columns, f)
	some(n.Buckets, f)
}

func (n *TableLike) children(f func(Node)) {
	f(&n.Table)
	each(n.Options, f)
}

func (*LikeOption) children(func(Node)) {}

func (n *CreateView) children(f func(Node)) {
	f(&n.Name)
	names(n.Columns, f)
	some(n.Comment, f)
	f(n.Query)
}

func (n *CreateCatalog) children(f func(Node)) {
	f(&n.Name)
	some(n.Comment, f)
	each(n.Options, f)
}

func (n *CreateDatabase) children(f func(Node)) {
	f(&n.Name)
	some(n.Comment, f)
	each(n.Options, f)
}

func (n *CreateFunction) children(f func(Node)) {
	f(&n.Name)
	f(n.Class)
	each(n.Using, f)
	each(n.Options, f)
}

func (n *FunctionResource) children(f func(Node)) { f(n.Path) }

func (n *CreateModel) children(f func(Node)) {
	f(&n.Name)
	each(n.Input, f)
	each(n.Output, f)
	some(n.Comment, f)
	each(n.Options, f)
	some(n.As, f)
}

func (n *CreateConnection) children(f func(Node)) {
	f(&n.Name)
	some(n.Comment, f)
	each(n.Options, f)
}

func (n *CreateMaterializedTable) children(f func(Node)) {
	f(&n.Name)
	each(n.Elements, f)
	some(n.Comment, f)
	some(n.Distribution, f)
	names(n.PartitionBy, f)
	each(n.Options, f)
	expr(n.Freshness, f)
	some(n.As, f)
}

func (n *Drop) children(f func(Node)) { f(&n.Name) }
