package bind

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/parse"
	"github.com/weirstream/weir/types"
)

// relation is a table of a FROM, as names see it.
type relation struct {
	// path is what the relation may be called: an alias, or a table's whole path.
	path   []string
	fields []types.Field
	offset int  // of its first column among all
	hidden bool // no name finds it
}

// scope is what names mean over the columns of a FROM.
type scope struct {
	b         *binder
	relations []relation
	width     int
	// merged are the columns of USING and NATURAL, which belong to no relation alone.
	merged []merged
	// outer is the scope of the query around; nil: none.
	outer expr.Scope
	ctes  *commonTables
}

// merged is a column that two relations have in common.
type merged struct {
	name    string
	value   expr.Expr
	columns []int // which it stands for
	// natural says that it is of a NATURAL JOIN: then its name alone is ambiguous, as in
	// Flink, and only * gives it.
	natural bool
}

// add puts a relation to the right.
func (s *scope) add(path []string, fields []types.Field) {
	s.relations = append(s.relations, relation{path: path, fields: fields, offset: s.width})
	s.width += len(fields)
}

// nothing puts a row into a scope that has no relation to begin with.
func nothing(s *scope) logical.Node {
	n := logical.Nothing()
	s.add(nil, n.Row)
	s.relations[len(s.relations)-1].hidden = true
	return n
}

// fields are all columns.
func (s *scope) fields() []types.Field {
	all := make([]types.Field, 0, s.width)
	for _, r := range s.relations {
		all = append(all, r.fields...)
	}
	return all
}

func input(index int, f types.Field, at ast.Span) *expr.Input {
	return &expr.Input{Index: index, Name: f.Name, T: f.Type, At: at}
}

// Column resolves a name: a column, or one with its table before it.
func (s *scope) Column(parts []ast.Name) (expr.Expr, int, error) {
	at := parts[0].Span
	if m, ok := s.mergedColumn(parts[0].Text); ok && (len(parts) == 1 || m.value != nil && m.value.Type().Kind.IsComposite()) {
		if m.natural {
			return nil, 0, expr.Refuse(at, "Column '%s' is ambiguous: write the table before it, or join with USING (%s)", m.name, m.name)
		}
		return m.value, 1, nil
	}
	if e, n, err := s.own(parts, at); e != nil || err != nil {
		if outer, used, ok := s.aroundOf(e, parts, n); ok {
			return outer, used, nil
		}
		if e != nil {
			s.b.full.column(parts, n, s.called(e))
		}
		return e, n, err
	}
	if s.outer != nil {
		if e, n, err := s.outer.Column(parts); err == nil {
			return outward(e), n, nil
		}
	}
	return nil, 0, s.unknown(parts)
}

// aroundOf resolves a name of several parts whose first is a column without fields: then a
// table of a query around may be called so.
func (s *scope) aroundOf(column expr.Expr, parts []ast.Name, used int) (expr.Expr, int, bool) {
	if column == nil || s.outer == nil || used == len(parts) || column.Type().Kind.IsComposite() {
		return nil, 0, false
	}
	e, n, err := s.outer.Column(parts)
	if err != nil || n == 1 {
		return nil, 0, false
	}
	return outward(e), n, true
}

// mergedColumn finds a column that two relations have in common.
func (s *scope) mergedColumn(name string) (merged, bool) {
	for _, m := range s.merged {
		if m.name == name {
			return m, true
		}
	}
	return merged{}, false
}

// own resolves a name among the scope's own columns; nil if there is none.
func (s *scope) own(parts []ast.Name, at ast.Span) (expr.Expr, int, error) {
	var found expr.Expr
	used := 0
	for _, r := range s.relations {
		for n := 1; n <= len(r.path) && n < len(parts); n++ {
			if !matches(r.path, parts[:n]) {
				continue
			}
			if i := slices.IndexFunc(r.fields, func(f types.Field) bool { return f.Name == parts[n].Text }); i >= 0 {
				if found != nil && used > 0 {
					return nil, 0, expr.Refuse(parts[n].Span, "Table '%s' is ambiguous", dotted(parts[:n]))
				}
				found, used = input(r.offset+i, r.fields[i], at.To(parts[n].Span)), n+1
			}
		}
	}
	if found != nil {
		return found, used, nil
	}
	for _, r := range s.relations {
		if r.hidden {
			continue
		}
		columns, err := s.named(r, parts[0].Text, at)
		if err != nil {
			return nil, 0, err
		}
		if len(columns) > 1 || len(columns) == 1 && found != nil {
			return nil, 0, expr.Refuse(at, "Column '%s' is ambiguous", parts[0].Text)
		}
		if len(columns) == 1 {
			found = columns[0]
		}
	}
	return found, 1, nil
}

// named are a relation's columns of a name; if there is none, the fields so called of its
// columns that are rows.
func (s *scope) named(r relation, name string, at ast.Span) ([]expr.Expr, error) {
	var direct, inner []expr.Expr
	for i, f := range r.fields {
		if f.Name == name {
			direct = append(direct, input(r.offset+i, f, at))
		}
		if !f.Type.Kind.IsComposite() {
			continue
		}
		for k, field := range f.Type.Fields {
			if field.Name != name {
				continue
			}
			e, err := s.b.call("FIELD", at, input(r.offset+i, f, at), expr.Constant(types.Of(types.Int), int32(k)))
			if err != nil {
				return nil, err
			}
			inner = append(inner, e)
		}
	}
	if len(direct) > 0 {
		return direct, nil
	}
	return inner, nil
}

// called is what the relation of one of the scope's columns is called.
func (s *scope) called(e expr.Expr) string {
	in, ok := e.(*expr.Input)
	for _, r := range s.relations {
		if ok && in.Index >= r.offset && in.Index < r.offset+len(r.fields) && len(r.path) > 0 {
			return r.path[len(r.path)-1]
		}
	}
	return ""
}

// matches reports whether a path ends with a name.
func matches(path []string, name []ast.Name) bool {
	path = path[len(path)-len(name):]
	for i, n := range name {
		if n.Text != path[i] {
			return false
		}
	}
	return true
}

// outward is a column of a query around, seen from one query further in.
func outward(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Input:
			return &logical.Outer{Levels: 1, Index: e.Index, Name: e.Name, T: e.T, At: e.At}
		case *logical.Outer:
			o := *e
			o.Levels++
			return &o
		}
		return e
	})
}

// unknown refuses a name, and suggests what is near.
func (s *scope) unknown(parts []ast.Name) error {
	if len(parts) > 1 {
		for _, r := range s.relations {
			if len(r.path) >= len(parts)-1 && matches(r.path, parts[:len(parts)-1]) {
				last := parts[len(parts)-1]
				return expr.Refuse(last.Span, "Column '%s' not found in table '%s'%s", last.Text, dotted(parts[:len(parts)-1]), nearest(last.Text, fieldNames(r.fields)))
			}
		}
		var tables []string
		for _, r := range s.relations {
			if n := len(r.path); n > 0 {
				tables = append(tables, r.path[n-1])
			}
		}
		return expr.Refuse(parts[0].Span, "Table '%s' not found%s", dotted(parts[:len(parts)-1]), nearest(parts[len(parts)-2].Text, tables))
	}
	return expr.Refuse(parts[0].Span, "Column '%s' not found in any table%s", parts[0].Text, nearest(parts[0].Text, fieldNames(s.fields())))
}

func fieldNames(fields []types.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// nearest is "; did you mean 'x'?" if a name is near, or nothing.
func nearest(name string, names []string) string {
	best := parse.Nearest(name, names)
	if best == "" {
		least := 1 + (len(name)+1)/3 // none for a name of one letter
		for _, n := range names {
			if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(n)); d < least {
				best, least = n, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean '" + best + "'?"
}

func dotted(parts []ast.Name) string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.Text
	}
	return strings.Join(list, ".")
}

// Special binds sub-queries.
func (s *scope) Special(e ast.Expr) (expr.Expr, bool, error) {
	return s.b.subquery(e, s, s.ctes)
}
