package engine

import (
	"fmt"

	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/session"
)

// streams refuses a plan that cannot run as a stream: one with an operator that must keep
// rows, or take back what it has given. What is left gives each row when its input comes,
// whether that ends or not, and never takes it back.
func streams(n logical.Node) error {
	if what := keeping(n); what != "" {
		return refused(session.ClassTable, "queries that run as streams are not supported yet where they need %s: SET 'execution.runtime-mode' = 'batch'", what)
	}
	for _, in := range n.Inputs() {
		if err := streams(in); err != nil {
			return err
		}
	}
	return nil
}

// keeping says what an operator that keeps rows is there for; empty: it keeps none.
func keeping(n logical.Node) string {
	switch n := n.(type) {
	case *logical.Sink, *logical.Scan, *logical.Values, *logical.Project, *logical.Filter, *logical.Unnest:
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
		return "GROUP BY, DISTINCT or an aggregate function"
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
