package physical

import (
	"github.com/weirstream/weir/internal/sql/estimate"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
)

// rows is how many rows an operator is likely to give.
func (p *planner) rows(n logical.Node) float64 {
	if p.Estimate == nil {
		return estimate.Unknown
	}
	return p.Estimate.Rows(n)
}

// hold decides which side a join holds: the right one, unless the left one is likely to
// be much smaller.
func (p *planner) hold(n *logical.Join, j *plan.Join) {
	j.BuildLeft = !n.NullAware && 2*p.rows(n.Left) < p.rows(n.Right)
}

// meet brings the rows of two sides together, with equal keys, or all of the side that is
// held to where the others are. It gives which columns of the result tell where a row is,
// too; nil: nothing is known.
func (p *planner) meet(n *logical.Join, j *plan.Join, left, right planned) (l, r planned, hashed []int) {
	switch {
	case left.one && right.one:
		return left, right, nil
	case j.BuildLeft && !right.one && p.brought(n.Left, n.Right, n.Kind == logical.Inner || n.Kind == logical.Right):
		if n.Kind != logical.Semi && n.Kind != logical.Anti {
			for _, column := range right.hashed {
				hashed = append(hashed, len(left.schema())+column)
			}
		}
		return p.broadcast(left), right, hashed
	case !j.BuildLeft && !left.one && p.brought(n.Right, n.Left, n.Kind != logical.Right && n.Kind != logical.Full):
		return left, p.broadcast(right), left.hashed
	}
	left, right = p.hash(left, j.LeftKeys), p.hash(right, j.RightKeys)
	if left.one != right.one {
		left, right = p.single(left), p.single(right)
	}
	return left, right, nil
}

// brought reports whether it costs less to bring all rows of one side to all subtasks than
// to move both. It is possible where that side's rows without a partner are not given:
// each subtask would give them.
func (p *planner) brought(held, other logical.Node, possible bool) bool {
	rows := p.rows(held)
	return possible && rows*float64(2*max(1, p.Parallelism)) <= p.rows(other) &&
		rows*estimate.Width(held.Fields()) <= float64(p.MostBroadcast)
}
