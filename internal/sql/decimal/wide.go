package decimal

import "math/bits"

// wide is an unsigned integer of 384 bits, the lowest word first: room for a value of
// 38 digits with 77 zeros after it.
type wide [6]uint64

func widen(m [2]uint64) wide { return wide{m[0], m[1]} }

// scaleUp multiplies by 10^n. The product must fit.
func (w *wide) scaleUp(n int) {
	for ; n > 0; n -= maxPower {
		w.multiply(powers64[min(n, maxPower)])
	}
}

func (w *wide) multiply(by uint64) {
	carry := uint64(0)
	for i := range w {
		hi, lo := bits.Mul64(w[i], by)
		var c uint64
		w[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
}

// product multiplies two values of 128 bits.
func product(a, b [2]uint64) wide {
	w := wide{a[0], a[1]}
	if b[1] == 0 {
		w.multiply(b[0])
		return w
	}
	high := w
	w.multiply(b[0])
	high.multiply(b[1])
	carry := uint64(0)
	for i := 1; i < len(w); i++ {
		w[i], carry = bits.Add64(w[i], high[i-1], carry)
	}
	return w
}

func (w *wide) add(o wide) {
	carry := uint64(0)
	for i := range w {
		w[i], carry = bits.Add64(w[i], o[i], carry)
	}
}

// subtract takes o away, which is not greater.
func (w *wide) subtract(o wide) {
	borrow := uint64(0)
	for i := range w {
		w[i], borrow = bits.Sub64(w[i], o[i], borrow)
	}
}

func (w *wide) compare(o wide) int {
	for i := len(w) - 1; i >= 0; i-- {
		if w[i] != o[i] {
			if w[i] < o[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

func (w *wide) isZero() bool { return *w == wide{} }

// increment adds one.
func (w *wide) increment() { w.add(wide{1}) }

// divide makes w the quotient by a divisor that is not 0, and gives the remainder.
func (w *wide) divide(by [2]uint64) (rest [2]uint64) {
	if by[1] == 0 {
		r := uint64(0)
		for i := len(w) - 1; i >= 0; i-- {
			w[i], r = bits.Div64(r, w[i], by[0])
		}
		return [2]uint64{r, 0}
	}
	return w.divideLong(by)
}

// divideLong is divide by two words: each word of the quotient is estimated from the
// divisor's higher word, with the divisor shifted so that its first bit is set, and the
// estimate is at most two too great.
func (w *wide) divideLong(by [2]uint64) (rest [2]uint64) {
	shift := uint(bits.LeadingZeros64(by[1]))
	d1, d0 := by[1]<<shift|by[0]>>1>>(63-shift), by[0]<<shift
	var n [len(w) + 1]uint64
	for i := len(w) - 1; i >= 0; i-- {
		n[i+1] |= w[i] >> 1 >> (63 - shift)
		n[i] = w[i] << shift
	}
	for i := len(w) - 2; i >= 0; i-- {
		q := estimate(n[i+2], n[i+1], n[i], d1, d0)
		hi0, lo0 := bits.Mul64(q, d0)
		hi1, lo1 := bits.Mul64(q, d1)
		mid, carry := bits.Add64(hi0, lo1, 0)
		top := hi1 + carry
		var borrow uint64
		n[i], borrow = bits.Sub64(n[i], lo0, 0)
		n[i+1], borrow = bits.Sub64(n[i+1], mid, borrow)
		n[i+2], borrow = bits.Sub64(n[i+2], top, borrow)
		if borrow != 0 {
			q--
			var c uint64
			n[i], c = bits.Add64(n[i], d0, 0)
			n[i+1], c = bits.Add64(n[i+1], d1, c)
			n[i+2] += c
		}
		w[i] = q
	}
	w[len(w)-1] = 0
	return [2]uint64{n[0]>>shift | n[1]<<1<<(63-shift), n[1] >> shift}
}

// estimate is a word of the quotient of three words by two, at most one too great.
func estimate(n2, n1, n0, d1, d0 uint64) uint64 {
	q, r := ^uint64(0), uint64(0)
	if n2 < d1 {
		q, r = bits.Div64(n2, n1, d1)
	} else {
		var carry uint64
		if r, carry = bits.Add64(n1, d1, 0); carry != 0 {
			return q
		}
	}
	for {
		hi, lo := bits.Mul64(q, d0)
		if hi < r || hi == r && lo <= n0 {
			return q
		}
		q--
		var carry uint64
		if r, carry = bits.Add64(r, d1, 0); carry != 0 {
			return q
		}
	}
}

// scaleDown divides by 10^n, rounding HALF_UP: what is cut before the last digit does
// not matter, for the digit decides.
func (w *wide) scaleDown(n int) {
	if n == 0 {
		return
	}
	for n--; n > 0; n -= maxPower {
		w.divide([2]uint64{powers64[min(n, maxPower)]})
	}
	if rest := w.divide([2]uint64{10}); rest[0] >= 5 {
		w.increment()
	}
}

// widePowers are the powers of ten in 384 bits.
var widePowers = func() (p [116]wide) {
	p[0] = wide{1}
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1]
		p[i].multiply(10)
	}
	return p
}()

// digits is how many decimal digits w has; 0 has one. The number of bits tells them but
// for one.
func (w *wide) digits() int {
	length := 1
	for i := len(w) - 1; i >= 0; i-- {
		if w[i] != 0 {
			length = i*64 + bits.Len64(w[i])
			break
		}
	}
	n := length * 1233 >> 12
	if n < len(widePowers) && w.compare(widePowers[n]) >= 0 {
		n++
	}
	return max(n, 1)
}

// value gives w with a sign if it has no more digits than the precision.
func (w *wide) value(negative bool, precision int) (Int128, bool) {
	if w[2]|w[3]|w[4]|w[5] != 0 {
		return Int128{}, false
	}
	p := powers[precision]
	if w[1] > p[1] || w[1] == p[1] && w[0] >= p[0] {
		return Int128{}, false
	}
	return signed([2]uint64{w[0], w[1]}, negative), true
}
