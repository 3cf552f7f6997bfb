package catalog

import (
	"maps"
	"slices"

	"github.com/weirstream/weir/types"
)

// TableKind says what stands behind a table's name.
type TableKind uint8

// The kinds of tables.
const (
	// BaseTable is read and written by a connector.
	BaseTable TableKind = iota
	// View is a query.
	View
	// MaterializedTable is read by a connector, and filled by the rows of a query.
	MaterializedTable
)

// String is the kind's name in a sentence.
func (k TableKind) String() string {
	return [...]string{BaseTable: "Table", View: "View", MaterializedTable: "Materialized Table"}[k]
}

// Table is a table or a view.
type Table struct {
	Kind    TableKind
	Schema  Schema
	Comment string
	// Partitions are the columns that a table is partitioned by.
	Partitions []string
	// Distribution says how rows are spread over buckets; nil: not at all.
	Distribution *Distribution
	// Options are those of the connector, and of a view none.
	Options map[string]string
	// Kept are the partitions that were added by hand.
	Kept []Partition
	// Statistics are what ANALYZE TABLE has found; nil: it was not asked.
	Statistics *Statistics
	// Query is that of a view or of a materialized table, with all names written in full.
	Query string
	// Original is the query as it was written.
	Original string
	// Refresh is how a materialized table is filled; nil: it is none.
	Refresh *Refresh
	// Temporary says that it lives as long as the session.
	Temporary bool
}

// Partition is one that was added by hand: the values of some of the columns that the
// table is partitioned by.
type Partition struct {
	Values  map[string]string
	Options map[string]string
}

// Statistics are what is known of a table's rows.
type Statistics struct {
	Rows    int64
	Columns map[string]ColumnStatistics
}

// ColumnStatistics are what is known of a column's values.
type ColumnStatistics struct{ Distinct, Nulls int64 }

// Distribution is how rows are spread over buckets.
type Distribution struct {
	// Kind is HASH, RANGE or empty, which leaves it to the connector.
	Kind    string
	Keys    []string
	Buckets int // 0: the connector chooses
}

// Schema is what columns a table has.
type Schema struct {
	Columns    []Column
	Watermarks []Watermark
	PrimaryKey *PrimaryKey // nil: none
}

// ColumnKind says where a column's values come from.
type ColumnKind uint8

// The kinds of columns.
const (
	// Physical columns are in the data.
	Physical ColumnKind = iota
	// Computed columns are expressions over others.
	Computed
	// Metadata columns come from the connector, beside the data.
	Metadata
)

// Column is one of a table's.
type Column struct {
	Name string
	Type types.Type
	Kind ColumnKind
	// Expression is that of a Computed column, as SQL.
	Expression string
	// MetadataKey is what a Metadata column is called by the connector; empty: as it is
	// here.
	MetadataKey string
	// Virtual says that a Metadata column is not written.
	Virtual bool
	Comment string
}

// Persisted reports whether the column is part of what is written to the table.
func (c Column) Persisted() bool {
	return c.Kind == Physical || c.Kind == Metadata && !c.Virtual
}

// Watermark is how event time is read from a column.
type Watermark struct {
	// Column may have dots, where it lies in a row.
	Column string
	// Expression is that of the watermark, as SQL.
	Expression string
	Type       types.Type
}

// PrimaryKey are columns that no two rows have equal.
type PrimaryKey struct {
	Name    string
	Columns []string
}

// Column gives a column by its name, and where it is.
func (s Schema) Column(name string) (Column, int, bool) {
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, -1, false
	}
	return s.Columns[i], i, true
}

// Names are those of the columns.
func (s Schema) Names() []string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	return names
}

// Row is the type of the table's rows, with all columns.
func (s Schema) Row() []types.Field { return s.fields(func(Column) bool { return true }) }

// Physical is the type of the rows that a connector reads, without metadata.
func (s Schema) Physical() []types.Field {
	return s.fields(func(c Column) bool { return c.Kind == Physical })
}

// Stored is the type of the rows that a connector gives: all columns that are not
// computed.
func (s Schema) Stored() []types.Field {
	return s.fields(func(c Column) bool { return c.Kind != Computed })
}

// Persisted is the type of the rows that are written to the table.
func (s Schema) Persisted() []types.Field { return s.fields(Column.Persisted) }

func (s Schema) fields(which func(Column) bool) []types.Field {
	var fields []types.Field
	for _, c := range s.Columns {
		if which(c) {
			fields = append(fields, types.Field{Name: c.Name, Type: c.Type, Comment: c.Comment})
		}
	}
	return fields
}

// Refresh is how a materialized table is filled.
type Refresh struct {
	// Every is how old its rows may be at most: a count of units, SECOND, MINUTE, HOUR or
	// DAY.
	Every int64
	Unit  string
	// Full says that all rows are written anew time after time; otherwise a stream adds them
	// as they come.
	Full bool
	// Suspended says that it is not filled now.
	Suspended bool
	// Job is the stream's, and Savepoint where it goes on when it is no longer suspended.
	Job, Savepoint string
}

// Clone copies the table, so that the copy may be changed.
func (t *Table) Clone() *Table {
	c := *t
	c.Schema.Columns = slices.Clone(t.Schema.Columns)
	c.Schema.Watermarks = slices.Clone(t.Schema.Watermarks)
	c.Partitions = slices.Clone(t.Partitions)
	c.Options = maps.Clone(t.Options)
	c.Kept = slices.Clone(t.Kept)
	if t.Schema.PrimaryKey != nil {
		key := *t.Schema.PrimaryKey
		key.Columns = slices.Clone(key.Columns)
		c.Schema.PrimaryKey = &key
	}
	if t.Refresh != nil {
		r := *t.Refresh
		c.Refresh = &r
	}
	if t.Distribution != nil {
		d := *t.Distribution
		d.Keys = slices.Clone(d.Keys)
		c.Distribution = &d
	}
	return &c
}

// Function is one of the user's.
type Function struct {
	// Class is how the function is registered.
	Class string
	// Language is JAVA, SCALA, PYTHON or GO.
	Language string
	Using    []Resource
	// Temporary says that it lives as long as the session, and System that it needs no
	// database.
	Temporary, System bool
}

// Resource is a file that a function needs.
type Resource struct{ Kind, Path string }
