package functions

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// arraySets are the functions of several arrays.
func arraySets() []*expr.Function {
	set := func(name, doc string, most int, f func(out *batch.Column, start int, r row)) *expr.Function {
		infer := func(s *expr.Site) (types.Type, error) {
			if err := s.Count(min(most, 1)+max(most-1, 0), most); err != nil {
				return types.Type{}, err
			}
			return unified(s, types.Array)
		}
		if most < 0 {
			infer = func(s *expr.Site) (types.Type, error) {
				if err := s.Count(1, -1); err != nil {
					return types.Type{}, err
				}
				return unified(s, types.Array)
			}
		}
		return function(name, "collection", name+"(a, b)", doc, infer, func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
			w := expr.NewCollections(out)
			defer w.Close()
			return rows.Each(func(i int) error {
				w.Row(i)
				f(out.Children[0], out.Children[0].Len, row{args, i})
				return nil
			})
		})
	}
	return []*expr.Function{
		set("ARRAY_UNION", "The elements of both, each once.", 2, func(out *batch.Column, start int, r row) {
			for _, a := range r.args {
				appendOnce(out, start, a, r.i, func(int) bool { return true })
			}
		}),
		set("ARRAY_EXCEPT", "The elements of the first that are not in the second, each once.", 2, func(out *batch.Column, start int, r row) {
			appendOnce(out, start, r.args[0], r.i, func(k int) bool { return !contains(r, 1, k) })
		}),
		set("ARRAY_INTERSECT", "The elements that are in both, each once.", 2, func(out *batch.Column, start int, r row) {
			appendOnce(out, start, r.args[0], r.i, func(k int) bool { return contains(r, 1, k) })
		}),
		set("ARRAY_CONCAT", "The arrays one after the other.", -1, func(out *batch.Column, _ int, r row) {
			for _, a := range r.args {
				from, to := a.Span(r.i)
				for k := from; k < to; k++ {
					appendValue(out, a.Children[0], k)
				}
			}
		}),
	}
}

// unified converts all arguments, which must be of a kind, to the type they have in common.
func unified(s *expr.Site, kind types.Kind) (types.Type, error) {
	all := make([]int, len(s.Args))
	for i := range s.Args {
		all[i] = i
		if s.Kind(i) != kind {
			return types.Type{}, s.NoMatch("values of " + kind.String())
		}
	}
	t, err := s.Merge(all...)
	return t.WithNull(s.Nullable()), err
}

// appendOnce appends the elements that are to be kept and not there yet.
func appendOnce(out *batch.Column, start int, a *batch.Column, i int, keep func(k int) bool) {
	from, to := a.Span(i)
	for k := from; k < to; k++ {
		if keep(k) && find(out, start, out.Len, a.Children[0], k) < 0 {
			appendValue(out, a.Children[0], k)
		}
	}
}

// contains reports whether an element of the first array is in another.
func contains(r row, arg, k int) bool {
	from, to := r.args[arg].Span(r.i)
	return find(r.args[arg].Children[0], from, to, r.args[0].Children[0], k) >= 0
}
