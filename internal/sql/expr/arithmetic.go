package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

// arithmetic are the operators on numbers.
func arithmetic() []*Function {
	return []*Function{
		{Name: "+", Form: Operator, Category: "arithmetic", Usage: "a + b", Doc: "The sum of a and b; integers wrap around.", Infer: inferArithmetic, Nulls: Total, Kernel: func(b *Bound) (Kernel, error) { return add(b) }},
	}
}

func inferArithmetic(s *Site) (types.Type, error) {
	if err := s.Count(2, 2); err != nil {
		return types.Type{}, err
	}
	if s.Kind(0) != types.BigInt || s.Kind(1) != types.BigInt {
		return types.Type{}, s.NoMatch("numbers")
	}
	return types.Of(types.BigInt).WithNull(s.Nullable()), nil
}

func add(b *Bound) (Kernel, error) {
	return sum[int64], nil
}

func sum[T int8 | int16 | int32 | int64 | float32 | float64](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := batch.Values[T](out), batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] + b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] + b[i]
	}
	return nil
}
