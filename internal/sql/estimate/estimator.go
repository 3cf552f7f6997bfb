package estimate

import (
	"cmp"
	"math"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/types"
)

// Unknown is how many rows a table is taken to have of which nothing is known.
const Unknown = 100_000

// Tables says how many rows a table has, if that is known.
type Tables func(*logical.Scan) (rows float64, known bool)

// Estimator guesses. It is used by one goroutine.
type Estimator struct {
	tables Tables
	rows   map[logical.Node]float64
}

// New makes an estimator; nil: nothing is known of any table.
func New(tables Tables) *Estimator {
	return &Estimator{tables: tables, rows: map[logical.Node]float64{}}
}

// Rows is how many rows an operator gives.
func (e *Estimator) Rows(n logical.Node) float64 {
	if rows, ok := e.rows[n]; ok {
		return rows
	}
	rows := max(1, e.guess(n))
	e.rows[n] = rows
	return rows
}

func (e *Estimator) guess(n logical.Node) float64 {
	switch n := n.(type) {
	case *logical.Scan:
		return e.table(n)
	case *logical.Values:
		return float64(len(n.Rows))
	case *logical.Filter:
		return e.Rows(n.Input) * e.Selectivity(n.Condition, n.Input)
	case *logical.Join:
		return e.join(n)
	case *logical.Aggregate:
		return e.groups(n)
	case *logical.Sort:
		rows := e.Rows(n.Input) - float64(n.Offset)
		if n.Fetch >= 0 {
			rows = min(rows, float64(n.Fetch))
		}
		return rows
	case *logical.SetOperation:
		all := 0.0
		for _, in := range n.Of {
			all += e.Rows(in)
		}
		if n.Kind != logical.Union {
			return min(all, e.Rows(n.Of[0]))
		}
		return all
	case *logical.Expand:
		return e.Rows(n.Input) * float64(len(n.Lists))
	case *logical.Unnest:
		return e.Rows(n.Input) * 4
	case *logical.Window:
		if n.Slide > 0 && n.Size > n.Slide {
			return e.Rows(n.Input) * float64(n.Size/n.Slide)
		}
		return e.Rows(n.Input)
	}
	most := 0.0
	for _, in := range n.Inputs() {
		most = max(most, e.Rows(in))
	}
	return most
}

func (e *Estimator) table(s *logical.Scan) float64 {
	if e.tables != nil {
		if rows, known := e.tables(s); known {
			return rows
		}
	}
	return Unknown
}

// groups guesses how many groups there are: as many as combinations of keys, of which
// most tables do not have all.
func (e *Estimator) groups(n *logical.Aggregate) float64 {
	combinations := 1.0
	for _, k := range n.Keys {
		combinations *= e.Distinct(n.Input, k)
	}
	return min(combinations, max(1, e.Rows(n.Input)/4))
}

// join guesses how many pairs there are: each key is taken to have the values of the side
// that has fewer.
func (e *Estimator) join(n *logical.Join) float64 {
	left, right := e.Rows(n.Left), e.Rows(n.Right)
	width := len(n.Left.Fields())
	most, rest := 1.0, 1.0 // how many values the keys have
	for _, c := range expr.Conjuncts(n.Condition) {
		l, r, ok := Compared(c, width)
		if !ok {
			rest *= e.Selectivity(c, n.Left, n.Right)
			continue
		}
		values := min(e.Domain(n.Left, l), e.Domain(n.Right, r))
		most = max(most, values)
	}
	partners := rest * right / most // of a left row
	switch n.Kind {
	case logical.Semi:
		return left * min(0.9, partners)
	case logical.Anti:
		return left * max(0.1, 1-partners)
	case logical.Left:
		return left * max(1, partners)
	case logical.Right:
		return max(right, left*partners)
	case logical.Full:
		return max(left+right, left*partners)
	}
	return left * partners
}

// Compared gives the columns of the two sides of a join that a condition compares, the
// right one as the right side counts.
func Compared(condition expr.Expr, left int) (l, r int, ok bool) {
	call, ok := condition.(*expr.Call)
	if !ok || call.Fn.Name != "=" && call.Fn.Name != "IS NOT DISTINCT FROM" {
		return 0, 0, false
	}
	a, aOk := call.Args[0].(*expr.Input)
	b, bOk := call.Args[1].(*expr.Input)
	if !aOk || !bOk {
		return 0, 0, false
	}
	if a.Index > b.Index {
		a, b = b, a
	}
	return a.Index, b.Index - left, a.Index < left && b.Index >= left
}

// Distinct is how many different values a column has.
func (e *Estimator) Distinct(n logical.Node, column int) float64 {
	return min(e.Domain(n, column), e.Rows(n))
}

// Domain is how many different values a column has before conditions leave rows out.
func (e *Estimator) Domain(n logical.Node, column int) float64 {
	values, _ := e.domain(n, column)
	return values
}

// domain is how many different values a column has, and whether that is more than that
// they cannot be more than rows.
func (e *Estimator) domain(n logical.Node, column int) (values float64, known bool) {
	switch n := n.(type) {
	case *logical.Scan:
		values, rows := e.ofColumn(n, column), e.Rows(n)
		return min(values, rows), values < rows
	case *logical.Project:
		if in, ok := n.Exprs[column].(*expr.Input); ok {
			return e.domain(n.Input, in.Index)
		}
	case *logical.Filter:
		return e.domain(n.Input, column)
	case *logical.Join:
		if width := len(n.Left.Fields()); column >= width {
			return e.domain(n.Right, column-width)
		}
		return e.domain(n.Left, column)
	case *logical.Aggregate:
		if column < len(n.Keys) {
			return e.domain(n.Input, n.Keys[column])
		}
	case *logical.Sort:
		return e.domain(n.Input, column)
	}
	return e.Rows(n), false
}

// ofColumn is what ANALYZE TABLE has found, or as many as the type may have.
func (e *Estimator) ofColumn(s *logical.Scan, column int) float64 {
	c := s.Table.Schema.Columns[s.Columns[column]]
	if s.Table.Statistics != nil {
		if found, ok := s.Table.Statistics.Columns[c.Name]; ok && found.Distinct > 0 {
			return float64(found.Distinct)
		}
	}
	switch c.Type.Kind {
	case types.Boolean:
		return 2
	case types.TinyInt:
		return 256
	case types.Date:
		return 2500 // seven years
	}
	return math.Inf(1)
}

// Width is about how many bytes a row of these columns takes in memory.
func Width(fields []types.Field) float64 {
	all := 0.0
	for _, f := range fields {
		all += cmp.Or(widths[f.Type.Kind], 16)
	}
	return all
}

var widths = map[types.Kind]float64{
	types.Boolean: 1, types.TinyInt: 1, types.SmallInt: 2, types.Int: 4, types.Date: 4, types.Float: 4,
	types.BigInt: 8, types.Double: 8, types.Decimal: 8,
}
