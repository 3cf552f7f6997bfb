package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// showCreate writes what was made as the statement that makes it.
func (st *statement) showCreate(s *ast.ShowCreate) (*session.Result, error) {
	text, err := st.created(s)
	if err != nil {
		return nil, err
	}
	return told([]types.Field{column("result", types.String())}, []any{text}), nil
}

func (st *statement) created(s *ast.ShowCreate) (string, error) {
	switch s.Kind {
	case ast.KindCatalog:
		name := s.Name.Last()
		d := st.names.Definition(name)
		if d == nil {
			return "", refused(session.ClassValidation, "Cannot obtain metadata information from Catalog %s.", name)
		}
		return "CREATE CATALOG " + types.Quote(name) + "\n" + commentLine(d.Comment) + optionsText(d.Options), nil
	case ast.KindModel:
		path, m, err := st.model(&s.Name)
		if err != nil {
			return "", err
		}
		return modelText(path, m), nil
	case ast.KindTable, ast.KindView:
	case ast.KindMaterializedTable:
		return st.materializedText(&s.Name)
	default:
		return "", st.lacks(s.Span, s.Kind)
	}
	path, err := st.qualify(&s.Name)
	if err != nil {
		return "", err
	}
	t, err := st.names.Table(path)
	view := s.Kind == ast.KindView
	switch {
	case err != nil:
		return "", err
	case t == nil && view:
		return "", refused(session.ClassValidation, "Could not execute SHOW CREATE VIEW. View with identifier %s does not exist.", path.Quoted())
	case t == nil:
		return "", refused(session.ClassValidation, "Could not execute SHOW CREATE TABLE. Table with identifier %s does not exist.", path.Quoted())
	case !view && t.Kind != catalog.BaseTable:
		what := t.Kind.String()
		return "", refused(session.ClassTable, "SHOW CREATE TABLE is only supported for tables, but %s is a %s. Please use SHOW CREATE %s instead.", path.Quoted(), strings.ToLower(what), strings.ToUpper(what))
	case view && t.Kind != catalog.View:
		what := t.Kind.String()
		return "", refused(session.ClassTable, "SHOW CREATE VIEW is only supported for views, but %s is a %s. Please use SHOW CREATE %s instead.", path.Quoted(), strings.ToLower(what), strings.ToUpper(what))
	case view:
		return viewText(path, t), nil
	}
	return tableText(path, t), nil
}

func viewText(path catalog.Path, v *catalog.Table) string {
	var columns []string
	for _, c := range v.Schema.Columns {
		columns = append(columns, "  "+types.Quote(c.Name)+commentText(c.Comment))
	}
	return create(v.Temporary) + "VIEW " + path.Quoted() + " (\n" + strings.Join(columns, ",\n") + "\n)\n" + commentLine(v.Comment) + "AS " + v.Query + "\n"
}

func create(temporary bool) string {
	if temporary {
		return "CREATE TEMPORARY "
	}
	return "CREATE "
}

func tableText(path catalog.Path, t *catalog.Table) string {
	var lines []string
	for _, c := range t.Schema.Columns {
		lines = append(lines, "  "+columnText(c))
	}
	for _, w := range t.Schema.Watermarks {
		lines = append(lines, "  WATERMARK FOR "+types.Quote(w.Column)+" AS "+w.Expression)
	}
	if k := t.Schema.PrimaryKey; k != nil {
		lines = append(lines, "  CONSTRAINT "+types.Quote(k.Name)+" PRIMARY KEY ("+backQuoted(k.Columns)+") NOT ENFORCED")
	}
	text := create(t.Temporary) + strings.ToUpper(t.Kind.String()) + " " + path.Quoted()
	if len(lines) > 0 {
		text += " (\n" + strings.Join(lines, ",\n") + "\n)"
	}
	text += "\n" + commentLine(t.Comment)
	if t.Distribution != nil {
		text += distributed(t.Distribution) + "\n"
	}
	if len(t.Partitions) > 0 {
		text += "PARTITIONED BY (" + backQuoted(t.Partitions) + ")\n"
	}
	return text + optionsText(t.Options)
}

func columnText(c catalog.Column) string {
	text := types.Quote(c.Name) + " "
	switch c.Kind {
	case catalog.Computed:
		text += "AS " + c.Expression
	case catalog.Metadata:
		text += c.Type.Serializable() + " " + extras(c)
	default:
		text += c.Type.Serializable()
	}
	return text + commentText(c.Comment)
}

func commentText(comment string) string {
	if comment == "" {
		return ""
	}
	return " COMMENT " + ast.QuoteString(comment)
}

func commentLine(comment string) string {
	if comment == "" {
		return ""
	}
	return "COMMENT " + ast.QuoteString(comment) + "\n"
}

func distributed(d *catalog.Distribution) string {
	text := "DISTRIBUTED"
	if len(d.Keys) > 0 {
		text += " BY "
		text += d.Kind + "(" + backQuoted(d.Keys) + ")"
	}
	if d.Buckets > 0 {
		text += fmt.Sprintf(" INTO %d BUCKETS", d.Buckets)
	}
	return text
}

func optionsText(options map[string]string) string {
	if len(options) == 0 {
		return ""
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(options)) {
		lines = append(lines, "  "+ast.QuoteString(k)+" = "+ast.QuoteString(shown(k, options[k])))
	}
	return "WITH (\n" + strings.Join(lines, ",\n") + "\n)\n"
}

// secrets are parts of the keys of options that nobody is to read.
var secrets = []string{"password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params", "service-key", "token", "basic-auth", "jaas.config", "http-headers"}

// shown is an option's value, unless it is secret.
func shown(key, value string) string {
	for _, s := range secrets {
		if strings.Contains(strings.ToLower(key), s) {
			return "****"
		}
	}
	return value
}

func backQuoted(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, types.Quote(n))
	}
	return strings.Join(quoted, ", ")
}

// showPartitions lists the partitions that were added to a table by hand.
func (st *statement) showPartitions(s *ast.ShowPartitions) (*session.Result, error) {
	path, t, err := st.tableOf(&s.Table)
	switch {
	case err != nil:
		return nil, err
	case len(t.Partitions) == 0:
		return nil, refused(session.ClassTable, "Could not execute SHOW PARTITIONS %s: Table %s in catalog %s is not partitioned.", path, path.InDatabase(), path.Catalog)
	}
	wanted := map[string]string{}
	if s.Partition != nil {
		if wanted, err = partition(path, t, s.Partition); err != nil {
			return nil, err
		}
	}
	var rows [][]any
	for _, p := range t.Kept {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(wanted)), func(k string) bool { return p.Values[k] != wanted[k] }) {
			rows = append(rows, []any{partitionName(t, p.Values)})
		}
	}
	return told([]types.Field{column("partition name", types.String())}, rows...), nil
}

// describeCatalog tells of a catalog.
func (st *statement) describeCatalog(d *ast.Describe) (*session.Result, error) {
	name := d.Name.Last()
	made := st.names.Definition(name)
	if made == nil {
		return nil, refused(session.ClassValidation, "Cannot obtain metadata information from Catalog %s.", name)
	}
	rows := [][]any{{"name", name}, {"type", made.Options["type"]}, {"comment", orNull(made.Comment)}}
	if d.Extended {
		for _, k := range slices.Sorted(maps.Keys(made.Options)) {
			if k != "type" {
				rows = append(rows, []any{"option:" + k, shown(k, made.Options[k])})
			}
		}
	}
	return told([]types.Field{column("info name", types.String()), column("info value", types.String())}, rows...), nil
}

// listable refuses a database that is not there.
func (st *statement) listable(in, database string, at ast.Span) error {
	c, err := st.names.Catalog(in)
	if err != nil {
		return err
	}
	switch d, err := c.Database(database); {
	case err != nil:
		return err
	case d == nil:
		return expr.Refuse(at, "Database '%s'.'%s' doesn't exist.", in, database)
	}
	return nil
}
