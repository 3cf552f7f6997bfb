package expr

import (
	"bytes"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

// comparisonKernel is the kernel of a comparison of two values that comparable has
// made alike; nulls says that NULL is a value like others.
func comparisonKernel(b *Bound, test Order, nulls bool) (Kernel, error) {
	k := comparisonOf(b, test)
	if !nulls {
		return k, nil
	}
	both := []int32{}
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		both = both[:0]
		err := rows.Each(func(i int) error {
			x, y := args[0].IsNull(i), args[1].IsNull(i)
			if !x && !y {
				both = append(both, int32(i))
			} else {
				out.Bool[i] = (x == y) == (test == Equal)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return k(out, args, Rows{N: rows.N, Sel: both})
	}, nil
}

func comparisonOf(b *Bound, test Order) Kernel {
	t := b.Args[0]
	switch batch.LayoutOf(t) {
	case batch.Int8s:
		return ordered[int8](test)
	case batch.Int16s:
		return ordered[int16](test)
	case batch.Int32s:
		return ordered[int32](test)
	case batch.Float32s:
		return ordered[float32](test)
	case batch.Float64s:
		return ordered[float64](test)
	case batch.Int64s, batch.Int128s:
		if t.Kind == types.Decimal && (b.Args[1].Scale != t.Scale || !isShort(t) || !isShort(b.Args[1])) {
			sa, sb := t.Scale, b.Args[1].Scale
			return byOutcome(test, func(x, y *batch.Column, i int) int {
				return decimal.CompareScaled(unscaled(x, i), sa, unscaled(y, i), sb)
			})
		}
		return ordered[int64](test)
	case batch.ByteSlices:
		return byOutcome(test, func(x, y *batch.Column, i int) int { return bytes.Compare(x.Bytes(i), y.Bytes(i)) })
	case batch.Lists, batch.Maps, batch.Structs:
		return byOutcome(test, func(x, y *batch.Column, i int) int {
			if SameValue(t, x, i, y, i) {
				return 0
			}
			return 1
		})
	}
	return byOutcome(test, func(x, y *batch.Column, i int) int { return CompareValues(t, x, i, y, i) })
}

// byOutcome asks a comparison that gives less, equal or greater.
func byOutcome(test Order, compare func(x, y *batch.Column, i int) int) Kernel {
	answers := [3]bool{test&Less != 0, test&Equal != 0, test&Greater != 0}
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		x, y := args[0], args[1]
		return rows.Each(func(i int) error {
			out.Bool[i] = answers[compare(x, y, i)+1]
			return nil
		})
	}
}

// ordered compares numbers as the machine does: NaN is unequal to all.
func ordered[T number](test Order) Kernel {
	switch test {
	case Equal:
		return equal[T]
	case Unequal:
		return unequal[T]
	case Less:
		return less[T]
	case LessOrEqual:
		return lessOrEqual[T]
	case Greater:
		return swapped(less[T])
	}
	return swapped(lessOrEqual[T])
}

// swapped is a kernel with its two arguments the other way round.
func swapped(k Kernel) Kernel {
	var other [2]*batch.Column
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		other = [2]*batch.Column{args[1], args[0]}
		return k(out, other[:], rows)
	}
}

func equal[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := out.Bool, batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] == b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] == b[i]
	}
	return nil
}

func unequal[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := out.Bool, batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] != b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] != b[i]
	}
	return nil
}

func less[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := out.Bool, batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] < b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] < b[i]
	}
	return nil
}

func lessOrEqual[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := out.Bool, batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] <= b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] <= b[i]
	}
	return nil
}
