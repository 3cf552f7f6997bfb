package decimal

// Add is a + b, of scales sa and sb, with the precision and scale asked for.
func Add(a Int128, sa int, b Int128, sb int, precision, scale int) (Int128, bool) {
	if v, ok, handled := addFast(a, sa, b, sb, precision, scale); handled {
		return v, ok
	}
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	wa, wb := widen(ma), widen(mb)
	wa.scaleUp(sb - sa)
	wb.scaleUp(sa - sb)
	negative := na
	switch {
	case na == nb:
		wa.add(wb)
	case wa.compare(wb) >= 0:
		wa.subtract(wb)
	default:
		wb.subtract(wa)
		wa, negative = wb, nb
	}
	return wa.rescaled(negative, max(sa, sb), precision, scale)
}

// Subtract is a - b.
func Subtract(a Int128, sa int, b Int128, sb int, precision, scale int) (Int128, bool) {
	return Add(a, sa, Negate(b), sb, precision, scale)
}

// Multiply is a * b.
func Multiply(a Int128, sa int, b Int128, sb int, precision, scale int) (Int128, bool) {
	if v, ok, handled := multiplyFast(a, sa, b, sb, precision, scale); handled {
		return v, ok
	}
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	w := product(ma, mb)
	return w.rescaled(na != nb, sa+sb, precision, scale)
}

// significant is how many digits of a quotient are computed before it is rounded to
// the scale asked for.
const significant = 38

// Divide is a / b, b not 0.
func Divide(a Int128, sa int, b Int128, sb int, precision, scale int) (Int128, bool) {
	if v, ok, handled := divideFast(a, sa, b, sb, precision, scale); handled {
		return v, ok
	}
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	w := widen(ma)
	if w.isZero() {
		return Int128{}, true
	}
	divisor := widen(mb)
	up := max(0, significant+1+divisor.digits()-w.digits())
	w.scaleUp(up)
	w.divide(mb)
	at := sa - sb + up
	// The quotient has one digit or two more than are significant, and these decide the
	// rounding: the remainder does not matter.
	if extra := w.digits() - significant; extra > 0 {
		w.scaleDown(extra)
		at -= extra
	}
	return w.rescaled(na != nb, at, precision, scale)
}

// Remainder is a % b with the sign of a, b not 0.
func Remainder(a Int128, sa int, b Int128, sb int, precision, scale int) (Int128, bool) {
	ma, na := magnitude(a)
	mb, _ := magnitude(b)
	wa, wb := widen(ma), widen(mb)
	wa.scaleUp(sb - sa)
	wb.scaleUp(sa - sb)
	if wb[2]|wb[3]|wb[4]|wb[5] == 0 {
		rest := wa.divide([2]uint64{wb[0], wb[1]})
		wa = widen(rest)
	}
	// Else the divisor was scaled beyond 128 bits, so the dividend was not: it is the
	// smaller one.
	return wa.rescaled(na, max(sa, sb), precision, scale)
}

// Rescale is a with another precision and scale.
func Rescale(a Int128, from, precision, scale int) (Int128, bool) {
	m, negative := magnitude(a)
	if v, ok, handled := settled(m, negative, from, precision, scale); handled {
		return v, ok
	}
	w := widen(m)
	return w.rescaled(negative, from, precision, scale)
}

// rescaled gives w of a scale with the precision and scale asked for.
func (w *wide) rescaled(negative bool, from, precision, scale int) (Int128, bool) {
	switch {
	case from > scale+significant*3:
		*w = wide{}
	case from > scale:
		w.scaleDown(from - scale)
	case from < scale:
		if w[2]|w[3]|w[4]|w[5] != 0 || scale-from > significant {
			return Int128{}, w.isZero()
		}
		w.scaleUp(scale - from)
	}
	return w.value(negative, precision)
}

// CompareScaled orders values of any two scales.
func CompareScaled(a Int128, sa int, b Int128, sb int) int {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	if x, y := Sign(a), Sign(b); x != y {
		return max(-1, min(1, x-y))
	}
	wa, wb := widen(ma), widen(mb)
	wa.scaleUp(sb - sa)
	wb.scaleUp(sa - sb)
	c := wa.compare(wb)
	if na && nb {
		return -c
	}
	return c
}

// Truncated is the whole part, towards zero, in its lower 64 bits as Java's longValue.
func Truncated(a Int128, scale int) int64 {
	v := TruncateTo(a, scale, 0)
	return Low(v)
}

// TruncateTo cuts digits towards zero, from one scale to a smaller one.
func TruncateTo(a Int128, from, to int) Int128 {
	if from <= to {
		return a
	}
	m, negative := magnitude(a)
	w := widen(m)
	for n := from - to; n > 0; n -= maxPower {
		w.divide([2]uint64{powers64[min(n, maxPower)]})
	}
	return signed([2]uint64{w[0], w[1]}, negative)
}
