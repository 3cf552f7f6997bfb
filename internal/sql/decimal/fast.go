package decimal

import "math/bits"

// The ways of this file are for values that fit into fewer bits, which nearly all do.
// Each reports in handled whether it could.

// fits reports whether a magnitude has no more digits than a precision.
func fits(m [2]uint64, precision int) bool {
	p := powers[precision]
	return m[1] < p[1] || m[1] == p[1] && m[0] < p[0]
}

// times10 multiplies by 10^n if the product stays below 2^126.
func times10(m [2]uint64, n int) (product [2]uint64, ok bool) {
	if n == 0 {
		return m, m[1] < 1<<62
	}
	if n > maxPower {
		return m, false
	}
	hi, lo := bits.Mul64(m[0], powers64[n])
	over, top := bits.Mul64(m[1], powers64[n])
	top, carry := bits.Add64(top, hi, 0)
	return [2]uint64{lo, top}, over == 0 && carry == 0 && top < 1<<62
}

// by10 divides by 10^n, n from 1 to 19, rounding HALF_UP.
func by10(m [2]uint64, n int) [2]uint64 {
	d := powers64[n]
	top, r := m[1]/d, m[1]%d
	low, r := bits.Div64(r, m[0], d)
	if r >= d-r {
		var carry uint64
		low, carry = bits.Add64(low, 1, 0)
		top += carry
	}
	return [2]uint64{low, top}
}

// settled gives a magnitude of a scale with the precision and scale asked for.
func settled(m [2]uint64, negative bool, from, precision, scale int) (v Int128, ok, handled bool) {
	switch drop := from - scale; {
	case drop == 0:
	case drop > 0 && drop <= maxPower:
		m = by10(m, drop)
	case drop < 0:
		if m, handled = times10(m, -drop); !handled {
			return v, false, false
		}
	default:
		return v, false, false
	}
	if !fits(m, precision) {
		return v, false, true
	}
	return signed(m, negative), true, true
}

func addFast(a Int128, sa int, b Int128, sb int, precision, scale int) (v Int128, ok, handled bool) {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	ma, okA := times10(ma, max(sb-sa, 0))
	mb, okB := times10(mb, max(sa-sb, 0))
	if !okA || !okB {
		return v, false, false
	}
	x, y := signed(ma, na), signed(mb, nb)
	lo, carry := bits.Add64(x.Lo, y.Lo, 0)
	m, negative := magnitude(Int128{Hi: x.Hi + y.Hi + int64(carry), Lo: lo})
	return settled(m, negative, max(sa, sb), precision, scale)
}

func multiplyFast(a Int128, sa int, b Int128, sb int, precision, scale int) (v Int128, ok, handled bool) {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	if ma[1] != 0 || mb[1] != 0 {
		return v, false, false
	}
	hi, lo := bits.Mul64(ma[0], mb[0])
	return settled([2]uint64{lo, hi}, na != nb, sa+sb, precision, scale)
}

// divideFast rounds the quotient once. It is that of rounding to significant digits
// before, if the divisor's and the quotient's digits together are fewer than those: no
// fraction of so small a divisor comes so near to a half.
func divideFast(a Int128, sa int, b Int128, sb int, precision, scale int) (v Int128, ok, handled bool) {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	up := scale + sb - sa
	if mb[1] != 0 || up < 0 {
		return v, false, false
	}
	for up > 0 {
		step := min(up, maxPower)
		if ma, handled = times10(ma, step); !handled {
			return v, false, false
		}
		up -= step
	}
	d := mb[0]
	top, r := ma[1]/d, ma[1]%d
	low, r := bits.Div64(r, ma[0], d)
	if r >= d-r {
		var carry uint64
		low, carry = bits.Add64(low, 1, 0)
		top += carry
	}
	m := [2]uint64{low, top}
	if mostDigits(m)+mostDigits(mb) >= significant {
		return v, false, false
	}
	if !fits(m, precision) {
		return v, false, true
	}
	return signed(m, na != nb), true, true
}

// mostDigits is how many digits a magnitude has, or one more.
func mostDigits(m [2]uint64) int {
	length := bits.Len64(m[0])
	if m[1] != 0 {
		length = 64 + bits.Len64(m[1])
	}
	return length*1233>>12 + 1
}

// Product64 is a * b.
func Product64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The product of the words as unsigned counts 2^64 too much for each negative one.
	return Int128{Hi: int64(hi) - a>>63&b - b>>63&a, Lo: lo}
}

// Sum128 is a + b of one scale, which does not overflow 128 bits for values of 38 digits.
func Sum128(a, b Int128) Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	return Int128{Hi: a.Hi + b.Hi + int64(carry), Lo: lo}
}
