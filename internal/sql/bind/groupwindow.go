package bind

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// groupWindow is a window of time that rows are grouped by: GROUP BY TUMBLE(ts, …). Its
// start, end and time are keys.
type groupWindow struct {
	call             *ast.Call
	start, end, time int // among the keys
}

// groupWindowArgs are the arguments of the windows that can stand in GROUP BY.
var groupWindowArgs = map[string][]string{
	"TUMBLE": {"TIMECOL", "SIZE"}, "HOP": {"TIMECOL", "SLIDE", "SIZE"}, "SESSION": {"TIMECOL", "GAP"},
}

// windowed makes a call in GROUP BY a window; ok is false if it is none.
func (g *grouping) windowed(e ast.Expr) (keys []int, ok bool, err error) {
	c, ok := e.(*ast.Call)
	if !ok || len(c.Name.Parts) != 1 {
		return nil, false, nil
	}
	name := strings.ToUpper(c.Name.Last())
	names, ok := groupWindowArgs[name]
	switch {
	case !ok:
		return nil, false, nil
	case g.window != nil && ast.Equal(g.window.call, c):
		return []int{g.window.start, g.window.end, g.window.time}, true, nil
	case g.window != nil:
		return nil, true, expr.Refuse(c.Span, "Only a single window group function may be used in GROUP BY")
	case len(c.Args) != len(names):
		return nil, true, expr.Refuse(c.Span, "Invalid number of arguments to function '%s': was given %d, takes %s", name, len(c.Args), strings.ToLower(strings.Join(names, ", ")))
	}
	args := map[string]ast.Expr{}
	for i, n := range names {
		args[n] = c.Args[i]
	}
	w := &logical.Window{Kind: windowFunctions[name].kind}
	if w.Input, w.Time, err = g.timed(c, name); err != nil {
		return nil, true, err
	}
	if err := g.b.lengths(w, name, args, g.from, c.Span); err != nil {
		return nil, true, err
	}
	fields := w.Input.Fields()
	w.Zone = fields[w.Time].Type.Kind == types.TimestampLTZ
	for _, f := range w.Fields()[len(fields):] {
		g.keys = append(g.keys, g.from.addHidden(f, c.Span))
	}
	g.s.plan = w
	n := len(g.keys)
	g.window = &groupWindow{c, n - 3, n - 2, n - 1}
	return []int{n - 3, n - 2, n - 1}, true, nil
}

// sessions makes the other keys those that a session is of.
func (g *grouping) sessions(at ast.Span) error {
	if g.window == nil || !g.window.call.Name.Is("SESSION") {
		return nil
	}
	w := g.s.plan.(*logical.Window)
	for i, k := range g.keys {
		if i == g.window.start || i == g.window.end || i == g.window.time {
			continue
		}
		in, ok := k.(*expr.Input)
		if !ok {
			return expr.Refuse(at, "beside a SESSION window, rows are grouped by columns only")
		}
		w.Partition = append(w.Partition, in.Index)
	}
	return nil
}

// timed gives the rows with the time that a window looks at, and its column.
func (g *grouping) timed(c *ast.Call, name string) (logical.Node, int, error) {
	e, err := g.b.expression(c.Args[0], g.from)
	if err != nil {
		return nil, 0, err
	}
	t := e.Type()
	if !t.Kind.IsTimestamp() {
		return nil, 0, expr.Refuse(c.Span, "Cannot apply '$%s' to arguments of type '%s': it takes a time, and then an INTERVAL of days to seconds for each of %s", name, t.Text(), strings.ToLower(strings.Join(groupWindowArgs[name][1:], ", ")))
	}
	if in, ok := e.(*expr.Input); ok {
		return g.s.plan, in.Index, nil
	}
	fields := g.s.plan.Fields()
	g.from.addHidden(types.Field{Name: "$time", Type: t}, c.Span)
	return &logical.Project{Input: g.s.plan, Exprs: append(all(fields), e), Names: append(fieldNames(fields), "$time")}, len(fields), nil
}

// addHidden adds a column that no name finds.
func (s *scope) addHidden(f types.Field, at ast.Span) *expr.Input {
	s.add(nil, []types.Field{f})
	s.relations[len(s.relations)-1].hidden = true
	return input(s.width-1, f, at)
}

// auxiliary binds TUMBLE_START and its like, which tell of the window that rows are
// grouped by; ok is false if the call is another.
func (b *binder) auxiliary(e ast.Expr, g *grouping) (value expr.Expr, ok bool, err error) {
	c, ok := e.(*ast.Call)
	if !ok || len(c.Name.Parts) != 1 {
		return nil, false, nil
	}
	window, what, _ := strings.Cut(strings.ToUpper(c.Name.Last()), "_")
	if groupWindowArgs[window] == nil || what != "START" && what != "END" && what != "ROWTIME" && what != "PROCTIME" {
		return nil, false, nil
	}
	if g == nil || g.window == nil || !g.window.call.Name.Is(window) || !sameArgs(g.window.call.Args, c.Args) {
		return nil, true, expr.Refuse(c.Span, "Call to auxiliary group function '%s' must have matching call to group function '$%s' in GROUP BY clause", strings.ToUpper(c.Name.Last()), window)
	}
	place := map[string]int{"START": g.window.start, "END": g.window.end, "ROWTIME": g.window.time}
	i, ok := place[what]
	if !ok {
		value, err = b.call("PROCTIME", c.Span)
		return value, true, err
	}
	value, _ = g.key(g.keys[i])
	return value, true, nil
}

func sameArgs(a, b []ast.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !ast.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
