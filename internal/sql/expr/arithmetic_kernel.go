package expr

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

var errDivisionByZero = errors.New("division by zero")

// errNoKernel is a call that inference should have refused.
var errNoKernel = errors.New("no kernel for these types")

type integer interface{ int8 | int16 | int32 | int64 }

type number interface{ integer | float32 | float64 }

func sumKernel(b *Bound) (Kernel, error) {
	switch b.T.Kind {
	case types.TinyInt:
		return sum[int8], nil
	case types.SmallInt:
		return sum[int16], nil
	case types.Int, types.IntervalYearMonth:
		return sum[int32], nil
	case types.BigInt, types.IntervalDayTime:
		return sum[int64], nil
	case types.Float:
		return sum[float32], nil
	case types.Double:
		return sum[float64], nil
	case types.Decimal:
		return decimalSum(b, decimal.Add, 1), nil
	}
	return temporalSumKernel(b, 1)
}

func differenceKernel(b *Bound) (Kernel, error) {
	switch b.T.Kind {
	case types.TinyInt:
		return difference[int8], nil
	case types.SmallInt:
		return difference[int16], nil
	case types.Int:
		return difference[int32], nil
	case types.BigInt:
		return difference[int64], nil
	case types.Float:
		return difference[float32], nil
	case types.Double:
		return difference[float64], nil
	case types.Decimal:
		return decimalSum(b, decimal.Subtract, -1), nil
	}
	return temporalDifferenceKernel(b)
}

func productKernel(b *Bound) (Kernel, error) {
	switch b.T.Kind {
	case types.TinyInt:
		return product[int8], nil
	case types.SmallInt:
		return product[int16], nil
	case types.Int:
		return product[int32], nil
	case types.BigInt:
		return product[int64], nil
	case types.Float:
		return product[float32], nil
	case types.Double:
		return product[float64], nil
	case types.Decimal:
		return decimalProduct(b), nil
	}
	return intervalProductKernel(b)
}

func quotientKernel(b *Bound) (Kernel, error) {
	switch b.T.Kind {
	case types.TinyInt:
		return quotient[int8], nil
	case types.SmallInt:
		return quotient[int16], nil
	case types.Int:
		return quotient[int32], nil
	case types.BigInt:
		return quotient[int64], nil
	case types.Float:
		return Binary(func(a, b float32) float32 { return a / b }), nil
	case types.Double:
		return Binary(func(a, b float64) float64 { return a / b }), nil
	case types.Decimal:
		return decimalKernel(b, decimal.Divide, true), nil
	}
	return nil, errNoKernel
}

// remainderKernel computes integers in the wider operand's type. What a DECIMAL leaves
// by an integer is one.
func remainderKernel(b *Bound) (Kernel, error) {
	switch {
	case b.T.Kind == types.Decimal:
		return decimalKernel(b, decimal.Remainder, true), nil
	case b.Args[0].Kind == types.Decimal:
		return decimalRemainder(b), nil
	}
	switch b.Args[0].Kind {
	case types.TinyInt:
		return remainder[int8, int8], nil
	case types.SmallInt:
		return remainderOf[int16](b.T.Kind), nil
	case types.Int:
		return remainderOf[int32](b.T.Kind), nil
	}
	return remainderOf[int64](b.T.Kind), nil
}

func remainderOf[A integer](result types.Kind) Kernel {
	switch result {
	case types.TinyInt:
		return remainder[A, int8]
	case types.SmallInt:
		return remainder[A, int16]
	case types.Int:
		return remainder[A, int32]
	}
	return remainder[A, int64]
}

func sum[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
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

func difference[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := batch.Values[T](out), batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] - b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] - b[i]
	}
	return nil
}

func product[T number](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := batch.Values[T](out), batch.Values[T](args[0]), batch.Values[T](args[1])
	if rows.Sel == nil {
		a, b = a[:len(r)], b[:len(r)]
		for i := range r {
			r[i] = a[i] * b[i]
		}
		return nil
	}
	for _, i := range rows.Sel {
		r[i] = a[i] * b[i]
	}
	return nil
}

func quotient[T integer](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := batch.Values[T](out), batch.Values[T](args[0]), batch.Values[T](args[1])
	return rows.Each(func(i int) error {
		if b[i] == 0 {
			return AtRow(i, errDivisionByZero)
		}
		r[i] = a[i] / b[i]
		return nil
	})
}

func remainder[A, R integer](out *batch.Column, args []*batch.Column, rows Rows) error {
	r, a, b := batch.Values[R](out), batch.Values[A](args[0]), batch.Values[A](args[1])
	return rows.Each(func(i int) error {
		if b[i] == 0 {
			return AtRow(i, errDivisionByZero)
		}
		r[i] = R(a[i] % b[i])
		return nil
	})
}

func negateKernel(b *Bound) (Kernel, error) {
	switch batch.LayoutOf(b.T) {
	case batch.Int8s:
		return Unary(func(v int8) int8 { return -v }), nil
	case batch.Int16s:
		return Unary(func(v int16) int16 { return -v }), nil
	case batch.Int32s:
		return Unary(func(v int32) int32 { return -v }), nil
	case batch.Int64s:
		return Unary(func(v int64) int64 { return -v }), nil
	case batch.Int128s:
		return Unary(decimal.Negate), nil
	case batch.Float32s:
		return Unary(func(v float32) float32 { return -v }), nil
	}
	return Unary(func(v float64) float64 { return -v }), nil
}
