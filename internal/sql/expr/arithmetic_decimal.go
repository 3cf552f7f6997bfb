package expr

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/types"
)

// decimalOp is an operation of package decimal.
type decimalOp func(a decimal.Int128, sa int, b decimal.Int128, sb int, precision, scale int) (decimal.Int128, bool)

// isShort reports whether a DECIMAL is kept in 64 bits.
func isShort(t types.Type) bool { return t.Precision <= types.MaxShortPrecision }

// unscaled is value i of a column of DECIMAL.
func unscaled(c *batch.Column, i int) decimal.Int128 {
	if c.Layout == batch.Int64s {
		return decimal.FromInt64(c.I64[i])
	}
	return c.I128[i]
}

// setUnscaled writes value i of a column of DECIMAL, which has room for it.
func setUnscaled(c *batch.Column, i int, v decimal.Int128) {
	if c.Layout == batch.Int64s {
		c.I64[i] = decimal.Low(v)
	} else {
		c.I128[i] = v
	}
}

// decimalKernel is an operation on any decimals; a result of too many digits is NULL.
func decimalKernel(b *Bound, op decimalOp, divides bool) Kernel {
	sa, sb, precision, scale := b.Args[0].Scale, b.Args[1].Scale, b.T.Precision, b.T.Scale
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		x, y := args[0], args[1]
		return rows.Each(func(i int) error {
			divisor := unscaled(y, i)
			if divides && decimal.Sign(divisor) == 0 {
				return AtRow(i, errDivisionByZero)
			}
			v, ok := op(unscaled(x, i), sa, divisor, sb, precision, scale)
			if !ok {
				out.SetNull(i)
				return nil
			}
			setUnscaled(out, i, v)
			return nil
		})
	}
}

// decimalSum is a + sign*b: in 64 bits where the result fits, which its type then says, and
// in 128 where the scales are one.
func decimalSum(b *Bound, op decimalOp, sign int64) Kernel {
	x, y := b.Args[0], b.Args[1]
	switch {
	case isShort(b.T) && isShort(x) && isShort(y):
		mx, my := decimal.Power64(b.T.Scale-x.Scale), sign*decimal.Power64(b.T.Scale-y.Scale)
		return Binary(func(v, w int64) int64 { return v*mx + w*my })
	case x.Scale == y.Scale && x.Scale == b.T.Scale && !isShort(b.T):
		return longSum(b.T.Precision, sign < 0)
	}
	return decimalKernel(b, op, false)
}

// longSum is the sum or difference of values of one scale; of too many digits it is NULL.
func longSum(precision int, subtract bool) Kernel {
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		x, y := args[0], args[1]
		for k := range rows.Len() {
			i := rows.At(k)
			w := unscaled(y, i)
			if subtract {
				w = decimal.Negate(w)
			}
			v := decimal.Sum128(unscaled(x, i), w)
			if !decimal.Fits(v, precision) {
				out.SetNull(i)
				v = decimal.Int128{}
			}
			out.I128[i] = v
		}
		return nil
	}
}

// decimalProduct is a * b: in 64 bits where the result fits, which its type then says, and
// of factors of 64 bits in 128 where nothing is rounded.
func decimalProduct(b *Bound) Kernel {
	x, y := b.Args[0], b.Args[1]
	switch {
	case isShort(b.T) && isShort(x) && isShort(y):
		return product[int64]
	case b.T.Scale == x.Scale+y.Scale && !isShort(b.T):
		return longProduct(b)
	}
	return decimalKernel(b, decimal.Multiply, false)
}

// longProduct multiplies without rounding; of too many digits the product is NULL, which
// can only be where the type has as many as there are.
func longProduct(b *Bound) Kernel {
	x, y, precision, scale := b.Args[0], b.Args[1], b.T.Precision, b.T.Scale
	sure := precision < types.MaxPrecision
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		r := out.I128
		if p, q := args[0], args[1]; sure && p.Layout == batch.Int64s && q.Layout == batch.Int64s {
			for k := range rows.Len() {
				i := rows.At(k)
				r[i] = decimal.Product64(p.I64[i], q.I64[i])
			}
			return nil
		}
		for k := range rows.Len() {
			i := rows.At(k)
			v, w := unscaled(args[0], i), unscaled(args[1], i)
			a, okA := decimal.ToInt64(v)
			b, okB := decimal.ToInt64(w)
			if okA && okB {
				if r[i] = decimal.Product64(a, b); sure || decimal.Fits(r[i], precision) {
					continue
				}
			} else if p, ok := decimal.Multiply(v, x.Scale, w, y.Scale, precision, scale); ok {
				r[i] = p
				continue
			}
			out.SetNull(i)
			r[i] = decimal.Int128{}
		}
		return nil
	}
}

// decimalRemainder is a % b where b was an integer, as whose type the result is
// written.
func decimalRemainder(b *Bound) Kernel {
	wide := *b
	wide.T = b.Args[1]
	k := decimalKernel(&wide, decimal.Remainder, true)
	narrow := fromDecimal(wide.T, b.T)
	rest := batch.NewColumn(wide.T)
	return func(out *batch.Column, args []*batch.Column, rows Rows) error {
		rest.Reset(rows.N)
		if err := k(rest, args, rows); err != nil {
			return err
		}
		return narrow(out, rest, rows, AtRowFailure)
	}
}
