package physical

import (
	"fmt"
	"math/big"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// over brings partitions together and computes the functions over them.
func (p *planner) over(n *logical.Over, in planned) (planned, error) {
	in = p.hash(in, n.Partition)
	o := &plan.Over{Base: over(n.Fields(), in), Partition: n.Partition, Order: keys(n.Order)}
	var sorted types.Type
	if len(n.Order) > 0 {
		sorted = in.schema()[n.Order[0].Column].Type
	}
	unit := plan.Range
	if n.Frame.Rows {
		unit = plan.Rows
	}
	start, err := bound(n.Frame.Start, n.Frame.Rows, sorted)
	if err != nil {
		return in, err
	}
	end, err := bound(n.Frame.End, n.Frame.Rows, sorted)
	if err != nil {
		return in, err
	}
	for _, c := range n.Calls {
		o.Calls = append(o.Calls, plan.OverCall{AggregateCall: call(c, in.schema()), Unit: unit, Start: start, End: end})
	}
	return planned{node: o, one: in.one, hashed: in.hashed}, nil
}

func bound(b logical.Bound, rows bool, sorted types.Type) (plan.Bound, error) {
	switch {
	case b.Unbounded && b.Following:
		return plan.Bound{Kind: plan.UnboundedFollowing}, nil
	case b.Unbounded:
		return plan.Bound{Kind: plan.UnboundedPreceding}, nil
	case b.Offset == nil:
		return plan.Bound{Kind: plan.CurrentRow}, nil
	}
	to := plan.Bound{Kind: plan.Preceding}
	if b.Following {
		to.Kind = plan.Following
	}
	l, ok := b.Offset.(*expr.Literal)
	if !ok {
		return to, fmt.Errorf("the bound %s of a window is no constant", b.Offset)
	}
	text := expr.Display(l.T, l.Value, 0)
	switch {
	case !rows && sorted.Kind.IsApproximate():
		_, err := fmt.Sscan(text, &to.Double)
		return to, err
	case l.T.Kind.IsInterval():
		if l.T.Kind == types.IntervalYearMonth {
			return to, expr.Refuse(b.Offset.Span(), "a RANGE window cannot be bounded by months")
		}
		to.Offset = l.Value.I64[0]
		if sorted.Kind == types.Date {
			to.Offset /= 24 * 60 * 60 * 1000
		}
		return to, nil
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return to, expr.Refuse(b.Offset.Span(), "a window cannot be bounded by %s", text)
	}
	if !rows && sorted.Kind == types.Decimal {
		value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(sorted.Scale)), nil)))
	}
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() || whole.Sign() < 0 {
		return to, expr.Refuse(b.Offset.Span(), "a window cannot be bounded by %s", text)
	}
	to.Offset = whole.Int64()
	return to, nil
}
