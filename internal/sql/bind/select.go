package bind

import (
	"slices"
	"strconv"

	"github.com/weirstream/weir/internal/sql/aggregate"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// generated is the name of a column that has none.
func generated(i int) string { return "EXPR$" + strconv.Itoa(i) }

// selecting is a SELECT while it is bound. Rows go through these steps, those that
// the query has: FROM, WHERE, grouping, HAVING, windows (OVER), the list, DISTINCT, order.
// An expression of the list is bound over what the steps before give.
type selecting struct {
	b     *binder
	from  *scope
	plan  logical.Node
	group *grouping // nil: rows are not grouped
	over  *windows
	named map[string]*ast.Window

	exprs []expr.Expr
	names []string
}

// Column resolves a name over the rows that the list is made of.
func (s *selecting) Column(parts []ast.Name) (expr.Expr, int, error) {
	if s.group != nil {
		return s.group.Column(parts)
	}
	return s.from.Column(parts)
}

// Special binds calls with OVER, and what the steps before compute.
func (s *selecting) Special(e ast.Expr) (expr.Expr, bool, error) {
	if c, ok := e.(*ast.Call); ok && c.Over != nil {
		value, err := s.over.call(c, s)
		return value, true, err
	}
	if value, ok, err := s.b.auxiliary(e, s.group); ok {
		return value, true, err
	}
	if called := s.b.called(e); called != nil && aggregate.OnlyOver(called.fn) {
		return nil, false, expr.Refuse(called.at, "OVER clause is necessary for window functions")
	}
	if s.group != nil {
		return s.group.special(e, s)
	}
	return s.b.subquery(e, s, s.from.ctes)
}

// selection binds a SELECT with the order and the limit of the query that it is the body
// of.
func (b *binder) selection(sel *ast.Select, q *ast.Query, outer expr.Scope, ctes *commonTables) (logical.Node, error) {
	if sel.Stream {
		return nil, expr.Refuse(sel.Span, "SELECT STREAM is not supported: whether a query is a stream is said by execution.runtime-mode")
	}
	s := &selecting{b: b, from: &scope{b: b, outer: outer, ctes: ctes}, named: map[string]*ast.Window{}}
	if err := s.rows(sel); err != nil {
		return nil, err
	}
	for _, w := range sel.Windows {
		if s.named[w.Name.Text] != nil {
			return nil, expr.Refuse(w.Name.Span, "Duplicate window names not allowed: %s", w.Name.Text)
		}
		s.named[w.Name.Text] = w.Window
	}
	s.over = &windows{b: b, s: s}
	if err := s.grouped(sel); err != nil {
		return nil, err
	}
	listed := s.list(sel.Items, b.typed[sel])
	var having expr.Expr
	var err error
	if sel.Having != nil { // what is wrong in it is told before what is wrong in the list
		if having, err = b.condition(sel.Having, s, "HAVING"); err != nil {
			return nil, err
		}
		if s.over.has(having) {
			return nil, expr.Refuse(sel.Having.Range(), "HAVING cannot use OVER: filter in a query around this one")
		}
	}
	if listed != nil {
		return nil, listed
	}
	var qualify expr.Expr
	if sel.Qualify != nil {
		if qualify, err = s.qualify(sel); err != nil {
			return nil, err
		}
	}
	distinct := sel.Quantifier == ast.Distinct
	visible := len(s.exprs)
	keys, err := s.order(q.OrderBy, distinct)
	if err != nil {
		return nil, err
	}
	plan := s.plan
	if s.group != nil {
		if plan, err = s.group.build(plan); err != nil {
			return nil, err
		}
	}
	if having != nil {
		plan = &logical.Filter{Input: plan, Condition: s.group.resolve(having)}
	}
	list := s.exprs
	if qualify != nil {
		list = append(slices.Clone(list), qualify)
	}
	plan, exprs := s.over.build(plan, list)
	if n := len(s.exprs); qualify != nil {
		plan, exprs = &logical.Filter{Input: plan, Condition: exprs[n]}, exprs[:n]
	}
	plan = &logical.Project{Input: plan, Exprs: exprs, Names: s.names}
	if distinct {
		plan = distinctly(plan)
	}
	if plan, err = limit(plan, keys, q); err != nil {
		return nil, err
	}
	if visible < len(exprs) { // columns that only the order needs
		fields := plan.Fields()[:visible]
		plan = &logical.Project{Input: plan, Exprs: all(fields), Names: fieldNames(fields)}
	}
	return plan, nil
}

// distinctly gives equal rows once.
func distinctly(plan logical.Node) logical.Node {
	keys := make([]int, len(plan.Fields()))
	for i := range keys {
		keys[i] = i
	}
	return &logical.Aggregate{Input: plan, Keys: keys}
}

// rows binds FROM and WHERE.
func (s *selecting) rows(sel *ast.Select) error {
	var err error
	if sel.From == nil {
		s.plan = nothing(s.from)
	} else if s.plan, err = s.b.from(sel.From, s.from, nil); err != nil {
		return err
	}
	if err := s.from.hinted(sel.Hints); err != nil || sel.Where == nil {
		return err
	}
	if call := aggregateIn(s.b, sel.Where); call != nil {
		return expr.Refuse(call.Range(), "Aggregate expression is illegal in WHERE clause: use HAVING")
	}
	condition, err := s.b.condition(sel.Where, s.from, "WHERE")
	if err != nil {
		return err
	}
	s.plan = &logical.Filter{Input: s.plan, Condition: condition}
	return nil
}

// list binds the items of the SELECT; typed says that what is around gives the columns
// their types.
func (s *selecting) list(items []*ast.SelectItem, typed bool) error {
	for _, item := range items {
		if star, ok := item.Expr.(*ast.Star); ok {
			if item.Alias != nil {
				return expr.Refuse(star.Span, "Unknown identifier '*': all columns together cannot have a name")
			}
			if err := s.star(star); err != nil {
				return err
			}
			continue
		}
		e, err := s.b.expression(item.Expr, s)
		if err != nil {
			return err
		}
		if l, ok := e.(*expr.Literal); ok && l.T.Kind == types.Null && !typed {
			return expr.Refuse(item.Expr.Range(), "Illegal use of 'NULL': nothing says which type it has; CAST(NULL AS STRING) has one")
		}
		s.names = append(s.names, s.name(item))
		s.exprs = append(s.exprs, e)
	}
	return nil
}

// name is what a column of the list is called.
func (s *selecting) name(item *ast.SelectItem) string {
	if item.Alias != nil {
		return item.Alias.Text
	}
	if e, ok := item.Expr.(*ast.Identifier); ok {
		return e.Parts[len(e.Parts)-1].Text
	}
	return generated(len(s.exprs))
}

// star binds * and t.*: merged columns first, then the others in order.
func (s *selecting) star(star *ast.Star) error {
	hidden := map[int]bool{}
	if len(star.Qualifier) == 0 {
		if len(s.from.relations) == 1 && s.from.relations[0].hidden {
			return expr.Refuse(star.Span, "SELECT * requires a FROM clause")
		}
		for _, m := range s.from.merged {
			if err := s.starred(m.value, m.name, star); err != nil {
				return err
			}
			for _, c := range m.columns {
				hidden[c] = true
			}
		}
	}
	found := false
	for _, r := range s.from.relations {
		if q := star.Qualifier; len(q) > 0 && (len(q) > len(r.path) || !matches(r.path, q)) {
			continue
		}
		if r.hidden {
			continue
		}
		found = true
		for i, f := range r.fields {
			if hidden[r.offset+i] {
				continue
			}
			if err := s.starred(input(r.offset+i, f, star.Span), f.Name, star); err != nil {
				return err
			}
		}
	}
	if !found && len(star.Qualifier) > 0 {
		if ok, err := s.starOfRow(star); ok {
			return err
		}
		return expr.Refuse(star.Qualifier[0].Span, "Unknown identifier '%s'", dotted(star.Qualifier))
	}
	return nil
}

// starOfRow binds r.* of a column that is a row: its fields; ok is false if there is none.
func (s *selecting) starOfRow(star *ast.Star) (ok bool, err error) {
	row, err := s.b.expression(&ast.Identifier{Span: star.Span, Parts: star.Qualifier}, s)
	if err != nil || !row.Type().Kind.IsComposite() {
		return false, nil
	}
	for i, f := range row.Type().Fields {
		e, err := s.b.call("FIELD", star.Span, row, expr.Constant(types.Of(types.Int), int32(i)))
		if err != nil {
			return true, err
		}
		s.names, s.exprs = append(s.names, s.unused(f.Name)), append(s.exprs, e)
	}
	return true, nil
}

func (s *selecting) starred(e expr.Expr, name string, star *ast.Star) error {
	s.b.full.star(star, s.from.called(e), name, s.unused(name))
	if s.group != nil {
		column, ok := s.group.key(e)
		if !ok {
			return expr.Refuse(star.Span, "Expression '%s' is not being grouped", name)
		}
		e = column
	}
	s.names, s.exprs = append(s.names, s.unused(name)), append(s.exprs, e)
	return nil
}

// unused is a name that no column before has: equal ones get a number, as two tables'
// columns do under *.
func (s *selecting) unused(name string) string {
	for i, try := 0, name; ; i, try = i+1, name+strconv.Itoa(i) {
		if !slices.Contains(s.names, try) {
			return try
		}
	}
}
