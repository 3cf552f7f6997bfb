package engine

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/session"
)

// streams refuses a plan that cannot run as a stream: one with an operator that must keep
// rows, or take back what it has given. What is left gives each row when its input comes,
// whether that ends or not. The rows of a query may be aggregated besides: then what was
// given is taken back when it changes, and the groups are in memory, since a query takes no
// checkpoints.
func streams(s *logical.Sink) error {
	_, err := streaming(s.Input, s.Table == nil)
	return err
}

// streaming reports whether rows that a plan has given can change. query says that they are
// a query's.
func streaming(n logical.Node, query bool) (changes bool, err error) {
	for _, in := range n.Inputs() {
		changing, err := streaming(in, query)
		if err != nil {
			return false, err
		}
		changes = changes || changing
	}
	what := keeping(n)
	a, aggregates := n.(*logical.Aggregate)
	switch {
	case aggregates && query && !changes && !ofWindows(a.Input) && !slices.ContainsFunc(a.Calls, func(c logical.AggregateCall) bool { return len(c.Order) > 0 }):
		return len(a.Calls) > 0, nil
	case aggregates && changes:
		what = "an aggregate of rows that change"
	case aggregates && ofWindows(a.Input):
		what = "an aggregate of windows"
	case aggregates && query:
		what = "an aggregate of rows in an order"
	case aggregates:
		what = "GROUP BY, DISTINCT or an aggregate function in an INSERT"
	case what == "" && changes:
		switch n.(type) {
		case *logical.Project, *logical.Filter, *logical.SetOperation:
		case *logical.Sort:
			what = "LIMIT of rows that change"
		default:
			what = "UNNEST or windows of rows that change"
		}
	}
	if what != "" {
		return false, refused(session.ClassTable, "queries that run as streams are not supported yet where they need %s: SET 'execution.runtime-mode' = 'batch'", what)
	}
	return changes, nil
}

// ofWindows reports whether rows come out of windows.
func ofWindows(n logical.Node) bool {
	if _, ok := n.(*logical.Window); ok {
		return true
	}
	return slices.ContainsFunc(n.Inputs(), ofWindows)
}

// keeping says what an operator that keeps rows is there for; empty: it keeps none.
func keeping(n logical.Node) string {
	switch n := n.(type) {
	case *logical.Scan, *logical.Values, *logical.Project, *logical.Filter, *logical.Unnest, *logical.Expand:
		return ""
	case *logical.SetOperation:
		if n.Kind == logical.Union && n.All {
			return ""
		}
		return "UNION, INTERSECT or EXCEPT of distinct rows"
	case *logical.Window:
		if n.Kind != logical.Session {
			return ""
		}
		return "session windows"
	case *logical.Sort:
		if len(n.Keys) == 0 {
			return "" // LIMIT counts rows and keeps none
		}
		return "ORDER BY"
	case *logical.Aggregate:
		return "" // is looked at more closely
	case *logical.Join:
		return "a join"
	case *logical.Over:
		return "OVER"
	case *logical.Match:
		return "MATCH_RECOGNIZE"
	}
	return fmt.Sprintf("a %T", n)
}

// most is how many rows a plan gives at most, if its last operator but for projections is a
// LIMIT; below 0: any.
func most(n logical.Node) int64 {
	switch n := n.(type) {
	case *logical.Project:
		return most(n.Input)
	case *logical.Sort:
		return n.Fetch
	}
	return -1
}
