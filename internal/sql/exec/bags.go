package exec

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// The aggregates that keep all values of each group: ARRAY_AGG, COLLECT, LISTAGG.

func init() {
	define(func(c *plan.AggregateCall) []types.Type {
		return []types.Type{types.ArrayOf(c.ArgTypes[0].OrNull()).NotNull(), types.String()}
	}, newBag, "ARRAY_AGG", "COLLECT", "LISTAGG", "STRING_AGG")
}

// bag keeps the values of all groups in one column, in the order in which they came,
// and beside each the group.
type bag struct {
	function string
	nulls    bool // NULL is a value
	vals     *batch.Column
	groups   []int32
	n        int // groups
	// separator is that of LISTAGG, once a row has told it.
	separator []byte
	told      bool

	order []int32 // places in vals by group, made when it is asked for
	ends  []int32 // of each group in order
}

func newBag(c *plan.AggregateCall) (accumulator, error) {
	b := &bag{function: c.Function, vals: batch.NewColumn(c.ArgTypes[0]), nulls: c.Function == "ARRAY_AGG" && !c.IgnoreNulls, separator: []byte(",")}
	switch n := len(c.ArgTypes); {
	case c.Function == "ARRAY_AGG" || c.Function == "COLLECT":
		if n != 1 {
			return nil, fmt.Errorf("%d arguments, want 1", n)
		}
	case n < 1 || n > 2 || !c.ArgTypes[0].Kind.IsText():
		return nil, fmt.Errorf("of %v: want a text, and perhaps a separator", c.ArgTypes)
	default:
		b.function = "LISTAGG"
	}
	return b, nil
}

func (a *bag) grow(n int) { a.n = max(a.n, n) }

func (a *bag) update(groups []int32, args []*batch.Column, rows []int32) {
	a.order = nil
	c := args[0]
	for r, g := range groups {
		i := at(rows, r)
		if len(args) > 1 && !a.told && !args[1].IsNull(i) {
			a.separator, a.told = append([]byte(nil), args[1].Bytes(i)...), true
		}
		if c.IsNull(i) && !a.nulls {
			continue
		}
		a.vals.AppendFrom(c, i)
		a.groups = append(a.groups, g)
	}
}

func (a *bag) merge(groups []int32, states []*batch.Column) {
	a.order = nil
	list, separator := states[0], states[1]
	for r, g := range groups {
		if !separator.IsNull(r) {
			a.separator, a.told = append([]byte(nil), separator.Bytes(r)...), true
		}
		for from, to := list.Span(r); from < to; from++ {
			a.vals.AppendFrom(list.Children[0], from)
			a.groups = append(a.groups, g)
		}
	}
}

// sort puts the places of values in the order of their groups.
func (a *bag) sort() {
	if a.order != nil && len(a.ends) == a.n {
		return
	}
	a.ends = grown(a.ends[:0], a.n)
	clear(a.ends)
	for _, g := range a.groups {
		a.ends[g]++
	}
	sum := int32(0)
	for g, n := range a.ends {
		a.ends[g] = sum
		sum += n
	}
	a.order = make([]int32, len(a.groups))
	for i, g := range a.groups {
		a.order[a.ends[g]] = int32(i)
		a.ends[g]++
	}
}

// of are the places of a group's values.
func (a *bag) of(g int) []int32 {
	from := int32(0)
	if g > 0 {
		from = a.ends[g-1]
	}
	return a.order[from:a.ends[g]]
}

func (a *bag) states(out []*batch.Column, from, to int) {
	a.sort()
	for g := from; g < to; g++ {
		out[0].Children[0].AppendRows(a.vals, a.of(g))
		out[0].EndCollection()
		if a.told {
			out[1].AppendBytes(a.separator)
		} else {
			out[1].AppendNull()
		}
	}
}

func (a *bag) results(out *batch.Column, from, to int) {
	a.sort()
	for g := from; g < to; g++ {
		places := a.of(g)
		switch {
		case a.function == "COLLECT":
			a.collect(out, places)
		case len(places) == 0:
			out.AppendNull()
		case a.function == "LISTAGG":
			var text []byte
			for k, i := range places {
				if k > 0 {
					text = append(text, a.separator...)
				}
				text = append(text, a.vals.Bytes(int(i))...)
			}
			out.AppendBytes(text)
		default:
			out.Children[0].AppendRows(a.vals, places)
			out.EndCollection()
		}
	}
}

// collect appends a MULTISET: each value once, with how often it is there.
func (a *bag) collect(out *batch.Column, places []int32) {
	if len(places) > 0 {
		values := &batch.Columns{N: a.vals.Len, Cols: []*batch.Column{a.vals}, Sel: places}
		keys := &keyer{columns: []int{0}} // as bytes: no type is asked for
		keys.of(values)
		seen, counts := newTable(keys), []int32(nil)
		for r, i := range places {
			n, created := seen.add(keys, r)
			if created {
				out.Children[0].AppendFrom(a.vals, int(i))
				counts = append(counts, 0)
			}
			counts[n]++
		}
		for _, n := range counts {
			batch.Append(out.Children[1], n)
		}
	}
	out.EndCollection()
}

func (a *bag) size() int { return columnBytes(a.vals) + 4*(cap(a.groups)+cap(a.order)+cap(a.ends)) }

func (a *bag) clear() {
	a.vals, a.groups, a.n, a.order = a.vals.Empty(), nil, 0, nil
}
