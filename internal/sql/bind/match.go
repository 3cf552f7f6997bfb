package bind

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/types"
)

// matchRecognize binds MATCH_RECOGNIZE.
func (b *binder) matchRecognize(m *ast.MatchRecognize, s *scope) (logical.Node, error) {
	rows := &scope{b: b, outer: s.outer, ctes: s.ctes}
	input, err := b.from(m.Relation, rows, nil)
	if err != nil {
		return nil, err
	}
	node := &logical.Match{Input: input, Pattern: m.Pattern, AtFirst: m.Start, AtLast: m.End, Defines: map[string]expr.Expr{}}
	names := map[string]bool{}
	for _, e := range m.PartitionBy {
		k, err := b.expression(e, rows)
		if err != nil {
			return nil, err
		}
		in, ok := k.(*expr.Input)
		switch {
		case !ok:
			return nil, expr.Refuse(e.Range(), "PARTITION BY of MATCH_RECOGNIZE takes columns")
		case names[in.Name]:
			return nil, expr.Refuse(e.Range(), "Column '%s' is ambiguous: rows are partitioned by it already", in.Name)
		}
		names[in.Name] = true
		node.Partition = append(node.Partition, in.Index)
	}
	if err := b.matchOrder(node, m, rows); err != nil {
		return nil, err
	}
	scope := &matchScope{b: b, rows: rows, time: node.Order[0].Column}
	if err := scope.pattern(node, m); err != nil {
		return nil, err
	}
	if err := b.matchRest(node, m, rows); err != nil {
		return nil, err
	}
	for _, d := range m.Define {
		scope.defining = d.Name.Text
		if node.Defines[d.Name.Text], err = b.condition(d.Condition, scope, "DEFINE"); err != nil {
			return nil, err
		}
	}
	scope.defining = ""
	for _, item := range m.Measures {
		e, err := b.expression(item.Expr, scope)
		if err != nil {
			return nil, err
		}
		name := item.Alias.Text
		if names[name] {
			return nil, expr.Refuse(item.Alias.Span, "Columns ambiguously defined: {%s}", name)
		}
		names[name] = true
		node.Measures, node.Names = append(node.Measures, e), append(node.Names, name)
	}
	if len(node.Measures) == 0 {
		return nil, expr.Refuse(m.Span, "MATCH_RECOGNIZE needs MEASURES")
	}
	return node, nil
}

// matchOrder binds ORDER BY, which begins with time.
func (b *binder) matchOrder(node *logical.Match, m *ast.MatchRecognize, rows *scope) error {
	for i, item := range m.OrderBy {
		k, err := b.expression(item.Expr, rows)
		if err != nil {
			return err
		}
		in, ok := k.(*expr.Input)
		switch {
		case !ok:
			return expr.Refuse(item.Span, "ORDER BY of MATCH_RECOGNIZE takes columns")
		case i == 0 && b.Session.Streaming && in.T.Time == types.NoTime:
			return expr.Refuse(item.Span, "You must specify either rowtime or proctime for order by as the first one.")
		case i == 0 && !in.T.Kind.IsTimestamp():
			return expr.Refuse(item.Span, "You must specify time point for order by as the first one.")
		}
		key := sortKey(in.Index, item)
		switch {
		case i == 0 && key.Descending && b.Session.Streaming:
			return expr.Refuse(item.Span, "Primary sort order of a streaming table must be ascending on time.")
		case i == 0 && key.Descending:
			return expr.Refuse(item.Span, "Primary sort order of a table must be ascending on time.")
		}
		node.Order = append(node.Order, key)
	}
	switch {
	case len(node.Order) == 0 && b.Session.Streaming:
		return expr.Refuse(m.Span, "You must specify either rowtime or proctime for order by.")
	case len(node.Order) == 0:
		return expr.Refuse(m.Span, "You must specify non-empty order by.")
	}
	return nil
}

// matchRest binds what is said of rows, of what comes after a run, and of its time.
func (b *binder) matchRest(node *logical.Match, m *ast.MatchRecognize, rows *scope) error {
	if m.Rows != "" && m.Rows != "ONE ROW PER MATCH" {
		return expr.Refuse(m.Span, "All rows per match mode is not supported yet.")
	}
	if a := m.After; a != nil {
		node.Skip.Kind = skips[a.Kind]
		if a.Variable != nil {
			if node.Skip.Element = slices.Index(node.Variables, a.Variable.Text); node.Skip.Element < 0 {
				return expr.Refuse(a.Variable.Span, "Unknown pattern '%s'", a.Variable.Text)
			}
		}
	}
	if m.Within == nil {
		return nil
	}
	e, err := b.expression(m.Within, rows)
	if err != nil {
		return err
	}
	c, ok := expr.Fold(e, b.Session).(*expr.Literal)
	switch {
	case !ok || c.IsNull() || c.T.Kind != types.IntervalDayTime:
		return expr.Refuse(m.Within.Range(), "Only constant intervals with millisecond resolution are supported as time constraints of patterns.")
	case c.Value.I64[0] < 0:
		return expr.Refuse(m.Within.Range(), "Interval must be non-negative")
	}
	node.Within = c.Value.I64[0]
	return nil
}

// skips are the places after a run as they are written.
var skips = map[string]pattern.SkipKind{
	"PAST LAST ROW": pattern.PastLastRow, "TO NEXT ROW": pattern.ToNextRow, "TO FIRST": pattern.ToFirst, "TO LAST": pattern.ToLast,
}

// pattern finds the variables of a pattern, those that are only defined, and the names of
// several, and refuses patterns that no run is found by.
func (m *matchScope) pattern(node *logical.Match, clause *ast.MatchRecognize) error {
	var spans []ast.Span
	if err := elements(node, clause.Pattern, &spans); err != nil {
		return err
	}
	m.variables = map[string][]string{}
	for i, v := range node.Variables {
		if m.variables[v] != nil {
			return expr.Refuse(spans[i], "Pattern variables must be unique. That might change in the future.")
		}
		m.variables[v] = []string{v}
	}
	if at, err := pattern.Check(node.Elements); err != nil {
		return expr.Refuse(spans[at], "%s", err)
	}
	for _, s := range clause.Subsets {
		if m.variables[s.Name.Text] != nil {
			return expr.Refuse(s.Name.Span, "Pattern variable '%s' has already been defined", s.Name.Text)
		}
		var members []string
		for _, name := range s.Members {
			if !slices.Contains(node.Variables, name.Text) {
				return expr.Refuse(name.Span, "Unknown pattern '%s'", name.Text)
			}
			members = append(members, name.Text)
		}
		m.variables[s.Name.Text] = members
	}
	defined := map[string]bool{}
	for _, d := range clause.Define {
		name := d.Name.Text
		if defined[name] || m.variables[name] != nil && !slices.Contains(node.Variables, name) {
			return expr.Refuse(d.Name.Span, "Pattern variable '%s' has already been defined", name)
		}
		defined[name], m.variables[name] = true, []string{name}
	}
	return nil
}

// elements adds the variables of a pattern, and where they are written.
func elements(node *logical.Match, p ast.Pattern, spans *[]ast.Span) error {
	add := func(name string, e pattern.Element, at ast.Span) error {
		node.Variables, node.Elements = append(node.Variables, name), append(node.Elements, e)
		*spans = append(*spans, at)
		return nil
	}
	switch p := p.(type) {
	case *ast.PatternVariable:
		return add(p.Name, pattern.One, p.Span)
	case *ast.PatternSequence:
		for _, item := range p.Items {
			if err := elements(node, item, spans); err != nil {
				return err
			}
		}
		return nil
	case *ast.PatternRepeat:
		v, one := p.Pattern.(*ast.PatternVariable)
		if !one {
			return expr.Refuse(p.Span, "Expression not supported: %s Group patterns are not supported yet.", ast.String(p.Pattern))
		}
		return add(v.Name, pattern.Element{Min: p.Min, Max: p.Max, Reluctant: p.Reluctant}, p.Span)
	}
	what := "branching patterns"
	switch p.(type) {
	case *ast.PatternExclude:
		what = "'{-' '-}' patterns"
	case *ast.PatternPermute:
		what = "PERMUTE patterns"
	}
	return expr.Refuse(p.Range(), "Expression not supported: %s. Currently, CEP doesn't support %s.", ast.String(p), what)
}
