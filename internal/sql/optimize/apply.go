package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// unapply joins left rows with the rows that right has for them. A condition is over the
// left columns and then the right ones. The result has the columns that a join of the kind
// has.
//
// If right refers to left columns only in conditions that can be asked after it, they
// become part of the join; if it is an aggregate over rows that equal left ones, it is
// grouped by what is equal. Otherwise right is computed once for each distinct combination
// of the left values that it refers to, which become columns of it, and the join compares
// them (Neumann and Kemper, Unnesting Arbitrary Queries, 2015).
func (c *Context) unapply(kind logical.JoinKind, nullAware bool, left, right logical.Node, condition expr.Expr) logical.Node {
	if kind == logical.Left && condition == nil {
		if n := c.regrouped(left, right); n != nil {
			return n
		}
	}
	width, rightWidth := len(left.Fields()), len(right.Fields())
	right, pulled := c.pull(right, width)
	if nullAware {
		for _, part := range expr.Conjuncts(pulled) { // whose rows are none of the sub-query where it is unknown
			condition = c.and(condition, c.call("IS TRUE", part))
		}
	} else {
		condition = c.and(condition, pulled)
	}
	free := referred(right)
	if len(free) == 0 {
		return c.trim(&logical.Join{Kind: kind, Left: left, Right: nearer(right), Condition: condition, NullAware: nullAware}, width, rightWidth)
	}
	d := &domain{c: c, columns: free}
	d.node = distinctColumns(left, free)
	right = d.push(right)
	for i, column := range free {
		f := left.Fields()[column]
		l := &expr.Input{Index: column, Name: f.Name, T: f.Type}
		at := width + len(right.Fields()) - len(free) + i
		condition = c.and(condition, c.call("IS NOT DISTINCT FROM", l, &expr.Input{Index: at, Name: f.Name, T: f.Type}))
	}
	return c.trim(&logical.Join{Kind: kind, Left: left, Right: right, Condition: condition, NullAware: nullAware}, width, rightWidth)
}

// trim leaves out the columns that a join has only for its condition.
func (c *Context) trim(j *logical.Join, left, right int) logical.Node {
	fields := j.Fields()
	if j.Kind == logical.Semi || j.Kind == logical.Anti || len(fields) == left+right {
		return j
	}
	fields = fields[:left+right]
	return &logical.Project{Input: j, Exprs: columnsOf(fields), Names: namesOf(fields)}
}

// distinctColumns are the distinct combinations of some columns.
func distinctColumns(n logical.Node, columns []int) logical.Node {
	fields := n.Fields()
	p := &logical.Project{Input: n}
	keys := make([]int, len(columns))
	for i, column := range columns {
		f := fields[column]
		p.Exprs, p.Names = append(p.Exprs, &expr.Input{Index: column, Name: f.Name, T: f.Type}), append(p.Names, f.Name)
		keys[i] = i
	}
	return &logical.Aggregate{Input: p, Keys: keys}
}

// referred are the columns of the next query out that a tree refers to.
func referred(n logical.Node) []int {
	var found []int
	logical.WalkExprs(n, func(e expr.Expr) bool {
		if o, ok := e.(*logical.Outer); ok && o.Levels == 1 {
			found = append(found, o.Index)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// refers reports whether expressions refer to the next query out.
func refers(es ...expr.Expr) (does bool) {
	for _, e := range es {
		if e == nil {
			continue
		}
		expr.Walk(e, func(e expr.Expr) bool {
			o, ok := e.(*logical.Outer)
			does = does || ok && o.Levels == 1
			return !does
		})
	}
	return does
}

// nearer is a tree that has become part of the next query out.
func nearer(n logical.Node) logical.Node {
	return logical.Rewrite(n, func(n logical.Node) logical.Node {
		return logical.MapExprs(n, nearerExpr)
	})
}

// nearerExpr is an expression that has become part of the next query out.
func nearerExpr(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if o, ok := e.(*logical.Outer); ok {
			moved := *o
			moved.Levels--
			return &moved
		}
		return e
	})
}

// pull takes conditions that refer to the next query out from the top of a tree. They come
// back over the left columns, of which there are so many, and the right ones; columns that
// they need and the tree does not give are added behind its own.
func (c *Context) pull(n logical.Node, left int) (logical.Node, expr.Expr) {
	switch n := n.(type) {
	case *logical.Filter:
		in, pulled := c.pull(n.Input, left)
		var stay expr.Expr
		for _, part := range expr.Conjuncts(n.Condition) {
			if refers(part) {
				pulled = c.and(pulled, inside(part, left))
			} else {
				stay = c.and(stay, part)
			}
		}
		if stay == nil {
			return in, pulled
		}
		return &logical.Filter{Input: in, Condition: stay}, pulled
	case *logical.Project:
		if refers(n.Exprs...) {
			return n, nil
		}
		in, pulled := c.pull(n.Input, left)
		if pulled == nil {
			return n, nil
		}
		p := &logical.Project{Input: in, Exprs: slices.Clone(n.Exprs), Names: slices.Clone(n.Names)}
		return p, expr.Rewrite(pulled, func(e expr.Expr) expr.Expr {
			i, ok := e.(*expr.Input)
			if !ok || i.Index < left {
				return e
			}
			from := *i
			from.Index -= left
			at := slices.IndexFunc(p.Exprs, func(e expr.Expr) bool { return e.String() == from.String() })
			if at < 0 {
				at = len(p.Exprs)
				p.Exprs, p.Names = append(p.Exprs, &from), append(p.Names, from.Name)
			}
			moved := *i
			moved.Index = left + at
			return &moved
		})
	}
	return n, nil
}

// inside is a condition of the right side over left columns and then right ones.
func inside(e expr.Expr, left int) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Input:
			moved := *e
			moved.Index += left
			return &moved
		case *logical.Outer:
			if e.Levels == 1 {
				return &expr.Input{Index: e.Index, Name: e.Name, T: e.T, At: e.At}
			}
			moved := *e
			moved.Levels--
			return &moved
		}
		return e
	})
}

// domain are the combinations of left values that a right side is computed for.
type domain struct {
	c       *Context
	node    logical.Node
	columns []int // of the left side
}

// push makes a tree that gives its rows for each combination, whose columns come behind
// its own.
func (d *domain) push(n logical.Node) logical.Node {
	if len(referred(n)) == 0 {
		return &logical.Join{Left: nearer(n), Right: d.node}
	}
	switch n := n.(type) {
	case *logical.Filter:
		in := d.push(n.Input)
		return &logical.Filter{Input: in, Condition: d.resolve(n.Condition, in)}
	case *logical.Project:
		in := d.push(n.Input)
		p := &logical.Project{Input: in, Names: slices.Clone(n.Names)}
		for _, e := range n.Exprs {
			p.Exprs = append(p.Exprs, d.resolve(e, in))
		}
		own := d.own(in)
		return &logical.Project{Input: in, Exprs: append(p.Exprs, own...), Names: append(p.Names, inputNames(own)...)}
	case *logical.Values:
		return d.push(d.c.rows(n))
	case *logical.Aggregate:
		return d.aggregate(n)
	case *logical.Join:
		return d.join(n)
	case *logical.Sort:
		return d.sort(n)
	case *logical.SetOperation:
		s := &logical.SetOperation{Kind: n.Kind, All: n.All, Row: slices.Clone(n.Row)}
		for _, in := range n.Of {
			s.Of = append(s.Of, d.push(in))
		}
		s.Row = append(s.Row, d.node.Fields()...)
		return s
	case *logical.Over:
		in := d.push(n.Input)
		width := len(n.Input.Fields())
		o := *n
		o.Input = in
		o.Partition = slices.Clone(n.Partition)
		for i := range d.columns {
			o.Partition = append(o.Partition, width+i)
		}
		return d.last(&o, width)
	case *logical.Unnest:
		in := d.push(n.Input)
		u := *n
		u.Input, u.Collection = in, d.resolve(n.Collection, in)
		return d.last(&u, len(n.Input.Fields()))
	case *logical.Window:
		w := *n
		w.Input = d.push(n.Input)
		return d.last(&w, len(n.Input.Fields()))
	case *logical.Expand:
		in := d.push(n.Input)
		e := &logical.Expand{Input: in, Row: append(slices.Clone(n.Row), d.node.Fields()...)}
		for _, l := range n.Lists {
			var list []expr.Expr
			for _, x := range l {
				list = append(list, d.resolve(x, in))
			}
			e.Lists = append(e.Lists, append(list, d.own(in)...))
		}
		return e
	}
	panic("a sub-query refers to the query around it in an operator that cannot")
}

// own are the combination's columns of a tree.
func (d *domain) own(n logical.Node) []expr.Expr {
	fields := n.Fields()
	first := len(fields) - len(d.columns)
	return columnsOf(fields)[first:]
}

func inputNames(es []expr.Expr) []string {
	names := make([]string, len(es))
	for i, e := range es {
		names[i] = e.(*expr.Input).Name
	}
	return names
}

// resolve replaces references to the left side by the combination's columns of in.
func (d *domain) resolve(e expr.Expr, in logical.Node) expr.Expr {
	own := d.own(in)
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		o, ok := e.(*logical.Outer)
		switch {
		case !ok:
			return e
		case o.Levels > 1:
			moved := *o
			moved.Levels--
			return &moved
		}
		return own[slices.Index(d.columns, o.Index)]
	})
}

// last puts the combination's columns, which begin at first, behind the others.
func (d *domain) last(n logical.Node, first int) logical.Node {
	columns := columnsOf(n.Fields())
	exprs := slices.Concat(columns[:first], columns[first+len(d.columns):], columns[first:first+len(d.columns)])
	return &logical.Project{Input: n, Exprs: exprs, Names: inputNames(exprs)}
}

// aggregate groups by the combination, too. Without keys each combination has a row, even
// of no rows.
func (d *domain) aggregate(n *logical.Aggregate) logical.Node {
	in := d.push(n.Input)
	first := len(in.Fields()) - len(d.columns)
	a := &logical.Aggregate{Input: in, Keys: slices.Clone(n.Keys), Calls: n.Calls}
	for i := range d.columns {
		a.Keys = append(a.Keys, first+i)
	}
	if len(n.Keys) > 0 {
		return d.last(a, len(n.Keys))
	}
	var condition expr.Expr
	fields := d.node.Fields()
	for i, f := range fields {
		l := &expr.Input{Index: i, Name: f.Name, T: f.Type}
		condition = d.c.and(condition, d.c.call("IS NOT DISTINCT FROM", l, &expr.Input{Index: len(fields) + i, Name: f.Name, T: f.Type}))
	}
	j := &logical.Join{Kind: logical.Left, Left: d.node, Right: a, Condition: condition}
	columns := columnsOf(j.Fields())
	p := &logical.Project{Input: j}
	for i, call := range n.Calls {
		value := columns[2*len(fields)+i]
		if call.Fn.Name == "COUNT" {
			value = d.c.call("COALESCE", value, expr.Constant(types.Of(types.BigInt).NotNull(), int64(0)))
		}
		p.Exprs, p.Names = append(p.Exprs, value), append(p.Names, call.Name)
	}
	p.Exprs, p.Names = append(p.Exprs, columns[:len(fields)]...), append(p.Names, namesOf(fields)...)
	return p
}

// join computes for each combination the sides that refer to it, and joins them within
// it.
func (d *domain) join(n *logical.Join) logical.Node {
	leftWidth, rightWidth, k := len(n.Left.Fields()), len(n.Right.Fields()), len(d.columns)
	semi := n.Kind == logical.Semi || n.Kind == logical.Anti
	left := d.push(n.Left)
	right, both := nearer(n.Right), false
	if len(referred(n.Right)) > 0 || n.Kind == logical.Right || n.Kind == logical.Full {
		right, both = d.push(n.Right), true
	}
	// The left combination lies between the left columns and the right ones.
	var condition expr.Expr
	own := d.own(left)
	if n.Condition != nil {
		condition = expr.Rewrite(n.Condition, func(e expr.Expr) expr.Expr {
			switch e := e.(type) {
			case *expr.Input:
				if e.Index >= leftWidth {
					moved := *e
					moved.Index += k
					return &moved
				}
			case *logical.Outer:
				if e.Levels == 1 {
					return own[slices.Index(d.columns, e.Index)]
				}
				moved := *e
				moved.Levels--
				return &moved
			}
			return e
		})
	}
	if both {
		for i, o := range own {
			in := o.(*expr.Input)
			condition = d.c.and(condition, d.c.call("IS NOT DISTINCT FROM", in, &expr.Input{Index: leftWidth + k + rightWidth + i, Name: in.Name, T: in.T}))
		}
	}
	j := &logical.Join{Kind: n.Kind, Left: left, Right: right, Condition: condition, NullAware: n.NullAware}
	if semi {
		return j
	}
	columns := columnsOf(j.Fields())
	exprs := slices.Concat(columns[:leftWidth], columns[leftWidth+k:leftWidth+k+rightWidth])
	combination := slices.Clone(columns[leftWidth : leftWidth+k])
	if n.Kind == logical.Right || n.Kind == logical.Full {
		for i, e := range combination {
			right := columns[leftWidth+k+rightWidth+i]
			if n.Kind == logical.Right {
				combination[i] = right
			} else {
				combination[i] = d.c.call("COALESCE", e, right)
			}
		}
	}
	names := append(inputNames(exprs), namesOf(d.node.Fields())...)
	return &logical.Project{Input: j, Exprs: append(exprs, combination...), Names: names}
}

// sort orders, and takes the first rows of each combination.
func (d *domain) sort(n *logical.Sort) logical.Node {
	in := d.push(n.Input)
	if n.Offset == 0 && n.Fetch < 0 {
		return in // the order of a sub-query's rows says nothing
	}
	fn, ok := d.c.Registry.Lookup("ROW_NUMBER")
	if !ok {
		panic("the registry has no ROW_NUMBER")
	}
	width := len(n.Input.Fields())
	bigint := types.Of(types.BigInt).NotNull()
	o := &logical.Over{Input: in, Order: n.Keys, Frame: logical.Frame{Rows: true, Start: logical.Bound{Unbounded: true}, End: logical.Bound{Following: true}},
		Calls: []logical.AggregateCall{{Fn: fn, T: bigint, Name: "$number", Filter: -1}}}
	for i := range d.columns {
		o.Partition = append(o.Partition, width+i)
	}
	number := &expr.Input{Index: width + len(d.columns), Name: "$number", T: bigint}
	condition := d.c.call(">", number, expr.Constant(bigint, n.Offset))
	if n.Fetch >= 0 {
		condition = d.c.and(condition, d.c.call("<=", number, expr.Constant(bigint, n.Offset+n.Fetch)))
	}
	fields := in.Fields()
	return &logical.Project{Input: &logical.Filter{Input: o, Condition: condition}, Exprs: columnsOf(fields), Names: namesOf(fields)}
}
