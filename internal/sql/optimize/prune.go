package optimize

import (
	"slices"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// PruneColumns leaves columns out that nobody above uses, down to what tables are read.
func PruneColumns(c *Context, n logical.Node) logical.Node {
	return keepAll(n)
}

// keepAll prunes below an operator all of whose columns are used.
func keepAll(n logical.Node) logical.Node {
	all := make([]int, len(n.Fields()))
	for i := range all {
		all[i] = i
	}
	pruned, _ := prune(n, all)
	return pruned
}

// places say where each column of an operator is after some were left out; -1: nowhere.
type places []int

// of is an expression over what is left.
func (p places) of(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if in, ok := e.(*expr.Input); ok && p[in.Index] != in.Index {
			moved := *in
			moved.Index = p[in.Index]
			return &moved
		}
		return e
	})
}

// prune gives an operator with at least the columns that are used, which are in ascending
// order, and where each of its columns is now.
func prune(n logical.Node, used []int) (logical.Node, places) {
	switch n := n.(type) {
	case *logical.Scan:
		if len(used) == 0 && len(n.Columns) > 0 {
			used = []int{0} // rows have to be counted by something
		}
		at := only(used, len(n.Columns))
		s := *n
		s.Columns = pick(n.Columns, used)
		s.Filters = nil
		for _, f := range n.Filters {
			s.Filters = append(s.Filters, at.of(f))
		}
		return &s, at
	case *logical.Project:
		p := &logical.Project{}
		if len(used) == 0 && len(n.Exprs) > 0 {
			used = []int{0}
		}
		p.Exprs, p.Names = pick(n.Exprs, used), pick(n.Names, used)
		in, below := prune(n.Input, logical.Columns(p.Exprs...))
		p.Input = in
		for i, e := range p.Exprs {
			p.Exprs[i] = below.of(e)
		}
		return p, only(used, len(n.Exprs))
	case *logical.Filter:
		in, at := prune(n.Input, merge(used, logical.Columns(n.Condition)))
		return narrow(&logical.Filter{Input: in, Condition: at.of(n.Condition)}, at, used)
	case *logical.Join:
		j, at := pruneJoin(n, used)
		return narrow(j, at, used)
	case *logical.Aggregate:
		return pruneAggregate(n)
	case *logical.Match:
		in, below := prune(n.Input, n.InputColumns())
		return n.Moved(in, func(column int) int { return below[column] }), whole(n)
	}
	inputs := n.Inputs()
	kept := make([]logical.Node, len(inputs))
	for i, in := range inputs {
		kept[i] = keepAll(in)
	}
	if len(inputs) > 0 {
		n = n.With(kept)
	}
	return n, whole(n)
}

// whole says that all columns are where they were.
func whole(n logical.Node) places {
	at := make(places, len(n.Fields()))
	for i := range at {
		at[i] = i
	}
	return at
}

// narrow leaves out the columns that only the operator itself uses.
func narrow(n logical.Node, at places, used []int) (logical.Node, places) {
	if len(used) == 0 || len(used) == len(n.Fields()) {
		return n, at
	}
	p := &logical.Project{Input: n}
	fields := n.Fields()
	for _, u := range used {
		f := fields[at[u]]
		p.Exprs, p.Names = append(p.Exprs, &expr.Input{Index: at[u], Name: f.Name, T: f.Type}), append(p.Names, f.Name)
	}
	return p, only(used, len(at))
}

// pruneAggregate leaves out the columns that are neither keys nor looked at by a call.
func pruneAggregate(n *logical.Aggregate) (logical.Node, places) {
	used := slices.Clone(n.Keys)
	for _, c := range n.Calls {
		used = append(used, c.Args...)
		if c.Filter >= 0 {
			used = append(used, c.Filter)
		}
		for _, k := range c.Order {
			used = append(used, k.Column)
		}
	}
	slices.Sort(used)
	in, below := prune(n.Input, slices.Compact(used))
	to := func(columns []int) []int {
		moved := slices.Clone(columns)
		for i, column := range moved {
			moved[i] = below[column]
		}
		return moved
	}
	a := &logical.Aggregate{Input: in, Keys: to(n.Keys), Calls: slices.Clone(n.Calls)}
	for i := range a.Calls {
		c := &a.Calls[i]
		if c.Args = to(c.Args); c.Filter >= 0 {
			c.Filter = below[c.Filter]
		}
		c.Order = slices.Clone(c.Order)
		for k := range c.Order {
			c.Order[k].Column = below[c.Order[k].Column]
		}
	}
	at := make(places, len(n.Keys)+len(n.Calls))
	for i := range at {
		at[i] = i
	}
	return a, at
}

func pruneJoin(n *logical.Join, used []int) (logical.Node, places) {
	width := len(n.Left.Fields())
	needed := used
	if n.Condition != nil {
		needed = merge(used, logical.Columns(n.Condition))
	}
	var left, right []int
	for _, i := range needed {
		if i < width {
			left = append(left, i)
		} else {
			right = append(right, i-width)
		}
	}
	l, leftAt := prune(n.Left, left)
	r, rightAt := prune(n.Right, right)
	j := *n
	j.Left, j.Right = l, r
	at := slices.Clone(leftAt)
	shift := len(l.Fields())
	for _, p := range rightAt {
		if p >= 0 {
			p += shift
		}
		at = append(at, p)
	}
	if n.Condition != nil {
		j.Condition = at.of(n.Condition)
	}
	if n.Kind == logical.Semi || n.Kind == logical.Anti {
		at = at[:width]
	}
	return &j, at
}

// only says where columns are when some are left, of so many.
func only(used []int, columns int) places {
	at := make(places, columns)
	for i := range at {
		at[i] = -1
	}
	for i, u := range used {
		at[u] = i
	}
	return at
}

func pick[T any](from []T, which []int) []T {
	to := make([]T, len(which))
	for i, w := range which {
		to[i] = from[w]
	}
	return to
}

func merge(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
