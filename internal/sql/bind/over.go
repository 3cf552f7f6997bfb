package bind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// windows is the step that computes calls with OVER: one after the other for each
// window that the list has.
type windows struct {
	b *binder
	s *selecting
	// rows are columns that the calls work on, beside those that are there.
	rows  []expr.Expr
	overs []*over
}

// over is a window with its calls; columns are places in windows.rows.
type over struct {
	logical.Over
	text string
}

// overRef stands for the result of a call until the step is built.
type overRef struct {
	over, call int
	t          types.Type
	at         ast.Span
}

func (e *overRef) Type() types.Type { return e.t }
func (e *overRef) Span() ast.Span   { return e.at }
func (e *overRef) String() string   { return "OVER#" + strconv.Itoa(e.over) + "." + strconv.Itoa(e.call) }

// has reports whether an expression uses a call with OVER.
func (w *windows) has(e expr.Expr) (has bool) {
	expr.Walk(e, func(e expr.Expr) bool {
		_, is := e.(*overRef)
		has = has || is
		return !has
	})
	return has
}

// ranked are the functions for which a frame says nothing; all but LAG and LEAD, which take
// rows as they come, need an order.
var ranked = map[string]bool{"ROW_NUMBER": true, "RANK": true, "DENSE_RANK": true, "PERCENT_RANK": true, "CUME_DIST": true, "NTILE": true, "LAG": true, "LEAD": true}

// call binds a call with OVER, and gives what stands for its result.
func (w *windows) call(c *ast.Call, s *selecting) (expr.Expr, error) {
	called := w.b.called(c)
	if called == nil {
		return nil, expr.Refuse(c.Span, "OVER must be applied to aggregate function")
	}
	rows := &within{s}
	call, err := w.b.bindAggregate(called, rows, w.row)
	if err != nil {
		return nil, err
	}
	window, err := w.window(c.Over, rows, called.fn)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(w.overs, func(o *over) bool { return o.text == window.text })
	if i < 0 {
		i = len(w.overs)
		w.overs = append(w.overs, window)
	}
	o := w.overs[i]
	call.Name = "w" + strconv.Itoa(i) + "$o" + strconv.Itoa(len(o.Calls))
	o.Calls = append(o.Calls, call)
	return &overRef{i, len(o.Calls) - 1, call.T, c.Span}, nil
}

// within is the scope of what is inside OVER: no other call with OVER.
type within struct{ *selecting }

// Special refuses a call with OVER.
func (s *within) Special(e ast.Expr) (expr.Expr, bool, error) {
	if c, ok := e.(*ast.Call); ok && c.Over != nil {
		return nil, false, expr.Refuse(c.Span, "OVER cannot be used within OVER")
	}
	return s.selecting.Special(e)
}

func (w *windows) row(e expr.Expr) int { return place(&w.rows, e) }

// window binds what follows OVER.
func (w *windows) window(spec *ast.Window, rows expr.Scope, fn *expr.Function) (*over, error) {
	if spec.Reference != nil {
		named, ok := w.s.named[spec.Reference.Text]
		if !ok {
			return nil, expr.Refuse(spec.Reference.Span, "Window '%s' not found", spec.Reference.Text)
		}
		switch r := spec.Reference; {
		case spec.Inline && named.Frame != nil:
			return nil, expr.Refuse(r.Span, "window '%s' has a frame, so that nothing can be added to it", r.Text)
		case len(spec.PartitionBy) > 0 && len(named.PartitionBy) > 0:
			return nil, expr.Refuse(r.Span, "PARTITION BY is not allowed with window '%s', which has one", r.Text)
		case len(spec.OrderBy) > 0 && len(named.OrderBy) > 0:
			return nil, expr.Refuse(spec.OrderBy[0].Expr.Range(), "ORDER BY not allowed in both base and referenced windows")
		}
		merged := *named
		merged.Span = spec.Span
		if len(spec.PartitionBy) > 0 {
			merged.PartitionBy = spec.PartitionBy
		}
		if len(spec.OrderBy) > 0 {
			merged.OrderBy = spec.OrderBy
		}
		if spec.Frame != nil {
			merged.Frame = spec.Frame
		}
		spec = &merged
	}
	o := &over{}
	for _, e := range spec.PartitionBy {
		bound, err := w.b.expression(e, rows)
		if err != nil {
			return nil, err
		}
		o.Partition = append(o.Partition, w.row(bound))
	}
	for _, item := range spec.OrderBy {
		bound, err := w.b.expression(item.Expr, rows)
		if err != nil {
			return nil, err
		}
		o.Order = append(o.Order, sortKey(w.row(bound), item))
	}
	if ranked[fn.Name] && len(o.Order) == 0 && fn.Name != "LAG" && fn.Name != "LEAD" {
		return nil, expr.Refuse(spec.Span, "%s needs an ORDER BY in its OVER", fn.Name)
	}
	if err := w.frame(o, spec, rows, fn); err != nil {
		return nil, err
	}
	o.text = fmt.Sprint(o.Partition, o.Order, o.Frame)
	return o, nil
}

// frame binds the frame: without one, all rows up to the last of the same order, or all
// rows if there is no order.
func (w *windows) frame(o *over, spec *ast.Window, rows expr.Scope, fn *expr.Function) error {
	o.Frame = logical.Frame{Start: logical.Bound{Unbounded: true}, End: logical.Bound{Following: true, Unbounded: len(o.Order) == 0}}
	if ranked[fn.Name] {
		if spec.Frame != nil {
			return expr.Refuse(spec.Frame.Span, "ROW/RANGE not allowed with %s", fn.Name)
		}
		o.Frame = logical.Frame{Rows: true, Start: logical.Bound{Unbounded: true}, End: logical.Bound{Following: true}}
		return nil
	}
	f := spec.Frame
	if f == nil {
		return nil
	}
	if f.Exclude != "" && f.Exclude != "NO OTHERS" {
		return expr.Refuse(f.Span, "EXCLUDE %s is not supported", f.Exclude)
	}
	o.Frame.Rows = f.Unit == "ROWS"
	switch {
	case o.Frame.Rows:
	case len(o.Order) == 0:
		return expr.Refuse(spec.Span, "Window specification must contain an ORDER BY clause for its RANGE")
	case len(o.Order) > 1:
		return expr.Refuse(f.Span, "RANGE clause cannot be used with compound ORDER BY clause")
	}
	var err error
	if o.Frame.Start, err = w.bound(f.Start, o, rows); err != nil {
		return err
	}
	o.Frame.End = logical.Bound{Following: true}
	if f.Start.Kind == ast.UnboundedFollowing {
		return expr.Refuse(f.Start.Span, "UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary")
	}
	if f.End != nil {
		if f.End.Kind == ast.UnboundedPreceding {
			return expr.Refuse(f.End.Span, "UNBOUNDED PRECEDING cannot be specified for the upper frame boundary")
		}
		if lower, upper := f.Start.Kind, f.End.Kind; lower == ast.CurrentRow && upper == ast.Preceding || lower == ast.Following && (upper == ast.Preceding || upper == ast.CurrentRow) {
			return expr.Refuse(f.End.Span, "Upper frame boundary cannot be %s when lower boundary is %s", upper, lower)
		}
		o.Frame.End, err = w.bound(f.End, o, rows)
	}
	return err
}

func (w *windows) bound(f *ast.FrameBound, o *over, rows expr.Scope) (logical.Bound, error) {
	b := logical.Bound{
		Unbounded: f.Kind == ast.UnboundedPreceding || f.Kind == ast.UnboundedFollowing,
		Following: f.Kind == ast.Following || f.Kind == ast.UnboundedFollowing,
	}
	if f.Offset == nil {
		return b, nil
	}
	offset, err := w.b.expression(f.Offset, rows)
	if err != nil {
		return b, err
	}
	folded, ok := expr.Fold(offset, w.b.Session).(*expr.Literal)
	if !ok || folded.IsNull() {
		return b, expr.Refuse(f.Offset.Range(), "the bound of a window must be a constant")
	}
	if o.Frame.Rows && !folded.T.Kind.IsInteger() {
		return b, expr.Refuse(f.Offset.Range(), "the bound of a ROWS window must be a whole number, and this is of type %s", folded.T.Text())
	}
	if text := expr.Display(folded.T, folded.Value, 0); o.Frame.Rows && strings.HasPrefix(text, "-") {
		return b, expr.Refuse(f.Offset.Range(), "the bound of a ROWS window must be 0 or more, and this is %s", text)
	}
	if !o.Frame.Rows {
		by := w.rows[o.Order[0].Column].Type().Kind
		switch interval := folded.T.Kind.IsInterval(); {
		case by.IsNumeric():
			if !folded.T.Kind.IsNumeric() {
				return b, expr.Refuse(f.Offset.Range(), "Data Type mismatch between ORDER BY and RANGE clause: %s and %s", by, folded.T.Text())
			}
		case !by.IsDatetime() && !by.IsInterval():
			return b, expr.Refuse(f.Offset.Range(), "Data type of ORDER BY prohibits use of RANGE clause: it is %s", by)
		case !interval:
			return b, expr.Refuse(f.Offset.Range(), "Data Type mismatch between ORDER BY and RANGE clause: %s and %s", by, folded.T.Text())
		}
	}
	b.Offset = folded
	return b, nil
}

// build makes the step over what is there, and gives the list over what it gives.
func (w *windows) build(plan logical.Node, list []expr.Expr) (logical.Node, []expr.Expr) {
	resolved := make([]expr.Expr, len(list))
	for i, e := range list {
		resolved[i] = w.s.group.resolve(e)
	}
	if len(w.overs) == 0 {
		return plan, resolved
	}
	before := plan.Fields()
	exprs, names := all(before), fieldNames(before)
	columns := make([]int, len(w.rows))
	for i, e := range w.rows {
		e = w.s.group.resolve(e)
		if in, ok := e.(*expr.Input); ok {
			columns[i] = in.Index
			continue
		}
		columns[i] = len(exprs)
		exprs, names = append(exprs, e), append(names, "$f"+strconv.Itoa(len(exprs)))
	}
	plan = project(plan, exprs, names)
	firsts := make([]int, len(w.overs))
	width := len(exprs)
	for i, o := range w.overs {
		firsts[i] = width
		width += len(o.Calls)
		plan = o.at(plan, columns)
	}
	for i, e := range resolved {
		resolved[i] = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			if r, ok := e.(*overRef); ok {
				return &expr.Input{Index: firsts[r.over] + r.call, Name: w.overs[r.over].Calls[r.call].Name, T: r.t, At: r.at}
			}
			return e
		})
	}
	return plan, resolved
}

// at is the operator over a plan, where row i of the step is column columns[i].
func (o *over) at(plan logical.Node, columns []int) logical.Node {
	placed := o.Over
	placed.Input = plan
	placed.Partition = moved(o.Partition, columns)
	placed.Order = movedKeys(o.Order, columns)
	placed.Calls = slices.Clone(o.Calls)
	for i := range placed.Calls {
		c := &placed.Calls[i]
		c.Args, c.Order = moved(c.Args, columns), movedKeys(c.Order, columns)
		if c.Filter >= 0 {
			c.Filter = columns[c.Filter]
		}
	}
	return &placed
}

func moved(places, columns []int) []int {
	to := make([]int, len(places))
	for i, p := range places {
		to[i] = columns[p]
	}
	return to
}

func movedKeys(keys []logical.SortKey, columns []int) []logical.SortKey {
	to := slices.Clone(keys)
	for i := range to {
		to[i].Column = columns[to[i].Column]
	}
	return to
}
