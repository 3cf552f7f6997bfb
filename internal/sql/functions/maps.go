package functions

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// maps are the functions of maps.
func maps() []*expr.Function {
	part := func(name, doc string, child int, elem func(types.Type) types.Type) *expr.Function {
		return function(name, "collection", name+"(map)", doc, giving("p", func(s *expr.Site) types.Type {
			return types.ArrayOf(elem(s.Type(0))).WithNull(s.Nullable())
		}), listing(func(out *batch.Column, r row) bool {
			from, to := r.args[0].Span(r.i)
			for k := from; k < to; k++ {
				appendValue(out, r.args[0].Children[child], k)
			}
			return true
		}))
	}
	return []*expr.Function{
		part("MAP_KEYS", "The keys.", 0, func(t types.Type) types.Type { return *t.Key }),
		part("MAP_VALUES", "The values.", 1, func(t types.Type) types.Type { return *t.Elem }),
		function("MAP_ENTRIES", "collection", "MAP_ENTRIES(map)", "The pairs of key and value.", giving("p", func(s *expr.Site) types.Type {
			t := s.Type(0)
			return types.ArrayOf(types.RowOf(types.Field{Name: "key", Type: *t.Key}, types.Field{Name: "value", Type: *t.Elem})).WithNull(t.Nullable)
		}), listing(func(out *batch.Column, r row) bool {
			from, to := r.args[0].Span(r.i)
			for k := from; k < to; k++ {
				appendValue(out.Children[0], r.args[0].Children[0], k)
				appendValue(out.Children[1], r.args[0].Children[1], k)
				out.EndRow()
			}
			return true
		})),
		function("MAP_FROM_ARRAYS", "collection", "MAP_FROM_ARRAYS(keys, values)", "The map of keys and values; of equal keys the last counts.", giving("aa", func(s *expr.Site) types.Type {
			return types.MapOf(*s.Type(0).Elem, *s.Type(1).Elem).WithNull(s.Nullable())
		}), mapping(func(w pairs, r row) error {
			from, to := r.args[0].Span(r.i)
			other, end := r.args[1].Span(r.i)
			if to-from != end-other {
				return fmt.Errorf("MAP_FROM_ARRAYS: there are %d keys and %d values", to-from, end-other)
			}
			w.last(r.args[0].Children[0], from, to, r.args[1].Children[0], other)
			return nil
		})),
		function("MAP_UNION", "collection", "MAP_UNION(a, b, …)", "The pairs of all maps; of equal keys the last counts.", func(s *expr.Site) (types.Type, error) {
			if err := s.Count(1, -1); err != nil {
				return types.Type{}, err
			}
			return unified(s, types.Map)
		}, mapping(func(w pairs, r row) error {
			for n := len(r.args) - 1; n >= 0; n-- {
				m := r.args[n]
				from, to := m.Span(r.i)
				for k := from; k < to; k++ {
					if !later(r, n+1, m.Children[0], k) && find(m.Children[0], k+1, to, m.Children[0], k) < 0 {
						appendValue(w.keys, m.Children[0], k)
						appendValue(w.values, m.Children[1], k)
					}
				}
			}
			return nil
		})),
	}
}

// later reports whether a key is in one of the maps from an argument on.
func later(r row, arg int, keys *batch.Column, k int) bool {
	for _, m := range r.args[arg:] {
		from, to := m.Span(r.i)
		if find(m.Children[0], from, to, keys, k) >= 0 {
			return true
		}
	}
	return false
}

// pairs are the columns that keys and values are appended to.
type pairs struct{ keys, values *batch.Column }

// last appends keys and values, of equal keys the last.
func (w pairs) last(keys *batch.Column, from, to int, values *batch.Column, other int) {
	for k := from; k < to; k++ {
		if find(keys, k+1, to, keys, k) < 0 {
			appendValue(w.keys, keys, k)
			appendValue(w.values, values, other+k-from)
		}
	}
}

// mapping is a kernel of a function that appends the pairs of a map.
func mapping(f func(w pairs, r row) error) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		w := expr.NewCollections(out)
		defer w.Close()
		return rows.Each(func(i int) error {
			w.Row(i)
			if err := f(pairs{out.Children[0], out.Children[1]}, row{args, i}); err != nil {
				return expr.AtRow(i, err)
			}
			return nil
		})
	}
}
