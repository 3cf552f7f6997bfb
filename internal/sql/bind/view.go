package bind

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/logical"
)

// View binds the query of a view, and gives its text with all names in full, which means
// the same whatever database is the current one. The tree is not to be used any more.
func View(o Options, q *ast.Query) (logical.Node, string, error) {
	names := &fullNames{tables: map[*ast.ObjectName][]string{}, functions: map[*ast.ObjectName][]string{}, columns: map[*ast.Name]fullColumn{}, stars: map[*ast.Star][]starred{}}
	b := &binder{Options: o, full: names}
	plan, err := b.query(q, nil, nil)
	if err != nil {
		return nil, "", err
	}
	names.expand(q)
	return plan, ast.Quoted(q), nil
}

// fullNames are what the names of a tree stand for. A nil one takes no notes.
type fullNames struct {
	tables, functions map[*ast.ObjectName][]string
	columns           map[*ast.Name]fullColumn
	stars             map[*ast.Star][]starred
}

// fullColumn is a column: the relation's name stands for the parts before the column's.
type fullColumn struct {
	relation string
	used     int
}

// starred is a column of a star.
type starred struct{ relation, name, alias string }

func (f *fullNames) table(name *ast.ObjectName, path []string) {
	if f != nil && len(path) == 3 {
		f.tables[name] = path
	}
}

func (f *fullNames) function(name *ast.ObjectName, path []string) {
	if f != nil && len(path) > 0 {
		f.functions[name] = path
	}
}

func (f *fullNames) column(parts []ast.Name, used int, relation string) {
	if f != nil && relation != "" {
		f.columns[&parts[0]] = fullColumn{relation, used}
	}
}

func (f *fullNames) star(s *ast.Star, relation, name, alias string) {
	if f != nil {
		f.stars[s] = append(f.stars[s], starred{relation, name, alias})
	}
}

// expand puts full names into a tree.
func (f *fullNames) expand(q *ast.Query) {
	ast.Walk(q, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Select:
			f.items(n)
			n.From = f.relation(n.From)
		case *ast.ExplicitTable:
			f.name(&n.Name, f.tables)
		case *ast.TableArgument:
			if name, ok := n.Table.(*ast.TableName); ok {
				f.name(&name.Name, f.tables)
			}
		case *ast.Call:
			f.name(&n.Name, f.functions)
		case *ast.Identifier:
			if c, ok := f.columns[&n.Parts[0]]; ok {
				n.Parts = append([]ast.Name{{Text: c.relation}}, n.Parts[c.used-1:]...)
			}
		}
		return true
	})
}

func (f *fullNames) name(n *ast.ObjectName, full map[*ast.ObjectName][]string) {
	path, ok := full[n]
	if !ok {
		return
	}
	n.Parts = nil
	for _, p := range path {
		n.Parts = append(n.Parts, ast.Name{Text: p})
	}
}

// relation gives tables full names, and their own names as aliases.
func (f *fullNames) relation(r ast.Relation) ast.Relation {
	switch r := r.(type) {
	case *ast.TableName:
		if path, ok := f.tables[&r.Name]; ok {
			f.name(&r.Name, f.tables)
			return &ast.Aliased{Relation: r, Alias: ast.Name{Text: path[2]}}
		}
		return &ast.Aliased{Relation: r, Alias: ast.Name{Text: r.Name.Last()}} // of WITH
	case *ast.Aliased:
		if t, ok := r.Relation.(*ast.TableName); ok {
			f.name(&t.Name, f.tables)
			return r
		}
		r.Relation = f.relation(r.Relation)
	case *ast.Join:
		r.Left, r.Right = f.relation(r.Left), f.relation(r.Right)
	case *ast.Snapshot:
		r.Relation = f.relation(r.Relation)
	case *ast.Sampled:
		r.Relation = f.relation(r.Relation)
	case *ast.MatchRecognize:
		r.Relation = f.relation(r.Relation)
	}
	return r
}

// items writes stars out.
func (f *fullNames) items(s *ast.Select) {
	var items []*ast.SelectItem
	for _, item := range s.Items {
		star, ok := item.Expr.(*ast.Star)
		if !ok || f.stars[star] == nil {
			items = append(items, item)
			continue
		}
		for _, c := range f.stars[star] {
			id := &ast.Identifier{Parts: []ast.Name{{Text: c.name}}}
			if c.relation != "" {
				id.Parts = append([]ast.Name{{Text: c.relation}}, id.Parts...)
			}
			made := &ast.SelectItem{Expr: id}
			if c.alias != c.name {
				made.Alias = &ast.Name{Text: c.alias}
			}
			items = append(items, made)
		}
	}
	s.Items = items
}
