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

// decimalSum is a + sign*b: in 64 bits where the result fits, which its type then says.
func decimalSum(b *Bound, op decimalOp, sign int64) Kernel {
	if !isShort(b.T) || !isShort(b.Args[0]) || !isShort(b.Args[1]) {
		return decimalKernel(b, op, false)
	}
	ma, mb := decimal.Power64(b.T.Scale-b.Args[0].Scale), sign*decimal.Power64(b.T.Scale-b.Args[1].Scale)
	return Binary(func(x, y int64) int64 { return x*ma + y*mb })
}

// decimalProduct is a * b: in 64 bits where the result fits, which its type then says.
func decimalProduct(b *Bound) Kernel {
	if isShort(b.T) && isShort(b.Args[0]) && isShort(b.Args[1]) {
		return product[int64]
	}
	return decimalKernel(b, decimal.Multiply, false)
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
