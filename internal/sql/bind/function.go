package bind

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// windowFunctions are the table functions that cut time, with the names of their
// arguments in order. Those from the number of needed ones on may be left out.
var windowFunctions = map[string]struct {
	kind   logical.WindowKind
	names  []string
	needed int
}{
	"TUMBLE":   {logical.Tumble, []string{"DATA", "TIMECOL", "SIZE", "OFFSET"}, 3},
	"HOP":      {logical.Hop, []string{"DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"}, 4},
	"CUMULATE": {logical.Cumulate, []string{"DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"}, 4},
	"SESSION":  {logical.Session, []string{"DATA", "TIMECOL", "GAP"}, 3},
}

// function binds a call whose result is a table.
func (b *binder) function(f *ast.FunctionTable, s *scope) (logical.Node, error) {
	name := strings.ToUpper(f.Call.Name.Last())
	w, ok := windowFunctions[name]
	if !ok || len(f.Call.Name.Parts) != 1 {
		names := slices.Collect(maps.Keys(windowFunctions))
		if b.FunctionNames != nil {
			names = append(names, b.FunctionNames()...)
		}
		slices.Sort(names) // of names that are as near, always the same is suggested
		return nil, expr.Refuse(f.Call.Span, "No match found for function signature %s: there is no table function of this name%s", f.Call.Name.Last(), nearest(name, names))
	}
	args, err := arranged(f.Call, name, w.names, w.needed)
	if err != nil {
		return nil, err
	}
	node := &logical.Window{Kind: w.kind}
	data := &scope{b: b, outer: s.outer, ctes: s.ctes}
	table, ok := args["DATA"].(*ast.TableArgument)
	if q, query := args["DATA"].(*ast.Subquery); query {
		table, ok = &ast.TableArgument{Span: q.Span, Table: &ast.DerivedTable{Span: q.Span, Query: q.Query}}, true
	}
	if !ok {
		return nil, expr.Refuse(args["DATA"].Range(), "%s takes a table first: TABLE t", name)
	}
	if node.Input, err = b.from(table.Table, data, nil); err != nil {
		return nil, err
	}
	if len(table.PartitionBy) > 0 && node.Kind != logical.Session {
		return nil, expr.Refuse(f.Call.Span, "Only tables with set semantics may be partitioned: %s takes its table without PARTITION BY", name)
	}
	for _, e := range table.PartitionBy {
		key, err := b.expression(e, data)
		if err != nil {
			return nil, err
		}
		in, ok := key.(*expr.Input)
		if !ok {
			return nil, expr.Refuse(e.Range(), "PARTITION BY of a table argument takes columns")
		}
		node.Partition = append(node.Partition, in.Index)
	}
	if node.Time, err = b.timeColumn(args["TIMECOL"], name, data); err != nil {
		return nil, err
	}
	node.Zone = data.fields()[node.Time].Type.Kind == types.TimestampLTZ
	return node, b.lengths(node, name, args, data, f.Call.Span)
}

// arranged gives the arguments by their names, whether they were named or not.
func arranged(c *ast.Call, name string, names []string, needed int) (map[string]ast.Expr, error) {
	if len(c.Args) < needed || len(c.Args) > len(names) {
		return nil, expr.Refuse(c.Span, "Invalid number of arguments to function '%s': was given %d, takes %s", name, len(c.Args), strings.Join(names, ", "))
	}
	args := map[string]ast.Expr{}
	for i, a := range c.Args {
		key, value := names[i], a
		if n, ok := a.(*ast.NamedArgument); ok {
			key, value = strings.ToUpper(n.Name.Text), n.Value
			if i == 0 && key != names[0] && slices.Contains(names, key) {
				return nil, expr.Refuse(n.Span, "the first argument of %s is %s", name, names[0])
			}
			if !slices.Contains(names, key) {
				return nil, expr.Refuse(c.Span, "%s has no argument %s; it takes %s%s", name, n.Name.Text, strings.Join(names, ", "), nearest(n.Name.Text, names))
			}
		}
		args[key] = value
	}
	for _, n := range names[:needed] {
		if args[n] == nil {
			return nil, expr.Refuse(c.Span, "%s needs its argument %s", name, n)
		}
	}
	return args, nil
}

// timeColumn gives the column that a DESCRIPTOR names, which must be a time.
func (b *binder) timeColumn(e ast.Expr, name string, data *scope) (int, error) {
	d, ok := e.(*ast.Descriptor)
	if !ok || len(d.Columns) == 0 {
		return 0, expr.Refuse(e.Range(), "%s takes the time column as DESCRIPTOR(column)", name)
	}
	column, used, err := data.Column(d.Columns[:1])
	if err != nil {
		return 0, err
	}
	in, ok := column.(*expr.Input)
	if !ok || used != 1 {
		return 0, expr.Refuse(d.Span, "DESCRIPTOR must name a column of the table")
	}
	if !in.T.Kind.IsTimestamp() {
		return 0, expr.Refuse(d.Span, "The window function requires the timecol is a time attribute type, but is %s.", in.T.Text())
	}
	return in.Index, nil
}

// lengths binds the lengths of time of a call.
func (b *binder) lengths(node *logical.Window, name string, args map[string]ast.Expr, data *scope, call ast.Span) error {
	for _, l := range []struct {
		arg      string
		to       *int64
		positive bool
	}{{"SIZE", &node.Size, true}, {"GAP", &node.Size, true}, {"SLIDE", &node.Slide, true}, {"STEP", &node.Slide, true}, {"OFFSET", &node.Offset, false}} {
		e, ok := args[l.arg]
		if !ok {
			continue
		}
		bound, err := b.expression(e, data)
		if err != nil {
			return err
		}
		c, ok := expr.Fold(bound, b.Session).(*expr.Literal)
		if !ok || c.IsNull() || c.T.Kind != types.IntervalDayTime {
			return expr.Refuse(call, "%s of %s must be a constant INTERVAL of days to seconds", l.arg, name)
		}
		if *l.to = c.Value.I64[0]; l.positive && *l.to <= 0 {
			return expr.Refuse(e.Range(), "%s of %s must be positive, and this is %d ms", l.arg, name, *l.to)
		}
	}
	switch {
	case node.Slide == 0 || node.Size%node.Slide == 0:
	case node.Kind == logical.Cumulate:
		return expr.Refuse(args["SIZE"].Range(), "CUMULATE table function based aggregate requires maxSize must be an integral multiple of step, but got maxSize %d ms and step %d ms", node.Size, node.Slide)
	case b.Session.Streaming: // batches take windows of any size
		return expr.Refuse(args["SIZE"].Range(), "HOP table function based aggregate requires size must be an integral multiple of slide, but got size %d ms and slide %d ms", node.Size, node.Slide)
	}
	return nil
}
