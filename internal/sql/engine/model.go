package engine

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// createModel makes a model. Models are kept and shown; none can be asked.
func (st *statement) createModel(c *ast.CreateModel) (*session.Result, error) {
	path, err := st.qualify(&c.Name)
	if err != nil {
		return nil, err
	}
	m := &catalog.Model{Options: pairs(c.Options), Comment: text(c.Comment), Temporary: c.Temporary}
	switch {
	case c.As != nil:
		return nil, expr.Refuse(c.As.Span, "CREATE MODEL AS SELECT is not supported: no model can be trained")
	case len(c.Options) == 0:
		return nil, expr.Refuse(c.Span, "Model property list can not be empty.")
	case len(c.Input) > 0 && len(c.Output) == 0:
		return nil, expr.Refuse(c.Span, "Output column list can not be empty with non-empty input column list.")
	case len(c.Output) > 0 && len(c.Input) == 0:
		return nil, expr.Refuse(c.Span, "Input column list can not be empty with non-empty output column list.")
	}
	for _, list := range []struct {
		columns []*ast.Column
		to      *[]types.Field
	}{{c.Input, &m.Input}, {c.Output, &m.Output}} {
		for _, column := range list.columns {
			made, err := declared(column)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, types.Field{Name: made.Name, Type: made.Type, Comment: made.Comment})
		}
	}
	if st.names.Model(path) != nil {
		if c.IfNotExists {
			return done(), nil
		}
		return nil, refused(session.ClassValidation, "Could not execute CreateModel in path %s: Model %s already exists in Catalog %s.", path.Quoted(), path.InDatabase(), path.Catalog)
	}
	st.names.PutModel(path, m)
	return done(), nil
}

// model finds a model.
func (st *statement) model(name *ast.ObjectName) (catalog.Path, *catalog.Model, error) {
	path, err := st.qualify(name)
	if err != nil {
		return path, nil, err
	}
	m := st.names.Model(path)
	if m == nil {
		return path, nil, expr.Refuse(name.Span, "Model %s doesn't exist.", path.Quoted())
	}
	return path, m, nil
}

func (st *statement) alterModel(a *ast.Alter) (*session.Result, error) {
	path, m, err := st.model(&a.Name)
	if err != nil {
		if a.IfExists {
			return done(), nil
		}
		return nil, err
	}
	switch action := a.Action.(type) {
	case *ast.SetOptions:
		if len(action.Options) == 0 {
			return nil, expr.Refuse(action.Span, "ALTER MODEL SET does not support empty option.")
		}
		st.names.PutModel(path, m.WithOptions(pairs(action.Options), nil))
	case *ast.ResetOptions:
		if len(action.Keys) == 0 {
			return nil, expr.Refuse(action.Span, "ALTER MODEL RESET does not support empty key.")
		}
		var keys []string
		for _, k := range action.Keys {
			keys = append(keys, k.Value)
		}
		st.names.PutModel(path, m.WithOptions(nil, keys))
	case *ast.RenameTo:
		to := catalog.Path{Catalog: path.Catalog, Database: path.Database, Object: action.Name.Last()}
		if st.names.Model(to) != nil {
			return nil, expr.Refuse(action.Name.Span, "Model %s already exists", to.Quoted())
		}
		if err := st.names.DropModel(path, m.Temporary, false); err != nil {
			return nil, err
		}
		st.names.PutModel(to, m)
	default:
		return nil, expr.Refuse(a.Action.Range(), "of a model, options can be SET and RESET, and its name changed")
	}
	return done(), nil
}

func (st *statement) describeModel(d *ast.Describe) (*session.Result, error) {
	_, m, err := st.model(&d.Name)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for i, list := range [][]types.Field{m.Input, m.Output} {
		for _, f := range list {
			rows = append(rows, []any{f.Name, f.Type.Text(), f.Type.Nullable, i == 0})
		}
	}
	return told([]types.Field{column("name", types.String()), column("type", types.String()), column("null", types.Of(types.Boolean)), column("is input", types.Of(types.Boolean))}, rows...), nil
}

// modelText writes a model as the statement that makes it.
func modelText(path catalog.Path, m *catalog.Model) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if m.Temporary {
		b.WriteString("TEMPORARY ")
	}
	b.WriteString("MODEL " + path.Quoted() + "\n")
	for i, list := range [][]types.Field{m.Input, m.Output} {
		if len(list) == 0 {
			continue
		}
		var columns []string
		for _, f := range list {
			columns = append(columns, types.Quote(f.Name)+" "+f.Type.Serializable()+commentText(f.Comment))
		}
		b.WriteString([]string{"INPUT", "OUTPUT"}[i] + " (" + strings.Join(columns, ", ") + ")\n")
	}
	if m.Comment != "" {
		b.WriteString("COMMENT " + ast.QuoteString(m.Comment) + "\n")
	}
	return b.String() + optionsText(m.Options)
}
