package bind

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// matchRecognize binds MATCH_RECOGNIZE.
func (b *binder) matchRecognize(m *ast.MatchRecognize, s *scope) (logical.Node, error) {
	rows := &scope{b: b, outer: s.outer, ctes: s.ctes}
	input, err := b.from(m.Relation, rows, nil)
	if err != nil {
		return nil, err
	}
	node := &logical.Match{Input: input, Pattern: m.Pattern, Start: m.Start, End: m.End, Skip: "PAST LAST ROW", Defines: map[string]expr.Expr{}}
	for _, e := range m.PartitionBy {
		k, err := b.expression(e, rows)
		if err != nil {
			return nil, err
		}
		in, ok := k.(*expr.Input)
		if !ok {
			return nil, expr.Refuse(e.Range(), "PARTITION BY of MATCH_RECOGNIZE takes columns")
		}
		node.Partition = append(node.Partition, in.Index)
	}
	if err := b.matchOrder(node, m, rows); err != nil {
		return nil, err
	}
	variables := map[string]bool{}
	if err := checkPattern(m.Pattern, true, variables); err != nil {
		return nil, err
	}
	if err := b.matchRest(node, m, rows, variables); err != nil {
		return nil, err
	}
	scope := &matchScope{b: b, rows: rows, variables: variables}
	for _, d := range m.Define {
		variables[d.Name.Text] = true
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
		if item.Alias == nil {
			return nil, expr.Refuse(item.Span, "a measure needs a name: AS name")
		}
		node.Measures, node.Names = append(node.Measures, e), append(node.Names, item.Alias.Text)
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
		case i == 0 && in.T.Time == types.NoTime:
			return expr.Refuse(item.Span, "You must specify either rowtime or proctime for order by as the first one.")
		}
		key := sortKey(in.Index, item)
		if i == 0 && key.Descending {
			return expr.Refuse(item.Span, "Primary sort order of a streaming table must be ascending on time.")
		}
		node.Order = append(node.Order, key)
	}
	if len(node.Order) == 0 {
		return expr.Refuse(m.Span, "You must specify either rowtime or proctime for order by as the first one.")
	}
	return nil
}

// matchRest binds what is said of rows, of what comes after a run, and of its time.
func (b *binder) matchRest(node *logical.Match, m *ast.MatchRecognize, rows *scope, variables map[string]bool) error {
	if m.Rows != "" && m.Rows != "ONE ROW PER MATCH" {
		return expr.Refuse(m.Span, "%s is not supported: there is ONE ROW PER MATCH", m.Rows)
	}
	if len(m.Subsets) > 0 {
		return expr.Refuse(m.Subsets[0].Span, "SUBSET is not supported")
	}
	if a := m.After; a != nil {
		node.Skip = a.Kind
		if a.Variable != nil {
			if node.SkipVariable = a.Variable.Text; !variables[node.SkipVariable] {
				return expr.Refuse(a.Variable.Span, "Unknown pattern '%s'", node.SkipVariable)
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
	if !ok || c.IsNull() || c.T.Kind != types.IntervalDayTime {
		return expr.Refuse(m.Within.Range(), "WITHIN takes a constant INTERVAL of days to seconds")
	}
	node.Within = c.Value.I64[0]
	return nil
}

// checkPattern collects the variables of a pattern, and refuses what no run is found by.
func checkPattern(p ast.Pattern, last bool, variables map[string]bool) error {
	switch p := p.(type) {
	case *ast.PatternVariable:
		variables[p.Name] = true
		return nil
	case *ast.PatternSequence:
		for i, item := range p.Items {
			if err := checkPattern(item, last && i == len(p.Items)-1, variables); err != nil {
				return err
			}
		}
		return nil
	case *ast.PatternRepeat:
		if _, one := p.Pattern.(*ast.PatternVariable); !one {
			return expr.Refuse(p.Span, "Group patterns are not supported yet: only single variables are repeated")
		}
		switch {
		case last && !p.Reluctant && (p.Max < 0 || p.Max > p.Min && p.Max > 1):
			return expr.Refuse(p.Span, "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either a simple variable or reluctant quantifier.")
		case p.Min == 0 && p.Max > 1:
			return expr.Refuse(p.Span, "the lower bound of a quantifier must be above 0: write * or ? for none")
		case p.Reluctant && p.Min == 0 && p.Max == 1:
			return expr.Refuse(p.Span, "Reluctant optional variables are not supported yet.")
		}
		return checkPattern(p.Pattern, last, variables)
	}
	return expr.Refuse(p.Range(), "alternatives, exclusions and permutations of patterns are not supported")
}

// matchScope is what names mean in MEASURES and DEFINE.
type matchScope struct {
	b         *binder
	rows      *scope
	variables map[string]bool
	// defining is the variable whose condition is bound; empty: measures are.
	defining string
}

// Column resolves A.x: the column of the last row of A; a name alone is of any row.
func (m *matchScope) Column(parts []ast.Name) (expr.Expr, int, error) {
	variable, rest := "", parts
	if len(parts) > 1 && !m.variables[parts[0].Text] {
		return nil, 0, expr.Refuse(parts[0].Span, "Table '%s' not found: it is no variable of the pattern", parts[0].Text)
	} else if len(parts) > 1 {
		variable, rest = parts[0].Text, parts[1:]
	}
	e, used, err := m.rows.own(rest[:1], rest[0].Span)
	if err != nil {
		return nil, 0, err
	}
	in, ok := e.(*expr.Input)
	if !ok {
		return nil, 0, expr.Refuse(rest[0].Span, "Column '%s' not found in table '%s'", rest[0].Text, variable)
	}
	at := parts[0].Span.To(rest[0].Span)
	return &logical.MatchRow{Variable: variable, Column: in.Index, Name: in.Name, T: in.T.OrNull(), At: at}, used + len(parts) - len(rest), nil
}

// Special binds what tells of a run.
func (m *matchScope) Special(e ast.Expr) (expr.Expr, bool, error) {
	if u, ok := e.(*ast.Unary); ok && (u.Op == ast.Final || u.Op == ast.Running) {
		return nil, true, expr.Refuse(u.Span, "%s is not supported in MATCH_RECOGNIZE", u.Op)
	}
	c, ok := e.(*ast.Call)
	if !ok || len(c.Name.Parts) != 1 {
		return nil, false, nil
	}
	var value expr.Expr
	var err error
	switch name := strings.ToUpper(c.Name.Last()); name {
	case "FIRST", "LAST", "PREV", "NEXT":
		value, err = m.navigate(c, name)
	case "CLASSIFIER", "MATCH_NUMBER":
		err = expr.Refuse(c.Span, "%s is not supported in MATCH_RECOGNIZE", name)
	case "MATCH_ROWTIME", "MATCH_PROCTIME":
		value, err = m.time(c, name)
	default:
		call := m.b.aggregate(e)
		if call == nil {
			return nil, false, nil
		}
		value, err = m.aggregate(call)
	}
	return value, true, err
}

// navigate binds FIRST, LAST, PREV and NEXT.
func (m *matchScope) navigate(c *ast.Call, name string) (expr.Expr, error) {
	if len(c.Args) < 1 || len(c.Args) > 2 {
		return nil, expr.Refuse(c.Span, "%s takes a column, and how many rows to pass over", name)
	}
	physical := name == "PREV" || name == "NEXT"
	if physical && m.defining == "" {
		return nil, expr.Refuse(c.Span, "Cannot use PREV/NEXT in MEASURE '%s'", ast.String(c))
	}
	e, err := m.b.expression(c.Args[0], m)
	if err != nil {
		return nil, err
	}
	row, ok := e.(*logical.MatchRow)
	if !ok {
		return nil, expr.Refuse(c.Args[0].Range(), "%s takes a column, such as A.x", name)
	}
	n := 0
	if physical {
		n = 1
	}
	if len(c.Args) == 2 {
		offset, err := m.b.expression(c.Args[1], m)
		if err != nil {
			return nil, err
		}
		l, ok := expr.Fold(offset, m.b.Session).(*expr.Literal)
		if !ok || l.IsNull() || l.T.Kind != types.Int || l.Value.I32[0] < 0 {
			return nil, expr.Refuse(c.Args[1].Range(), "how many rows to pass over must be a constant whole number of 0 or more")
		}
		n = int(l.Value.I32[0])
	}
	found := *row
	found.At = c.Span
	switch name {
	case "FIRST":
		found.First, found.Offset = true, n
	case "LAST":
		found.Offset = n
	case "PREV":
		found.Physical = n
	case "NEXT":
		found.Physical = -n
	}
	return &found, nil
}

// time binds the time of a run, which is that of its last row.
func (m *matchScope) time(c *ast.Call, name string) (expr.Expr, error) {
	if len(c.Args) > 0 {
		return nil, expr.Refuse(c.Span, "%s takes no arguments", name)
	}
	if name == "MATCH_PROCTIME" {
		return m.b.call("PROCTIME", c.Span)
	}
	for i, f := range m.rows.fields() {
		if f.Type.Time == types.Rowtime {
			return &logical.MatchRow{Column: i, Name: f.Name, T: f.Type.NotNull(), At: c.Span}, nil
		}
	}
	return nil, expr.Refuse(c.Span, "MATCH_ROWTIME needs rows in the order of event time")
}

// aggregate binds an aggregate over the rows of one variable.
func (m *matchScope) aggregate(c *aggregateCall) (expr.Expr, error) {
	if c.Quantifier == ast.Distinct {
		return nil, expr.Refuse(c.at, "DISTINCT is not allowed in aggregates of MATCH_RECOGNIZE")
	}
	a := &logical.MatchAggregate{Fn: c.fn, At: c.at}
	first := true
	var args []expr.Expr
	for _, arg := range c.args {
		if _, star := arg.(*ast.Star); star {
			continue
		}
		e, err := m.b.expression(arg, m)
		if err != nil {
			return nil, err
		}
		mixed := false
		args = append(args, expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			row, ok := e.(*logical.MatchRow)
			if !ok {
				return e
			}
			mixed = mixed || !first && row.Variable != a.Variable
			a.Variable, first = row.Variable, false
			return &expr.Input{Index: row.Column, Name: row.Name, T: row.T, At: row.At}
		}))
		if mixed {
			return nil, expr.Refuse(c.at, "an aggregate of MATCH_RECOGNIZE is over the rows of one variable")
		}
	}
	typed, err := m.b.Registry.CallFunction(m.b.Session, c.fn, c.at, args...)
	if err != nil {
		return nil, err
	}
	a.Args, a.T = typed.(*expr.Call).Args, typed.Type()
	return a, nil
}
