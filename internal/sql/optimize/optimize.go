package optimize

import "github.com/weirstream/weir/internal/sql/logical"

// Optimize runs all rules, in the order of this list.
func Optimize(c *Context, n logical.Node) logical.Node {
	for _, rule := range []func(*Context, logical.Node) logical.Node{
		Subqueries,
		FactorDisjunctions,
		PushFilters,
		LowerSemiJoins,
		OrderJoins,
		PruneColumns,
		MergeProjects,
	} {
		n = rule(c, n)
	}
	return n
}
