package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

func pairs(options []*ast.Option) map[string]string {
	m := map[string]string{}
	for _, o := range options {
		m[o.Key.Value] = o.Value.Value
	}
	return m
}

func (st *statement) createDatabase(c *ast.CreateDatabase) (*session.Result, error) {
	in, name, err := st.names.QualifyDatabase(c.Name.Strings())
	if err != nil {
		return nil, expr.Refuse(c.Name.Span, "%v", err)
	}
	if err := st.names.CreateDatabase(in, name, &catalog.Database{Comment: text(c.Comment), Options: pairs(c.Options)}, c.IfNotExists); err != nil {
		return nil, err
	}
	return done(), nil
}

// drop removes what was made.
func (st *statement) drop(d *ast.Drop) (*session.Result, error) {
	var err error
	switch d.Kind {
	case ast.KindMaterializedTable:
		err = st.dropMaterialized(d)
	case ast.KindTable, ast.KindView:
		kind := catalog.BaseTable
		if d.Kind == ast.KindView {
			kind = catalog.View
		}
		var path catalog.Path
		if path, err = st.names.Qualify(d.Name.Strings()); err == nil {
			err = st.names.DropTable(path, kind, d.Temporary, d.IfExists)
		}
	case ast.KindDatabase:
		var in, name string
		if in, name, err = st.names.QualifyDatabase(d.Name.Strings()); err == nil {
			err = st.names.DropDatabase(in, name, d.IfExists, d.Behavior == "CASCADE")
		}
	case ast.KindCatalog:
		if !d.IfExists || slices.Contains(st.names.Catalogs(), d.Name.Last()) {
			if err = st.names.DropCatalog(d.Name.Last()); err != nil {
				err = &catalog.Failure{What: "DROP CATALOG " + d.Name.Last(), Why: err}
			}
		}
	case ast.KindFunction:
		var path catalog.Path
		if path, err = st.functionPath(&d.Name); err == nil {
			err = st.names.DropFunction(path, d.Temporary, d.System, d.IfExists)
		}
	case ast.KindModel:
		var path catalog.Path
		if path, err = st.qualify(&d.Name); err == nil {
			err = st.names.DropModel(path, d.Temporary, d.IfExists)
		}
	default:
		err = st.lacks(d.Span, d.Kind)
	}
	if err != nil {
		return nil, err
	}
	return done(), nil
}

func (st *statement) use(u *ast.Use) (*session.Result, error) {
	if u.Kind == ast.KindCatalog {
		if err := st.names.UseCatalog(u.Name.Last()); err != nil {
			return nil, err
		}
		return done(), nil
	}
	in, name, err := st.names.QualifyDatabase(u.Name.Strings())
	if err == nil {
		err = st.names.UseDatabase(in, name)
	}
	if err != nil {
		return nil, err
	}
	return done(), nil
}

// set changes a setting of the session, or shows all.
func (st *statement) set(s *ast.Set) (*session.Result, error) {
	if s.Key == nil {
		all := st.Settings()
		var rows [][]any
		for _, k := range slices.Sorted(maps.Keys(all)) {
			rows = append(rows, []any{k, all[k]})
		}
		return told([]types.Field{column("key", types.String()), column("value", types.String())}, rows...), nil
	}
	if err := allowed(s.Key.Value, s.Value.Value); err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.own == nil {
		st.own = map[string]string{}
	}
	st.own[s.Key.Value] = s.Value.Value
	return done(), nil
}

// reset takes a setting of the session back, or all.
func (st *statement) reset(r *ast.Reset) (*session.Result, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if r.Key == nil {
		st.own = nil
	} else {
		delete(st.own, r.Key.Value)
	}
	return done(), nil
}

// tableOf finds a table or view.
func (st *statement) tableOf(name *ast.ObjectName) (catalog.Path, *catalog.Table, error) {
	path, err := st.names.Qualify(name.Strings())
	if err != nil {
		return path, nil, expr.Refuse(name.Span, "%v", err)
	}
	t, err := st.names.Table(path)
	if err == nil && t == nil {
		t, err = st.side(path)
	}
	if err == nil && t == nil {
		err = errors.New("Tables or views with the identifier '" + path.String() + "' doesn't exist.")
	}
	return path, t, err
}
