package engine

import (
	"regexp"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// showList answers SHOW of a list.
func (st *statement) showList(s *ast.Show) (*session.Result, error) {
	if s.What == "COLUMNS" {
		_, t, err := st.tableOf(s.In)
		if err != nil {
			return nil, err
		}
		return describing(t, keeps(s)), nil
	}
	if s.What == "JOBS" {
		return st.showJobs()
	}
	if s.What == "FULL MODULES" {
		var rows [][]any
		for _, m := range st.modules() {
			rows = append(rows, []any{m, true})
		}
		return told([]types.Field{column("module name", types.String()), column("used", types.Of(types.Boolean))}, rows...), nil
	}
	heading, names, err := st.listed(s)
	if err != nil {
		return nil, err
	}
	keep := keeps(s)
	var rows [][]any
	for _, name := range names {
		if keep(name) {
			rows = append(rows, []any{name})
		}
	}
	return told([]types.Field{column(heading, types.String())}, rows...), nil
}

// listed gives the names that a SHOW lists, and what they are called.
func (st *statement) listed(s *ast.Show) (heading string, names []string, err error) {
	in, database := st.names.Current()
	switch s.What {
	case "CURRENT CATALOG":
		return "current catalog name", []string{in}, nil
	case "CURRENT DATABASE":
		return "current database name", []string{database}, nil
	case "CATALOGS":
		return "catalog name", st.names.Catalogs(), nil
	case "DATABASES":
		if s.In != nil {
			in = s.In.Last()
		}
		c, err := st.names.Catalog(in)
		if err != nil {
			return "", nil, err
		}
		names, err = c.Databases()
		return "database name", names, err
	case "MODULES":
		return "module name", st.modules(), nil
	case "JARS":
		return "jars", nil, nil
	}
	if s.In != nil {
		if in, database, err = st.names.QualifyDatabase(s.In.Strings()); err != nil {
			return "", nil, expr.Refuse(s.In.Span, "%v", err)
		}
		// Functions are listed whatever the database: most are built in.
		if err := st.listable(in, database, s.In.Span); err != nil && s.What != "FUNCTIONS" {
			return "", nil, err
		}
	}
	switch s.What {
	case "TABLES":
		names, err = st.names.Tables(in, database, func(*catalog.Table) bool { return true })
		return "table name", names, err
	case "VIEWS":
		names, err = st.names.Tables(in, database, func(t *catalog.Table) bool { return t.Kind == catalog.View })
		return "view name", names, err
	case "USER FUNCTIONS":
		names, err = st.names.Functions(in, database)
		return "function name", names, err
	case "FUNCTIONS":
		if st.listable(in, database, s.Span) == nil {
			names, err = st.names.Functions(in, database)
		}
		if err != nil || st.unloaded {
			return "function name", names, err
		}
		for _, f := range st.o.Registry.Functions() {
			if f.Form != expr.Operator && !strings.HasPrefix(f.Name, "$") {
				names = append(names, strings.ToLower(f.Name))
			}
		}
		return "function name", names, err
	}
	switch s.What {
	case "MODELS":
		return "model name", st.names.Models(in, database), nil
	case "PROCEDURES":
		return "", nil, refused(session.ClassRefused, "no catalog has procedures")
	case "MATERIALIZED TABLES":
		names, err = st.names.Tables(in, database, func(t *catalog.Table) bool { return t.Kind == catalog.MaterializedTable })
		return "materialized table", names, err
	}
	what := s.Span
	what.Start += len("SHOW ")
	return "", nil, expr.Refuse(what, "SHOW %s is not supported", s.What)
}

// keeps gives the test of a LIKE.
func keeps(s *ast.Show) func(string) bool {
	if s.Like == nil {
		return func(string) bool { return true }
	}
	var pattern strings.Builder
	pattern.WriteString("(?s)^")
	for _, r := range s.Like.Value {
		switch r {
		case '%':
			pattern.WriteString(".*")
		case '_':
			pattern.WriteString(".")
		default:
			pattern.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	text := pattern.String() + "$"
	if s.LikeKind == "ILIKE" {
		text = "(?i)" + text
	}
	matches := regexp.MustCompile(text)
	return func(name string) bool { return matches.MatchString(name) != s.NotLike }
}

// describe tells a table's columns.
func (st *statement) describe(d *ast.Describe) (*session.Result, error) {
	switch {
	case d.Query != nil:
		return nil, expr.Refuse(d.Query.Span, "DESCRIBE takes a table or a view: make a view of the query first")
	case d.Kind == ast.KindCatalog:
		return st.describeCatalog(d)
	case d.Kind == ast.KindFunction:
		return st.describeFunction(d)
	case d.Kind == ast.KindModel:
		return st.describeModel(d)
	case d.Kind == ast.KindJob:
		return st.describeJob(d)
	case d.Kind != ast.KindTable && d.Kind != ast.KindMaterializedTable:
		return nil, st.lacks(d.Name.Span, d.Kind)
	}
	_, t, err := st.tableOf(&d.Name)
	if err != nil {
		return nil, err
	}
	return describing(t, func(string) bool { return true }), nil
}

// describing lists the columns of a table: an empty cell is NULL.
func describing(t *catalog.Table, keep func(string) bool) *session.Result {
	key := map[string]string{}
	if k := t.Schema.PrimaryKey; k != nil {
		for _, c := range k.Columns {
			key[c] = "PRI(" + strings.Join(k.Columns, ", ") + ")"
		}
	}
	marks := map[string]string{}
	for _, w := range t.Schema.Watermarks {
		marks[w.Column] = w.Expression
	}
	schema := []types.Field{column("name", types.String()), column("type", types.String()), column("null", types.Of(types.Boolean)),
		column("key", types.String()), column("extras", types.String()), column("watermark", types.String())}
	commented := false
	for _, c := range t.Schema.Columns {
		commented = commented || c.Comment != ""
	}
	if commented {
		schema = append(schema, column("comment", types.String()))
	}
	var rows [][]any
	for _, c := range t.Schema.Columns {
		if keep(c.Name) {
			row := []any{c.Name, c.Type.Text(), c.Type.Nullable, orNull(key[c.Name]), orNull(extras(c)), orNull(marks[c.Name])}
			if commented {
				row = append(row, orNull(c.Comment))
			}
			rows = append(rows, row)
		}
	}
	return told(schema, rows...)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// extras say where a column's values come from.
func extras(c catalog.Column) string {
	switch c.Kind {
	case catalog.Computed:
		return "AS " + c.Expression
	case catalog.Metadata:
		text := "METADATA"
		if c.MetadataKey != "" {
			text += " FROM '" + c.MetadataKey + "'"
		}
		if c.Virtual {
			text += " VIRTUAL"
		}
		return text
	}
	return ""
}
