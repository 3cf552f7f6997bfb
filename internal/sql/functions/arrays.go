package functions

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// arrays are the functions of one array and its elements.
func arrays() []*expr.Function {
	element := func(name, doc string, infer func(*expr.Site) (types.Type, error), kernel expr.Kernel) *expr.Function {
		return own(function(name, "collection", name+"(array, x)", doc, infer, kernel))
	}
	return []*expr.Function{
		function("CARDINALITY", "collection", "CARDINALITY(array | map)", "How many elements there are.", inferCardinality, computing(func(r row) (int32, bool) {
			from, to := r.args[0].Span(r.i)
			return int32(to - from), true
		})),
		own(bound("ELEMENT", "collection", "ELEMENT(array)", "The only element.", inferElement, elementKernel)),
		element("ARRAY_APPEND", "The array with an element at the end.", inferGrown, listing(func(out *batch.Column, r row) bool {
			return grow(out, r, func() {}, func() { appendValue(out, r.args[1], r.i) })
		})),
		element("ARRAY_PREPEND", "The array with an element at the beginning.", inferGrown, listing(func(out *batch.Column, r row) bool {
			return grow(out, r, func() { appendValue(out, r.args[1], r.i) }, func() {})
		})),
		element("ARRAY_CONTAINS", "Whether the element is in the array.", inferSought(func(s *expr.Site, _ bool) types.Type { return boolean.WithNull(s.Type(0).Nullable) }), computing(func(r row) (bool, bool) {
			if r.null(0) {
				return false, false
			}
			from, to := r.args[0].Span(r.i)
			return find(r.args[0].Children[0], from, to, r.args[1], r.i) >= 0, true
		})),
		element("ARRAY_POSITION", "Where the element is in the array, from 1; 0 if nowhere.", inferSought(func(s *expr.Site, nullable bool) types.Type { return integer.WithNull(s.Type(0).Nullable || nullable) }), computing(func(r row) (int32, bool) {
			if r.null(0) || r.null(1) {
				return 0, false
			}
			from, to := r.args[0].Span(r.i)
			return int32(max(find(r.args[0].Children[0], from, to, r.args[1], r.i)-from+1, 0)), true
		})),
		element("ARRAY_REMOVE", "The array without an element.", inferSought(func(s *expr.Site, _ bool) types.Type { return s.Type(0) }), listing(func(out *batch.Column, r row) bool {
			return filter(out, r, func(c *batch.Column, k int) bool { return !same(c, k, r.args[1], r.i) })
		})),
		function("ARRAY_DISTINCT", "collection", "ARRAY_DISTINCT(array)", "The array with each element once.", giving("a", like0), listing(func(out *batch.Column, r row) bool {
			from, _ := r.args[0].Span(r.i)
			return filter(out, r, func(c *batch.Column, k int) bool { return find(c, from, k, c, k) < 0 })
		})),
		function("ARRAY_REVERSE", "collection", "ARRAY_REVERSE(array)", "The array backwards.", giving("a", like0), listing(func(out *batch.Column, r row) bool {
			from, to := r.args[0].Span(r.i)
			for k := to - 1; k >= from; k-- {
				appendValue(out, r.args[0].Children[0], k)
			}
			return true
		})),
		function("ARRAY_SLICE", "collection", "ARRAY_SLICE(array, from[, to])", "The elements from one to another, from 1 or from the end.", giving("ai?i!", like0), listing(slice)),
		function("ARRAY_SORT", "collection", "ARRAY_SORT(array[, ascending[, nullsFirst]])", "The array sorted.", inferSorted, listing(sorted)),
		extreme("ARRAY_MAX", "The greatest element.", 1), extreme("ARRAY_MIN", "The least element.", -1),
		function("ARRAY_JOIN", "collection", "ARRAY_JOIN(array, delimiter[, null])", "The texts of an array with a delimiter between.", inferJoin, appending(join)),
	}
}

func inferCardinality(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return types.Type{}, err
	}
	if !s.Kind(0).IsCollection() {
		return types.Type{}, s.NoMatch("an ARRAY, a MAP or a MULTISET")
	}
	return integer.WithNull(s.Nullable()), nil
}

func inferElement(s *expr.Site) (types.Type, error) {
	if _, err := giving("a", like0)(s); err != nil {
		return types.Type{}, err
	}
	t := *s.Type(0).Elem
	return t.WithNull(t.Nullable || s.Type(0).Nullable), nil
}

// elementKernel gathers one element of each array.
func elementKernel(*expr.Bound) (expr.Kernel, error) {
	return gathering(func(r row) (int, bool, error) {
		if r.null(0) {
			return 0, false, nil
		}
		from, to := r.args[0].Span(r.i)
		if to-from > 1 {
			return 0, false, fmt.Errorf("ELEMENT: the array has %d elements; allowed is one", to-from)
		}
		return from, to > from, nil
	}), nil
}

// gathering is a kernel that gives one element of the array in argument 0 for each row.
func gathering(pick func(r row) (element int, ok bool, err error)) expr.Kernel {
	return func(out *batch.Column, args []*batch.Column, rows expr.Rows) error {
		n := out.Len
		out.Reset(0)
		next := 0
		pad := func(to int) {
			for ; next < to; next++ {
				out.AppendNull()
			}
		}
		if err := rows.Each(func(i int) error {
			pad(i)
			k, ok, err := pick(row{args, i})
			if err != nil {
				return expr.AtRow(i, err)
			}
			if ok {
				out.AppendFrom(args[0].Children[0], k)
			} else {
				out.AppendNull()
			}
			next++
			return nil
		}); err != nil {
			return err
		}
		pad(n)
		return nil
	}
}

// castElement makes argument 1 one of the type of the elements of argument 0. It may be
// NULL then if it may be so before, and if it had to be converted to what may be NULL.
func castElement(s *expr.Site) (nullable bool, err error) {
	if err := s.Count(2, 2); err != nil {
		return false, err
	}
	if s.Kind(0) != types.Array {
		return false, s.NoMatch("an ARRAY and an element")
	}
	elem := *s.Type(0).Elem
	if s.Kind(1) == types.Null {
		s.Args[1] = expr.Null(elem.OrNull(), s.Args[1].Span())
		return true, nil
	}
	given := s.Type(1)
	if !widens(given, elem) {
		return false, s.NoMatch("an ARRAY and a value of its element's type")
	}
	nullable = given.Nullable || elem.Nullable && !given.EqualButNull(elem) && !longer(given, elem)
	return nullable, s.Cast(1, elem)
}

// longer reports whether a type is of the same texts or bytes as another and longer ones,
// of any length.
func longer(from, to types.Type) bool {
	return (from.Kind.IsText() && to.Kind == types.VarChar || from.Kind.IsBinary() && to.Kind == types.VarBinary) && from.Length <= to.Length
}

// widens reports whether a value of a type is taken for one of another, of the same family:
// one that holds it, or what a timestamp has of it.
func widens(from, to types.Type) bool {
	a, b := from.Kind, to.Kind
	switch {
	case from.EqualButNull(to):
		return true
	case b.IsInteger():
		return a.IsInteger() && a <= b
	case b == types.Decimal:
		return a.IsExact()
	case b == types.Float:
		return a.IsExact() || a == types.Float
	case b == types.Double:
		return a.IsNumeric()
	case b == types.Char || b == types.VarChar:
		return a == types.Char || a == b
	case b == types.Binary || b == types.VarBinary:
		return a == types.Binary || a == b
	case b == types.Date || b == types.Time:
		return a == types.Timestamp || a == b
	case b.IsTimestamp():
		return a.IsTimestamp()
	}
	return a == b
}

// inferGrown gives an array that may hold what the new element may be.
func inferGrown(s *expr.Site) (types.Type, error) {
	nullable, err := castElement(s)
	if err != nil {
		return types.Type{}, err
	}
	elem := *s.Type(0).Elem
	elem.Nullable = elem.Nullable || nullable
	return types.ArrayOf(elem).WithNull(s.Type(0).Nullable || nullable), nil
}

// inferSought has an array and what is sought in it, which may be NULL or not.
func inferSought(result func(s *expr.Site, nullable bool) types.Type) func(*expr.Site) (types.Type, error) {
	return func(s *expr.Site) (types.Type, error) {
		nullable, err := castElement(s)
		if err != nil {
			return types.Type{}, err
		}
		return result(s, nullable), nil
	}
}

func grow(out *batch.Column, r row, before, after func()) bool {
	if r.null(0) {
		return false
	}
	before()
	from, to := r.args[0].Span(r.i)
	for k := from; k < to; k++ {
		appendValue(out, r.args[0].Children[0], k)
	}
	after()
	return true
}

// filter appends the elements that are to be kept.
func filter(out *batch.Column, r row, keep func(c *batch.Column, k int) bool) bool {
	if r.null(0) {
		return false
	}
	c := r.args[0].Children[0]
	from, to := r.args[0].Span(r.i)
	for k := from; k < to; k++ {
		if keep(c, k) {
			appendValue(out, c, k)
		}
	}
	return true
}

func slice(out *batch.Column, r row) bool {
	from, to := r.args[0].Span(r.i)
	n := int64(to - from)
	place := func(p int64) int64 {
		if p < 0 {
			return p + n + 1
		}
		return p
	}
	first, last := max(place(r.int(1)), 1), n
	if r.has(2) {
		last = min(place(r.int(2)), n)
		if r.int(2) == 0 {
			last = min(1, n)
		}
	}
	for p := first; p <= last; p++ {
		appendValue(out, r.args[0].Children[0], from+int(p)-1)
	}
	return true
}

func inferSorted(s *expr.Site) (types.Type, error) {
	t, err := giving("a?oo!", like0)(s)
	if err == nil && t.Kind == types.Null {
		return t, s.NoBareNull()
	}
	if err == nil && !ordered(*t.Elem) {
		return t, s.Refuse("ARRAY_SORT cannot sort elements of %s", t.Elem.Text())
	}
	return t, err
}

// sorted sorts ascending with NULLs first, or descending with NULLs last, unless it is said
// where they are.
func sorted(out *batch.Column, r row) bool {
	ascending := !r.has(1) || r.bool(1)
	nullsFirst := ascending
	if r.has(2) {
		nullsFirst = r.bool(2)
	}
	c := r.args[0].Children[0]
	from, to := r.args[0].Span(r.i)
	order := make([]int, 0, to-from)
	for k := from; k < to; k++ {
		order = append(order, k)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := c.IsNull(a), c.IsNull(b)
		switch {
		case x && y:
			return 0
		case x || y:
			if x == nullsFirst {
				return -1
			}
			return 1
		case ascending:
			return compare(c, a, c, b)
		}
		return compare(c, b, c, a)
	})
	for _, k := range order {
		appendValue(out, c, k)
	}
	return true
}

// extreme is ARRAY_MAX or ARRAY_MIN; NULLs do not count.
func extreme(name, doc string, sign int) *expr.Function {
	infer := func(s *expr.Site) (types.Type, error) {
		t, err := giving("a", like0)(s)
		if err != nil {
			return t, err
		}
		if !ordered(*t.Elem) {
			return t, s.Refuse("%s cannot order elements of %s", name, t.Elem.Text())
		}
		return t.Elem.OrNull(), nil
	}
	return function(name, "collection", name+"(array)", doc, infer, gathering(func(r row) (int, bool, error) {
		c := r.args[0].Children[0]
		from, to := r.args[0].Span(r.i)
		best := -1
		for k := from; k < to; k++ {
			if c.IsNull(k) || best >= 0 && !beats(c, k, best, sign) {
				continue
			}
			best = k
		}
		return best, best >= 0, nil
	}))
}

// beats reports whether an element is greater, or less, than another; NaN never is.
func beats(c *batch.Column, k, best, sign int) bool {
	switch c.Layout {
	case batch.Float64s:
		return sign > 0 && c.F64[k] > c.F64[best] || sign < 0 && c.F64[k] < c.F64[best]
	case batch.Float32s:
		return sign > 0 && c.F32[k] > c.F32[best] || sign < 0 && c.F32[k] < c.F32[best]
	}
	return compare(c, k, c, best)*sign > 0
}

func inferJoin(s *expr.Site) (types.Type, error) {
	t, err := giving("at?t!", as(text))(s)
	if err == nil && s.Kind(0) == types.Null {
		return t, s.NoBareNull()
	}
	if err == nil && !s.Type(0).Elem.Kind.IsText() {
		return t, s.NoMatch("(ARRAY of texts, text, [text])")
	}
	return t, err
}

func join(dst []byte, r row) ([]byte, bool) {
	c := r.args[0].Children[0]
	from, to := r.args[0].Span(r.i)
	first := true
	for k := from; k < to; k++ {
		if c.IsNull(k) && !r.has(2) {
			continue
		}
		if !first {
			dst = append(dst, r.bytes(1)...)
		}
		first = false
		if c.IsNull(k) {
			dst = append(dst, r.bytes(2)...)
		} else {
			dst = append(dst, c.Bytes(k)...)
		}
	}
	return dst, true
}
