package engine

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// The parts of a table that LIKE may take over or leave.
const (
	likeConstraints  = "CONSTRAINTS"
	likeDistribution = "DISTRIBUTION"
	likeGenerated    = "GENERATED"
	likeMetadata     = "METADATA"
	likeOptions      = "OPTIONS"
	likePartitions   = "PARTITIONS"
	likeWatermarks   = "WATERMARKS"
)

// strategies says of each part of the table whether LIKE includes, excludes or overwrites
// it: what was said of the part, or of ALL, or what is usual.
func strategies(l *ast.TableLike) (map[string]string, error) {
	s := map[string]string{}
	all := ""
	for _, o := range l.Options {
		if _, twice := s[o.Feature]; twice || o.Feature == "ALL" && all != "" {
			return nil, expr.Refuse(o.Span, "Each like option feature can be declared only once: %s", o.Feature)
		}
		if o.Strategy == "OVERWRITING" && (o.Feature == "ALL" || o.Feature == likeConstraints || o.Feature == likePartitions || o.Feature == likeDistribution) {
			return nil, expr.Refuse(o.Span, "Illegal merging strategy 'OVERWRITING' for '%s' option.", o.Feature)
		}
		if o.Feature == "ALL" {
			all = o.Strategy
		} else {
			s[o.Feature] = o.Strategy
		}
	}
	for _, f := range []string{likeConstraints, likeDistribution, likeGenerated, likeMetadata, likeOptions, likePartitions, likeWatermarks} {
		switch {
		case s[f] != "":
		case all != "":
			s[f] = all
		case f == likeOptions:
			s[f] = "OVERWRITING"
		default:
			s[f] = "INCLUDING"
		}
	}
	return s, nil
}

// like begins a table with what it takes over from another.
func (st *statement) like(c *ast.CreateTable) (*catalog.Table, error) {
	path, err := st.qualify(&c.Like.Table)
	if err != nil {
		return nil, err
	}
	from, err := st.names.Table(path)
	switch {
	case err != nil:
		return nil, err
	case from == nil:
		return nil, expr.Refuse(c.Like.Table.Span, "Source table '%s' of the LIKE clause not found in the catalog", path.Quoted())
	case from.Kind != catalog.BaseTable:
		return nil, expr.Refuse(c.Like.Table.Span, "Source table '%s' of the LIKE clause can not be a VIEW", path.Quoted())
	}
	how, err := strategies(c.Like)
	if err != nil {
		return nil, err
	}
	t := from.Clone()
	t.Kept, t.Statistics = nil, nil
	if t.Options == nil || how[likeOptions] == "EXCLUDING" {
		t.Options = map[string]string{}
	}
	if how[likeOptions] == "INCLUDING" {
		for _, o := range c.Options {
			if _, there := t.Options[o.Key.Value]; there {
				return nil, expr.Refuse(o.Span, "There already exists an option ['%s' -> '%s']  in the base table. You might want to specify EXCLUDING OPTIONS or OVERWRITING OPTIONS.", o.Key.Value, t.Options[o.Key.Value])
			}
		}
	}
	if err := likeColumns(t, c, how); err != nil {
		return nil, err
	}
	return t, likeRest(t, c, how)
}

// likeColumns leaves out the columns that are not taken over, or are declared again.
func likeColumns(t *catalog.Table, c *ast.CreateTable, how map[string]string) error {
	again := map[string]*ast.Column{}
	for _, e := range c.Elements {
		if column, ok := e.(*ast.Column); ok {
			again[column.Name.Last()] = column
		}
	}
	var kept []catalog.Column
	for _, column := range t.Schema.Columns {
		part := likeGenerated
		switch column.Kind {
		case catalog.Physical:
			kept = append(kept, column)
			continue
		case catalog.Metadata:
			part = likeMetadata
		}
		if how[part] == "EXCLUDING" {
			continue
		}
		if twice := again[column.Name]; twice != nil {
			if how[part] != "OVERWRITING" || (twice.Kind == ast.MetadataColumn) != (part == likeMetadata) {
				return expr.Refuse(twice.Span, "A generated column named '%s' already exists in the base table. You might want to specify EXCLUDING %s or OVERWRITING %s.", column.Name, part, part)
			}
			continue
		}
		kept = append(kept, column)
	}
	t.Schema.Columns = kept
	return nil
}

// likeRest takes over what is not columns.
func likeRest(t *catalog.Table, c *ast.CreateTable, how map[string]string) error {
	var key, mark ast.TableElement
	for _, e := range c.Elements {
		switch e := e.(type) {
		case *ast.Constraint:
			key = e
		case *ast.Column:
			if e.Constraint != nil {
				key = e
			}
		case *ast.Watermark:
			mark = e
		}
	}
	names := t.Schema.Names()
	marks := t.Schema.Watermarks
	if how[likeWatermarks] == "EXCLUDING" || how[likeWatermarks] == "OVERWRITING" && mark != nil ||
		slices.ContainsFunc(marks, func(w catalog.Watermark) bool { return !slices.Contains(names, w.Column) }) {
		t.Schema.Watermarks = nil
		for i := range t.Schema.Columns {
			if t.Schema.Columns[i].Type.Time == types.Rowtime {
				t.Schema.Columns[i].Type.Time = types.NoTime
			}
		}
	}
	switch {
	case how[likeConstraints] == "EXCLUDING":
		t.Schema.PrimaryKey = nil
	case t.Schema.PrimaryKey != nil && key != nil:
		return expr.Refuse(key.Range(), "The base table already has a primary key. You might want to specify EXCLUDING CONSTRAINTS.")
	}
	switch {
	case how[likePartitions] == "EXCLUDING":
		t.Partitions = nil
	case len(t.Partitions) > 0 && len(c.PartitionBy) > 0:
		return expr.Refuse(c.PartitionBy[0].Span, "The base table already has partitions defined. You might want to specify EXCLUDING PARTITIONS.")
	}
	switch {
	case how[likeDistribution] == "EXCLUDING":
		t.Distribution = nil
	case t.Distribution != nil && c.Distribution != nil:
		return expr.Refuse(c.Distribution.Span, "The base table already has a distribution defined. You might want to specify EXCLUDING DISTRIBUTION.")
	}
	return nil
}
