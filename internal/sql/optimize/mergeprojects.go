package optimize

import (
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
)

// MergeProjects makes one projection of two, one above the other, and leaves out those that
// only pass on what they get. What one computes and the other uses more than once is
// computed once.
func MergeProjects(c *Context, n logical.Node) logical.Node {
	return logical.Rewrite(n, func(n logical.Node) logical.Node {
		p, ok := n.(*logical.Project)
		if !ok {
			return n
		}
		below, ok := p.Input.(*logical.Project)
		if !ok || !mergeable(p, below) {
			return n
		}
		merged := &logical.Project{Input: below.Input, Names: p.Names}
		for _, e := range p.Exprs {
			merged.Exprs = append(merged.Exprs, substituted(e, below.Exprs))
		}
		return merged
	})
}

// mergeable reports whether nothing would be computed more often than before.
func mergeable(p, below *logical.Project) bool {
	times := make([]int, len(below.Exprs))
	for _, e := range p.Exprs {
		expr.Walk(e, func(e expr.Expr) bool {
			if in, ok := e.(*expr.Input); ok {
				times[in.Index]++
			}
			return true
		})
	}
	for i, e := range below.Exprs {
		_, column := e.(*expr.Input)
		if volatile(e) || times[i] > 1 && !column {
			return false
		}
	}
	return true
}
