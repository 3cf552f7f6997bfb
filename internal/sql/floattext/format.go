package floattext

import (
	"math"
	"math/big"
	"math/bits"
)

// AppendDouble writes a DOUBLE.
func AppendDouble(dst []byte, v float64) []byte {
	if b, done := special(dst, v); done {
		return b
	}
	u := math.Float64bits(v)
	fraction, exponent := u&(1<<52-1), int(u>>52&0x7ff)
	significant := 53
	if exponent == 0 {
		lead := bits.LeadingZeros64(fraction)
		fraction <<= lead - 11
		exponent, significant = 12-lead, 64-lead
	} else {
		fraction |= 1 << 52
	}
	return write(dst, v < 0, fraction, exponent-1023, significant)
}

// AppendFloat writes a FLOAT.
func AppendFloat(dst []byte, v float32) []byte {
	if b, done := special(dst, float64(v)); done {
		return b
	}
	u := math.Float32bits(v)
	fraction, exponent := uint64(u&(1<<23-1)), int(u>>23&0xff)
	significant := 24
	if exponent == 0 {
		lead := bits.LeadingZeros32(uint32(fraction))
		fraction <<= lead - 8
		exponent, significant = 9-lead, 32-lead
	} else {
		fraction |= 1 << 23
	}
	return write(dst, v < 0, fraction<<29, exponent-127, significant)
}

// special writes what has no digits, and zero.
func special(dst []byte, v float64) ([]byte, bool) {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...), true
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...), true
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...), true
	case v == 0 && math.Signbit(v):
		return append(dst, "-0.0"...), true
	case v == 0:
		return append(dst, "0.0"...), true
	}
	return dst, false
}

// number are the digits of a number: 0.d1d2d3… * 10^exponent.
type number struct {
	digits   [20]byte
	n        int
	exponent int
}

func write(dst []byte, negative bool, fraction uint64, exponent, significant int) []byte {
	var d number
	d.develop(fraction, exponent, significant)
	if negative {
		dst = append(dst, '-')
	}
	digits := d.digits[:d.n]
	switch {
	case 0 < d.exponent && d.exponent < 8:
		for i := range d.exponent {
			dst = append(dst, at(digits, i))
		}
		dst = append(dst, '.')
		if d.n <= d.exponent {
			return append(dst, '0')
		}
		return append(dst, digits[d.exponent:]...)
	case -3 < d.exponent && d.exponent <= 0:
		dst = append(dst, '0', '.')
		for range -d.exponent {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0], '.')
	if d.n > 1 {
		dst = append(dst, digits[1:]...)
	} else {
		dst = append(dst, '0')
	}
	dst = append(dst, 'E')
	e := d.exponent - 1
	if e < 0 {
		dst, e = append(dst, '-'), -e
	}
	if e >= 100 {
		dst = append(dst, byte('0'+e/100))
	}
	if e >= 10 {
		dst = append(dst, byte('0'+e/10%10))
	}
	return append(dst, byte('0'+e%10))
}

func at(digits []byte, i int) byte {
	if i < len(digits) {
		return digits[i]
	}
	return '0'
}

// develop finds the digits of fraction * 2^(exponent-52), of whose bits as many as
// said are significant. Small whole numbers are written out, without the digits below
// half a unit in the last place; other numbers are divided out digit by digit until
// what is left is below half a unit.
func (d *number) develop(fraction uint64, exponent, significant int) {
	tail := bits.TrailingZeros64(fraction)
	width := 53 - tail
	tiny := max(0, width-exponent-1)
	if exponent <= 62 && exponent >= -21 && tiny == 0 {
		insignificant := 0
		if exponent > significant {
			if p := exponent - significant - 1; p > 1 {
				insignificant = int(float64(p) * 0.301029995663981)
			}
		}
		if exponent >= 52 {
			fraction <<= exponent - 52
		} else {
			fraction >>= 52 - exponent
		}
		d.whole(fraction, insignificant)
		return
	}
	guess := int(math.Floor((math.Float64frombits(0x3ff<<52|fraction&(1<<52-1))-1.5)*0.289529654 + 0.176091259 + float64(exponent)*0.301029995663981))
	b5, s5 := max(0, -guess), max(0, guess)
	b2, s2 := b5+tiny+exponent, s5+tiny
	m2 := b2 - significant
	fraction >>= tail
	b2 -= width - 1
	common := min(b2, s2)
	b2, s2, m2 = b2-common, s2-common, m2-common
	if width == 1 {
		m2-- // below a power of two the neighbours are nearer
	}
	if m2 < 0 {
		b2, s2, m2 = b2-m2, s2-m2, 0
	}
	d.exponent = guess
	if width+b2+fives(b5) < 64 && s2+1+fives(s5+1) < 64 {
		d.divideSmall(fraction*pow5[b5]<<b2, pow5[s5]<<s2, pow5[b5]<<m2)
		return
	}
	d.divideBig(scaled(fraction, b5, b2), scaled(1, s5, s2), scaled(1, b5, m2))
}

// whole writes an integer out, less its insignificant digits.
func (d *number) whole(v uint64, insignificant int) {
	if insignificant > 0 {
		p := uint64(1)
		for range insignificant {
			p *= 10
		}
		rest := v % p
		v /= p
		if rest >= p/2 {
			v++
		}
	}
	d.exponent = insignificant
	for v%10 == 0 {
		v /= 10
		d.exponent++
	}
	var reversed [20]byte
	for ; v > 0; v /= 10 {
		reversed[d.n] = byte('0' + v%10)
		d.n++
	}
	for i := range d.n {
		d.digits[i] = reversed[d.n-1-i]
	}
	d.exponent += d.n
}

// divideSmall gives the digits of b/s, where m is half a unit in the last place.
func (d *number) divideSmall(b, s, m uint64) {
	tens := s * 10
	q := b / s
	b, m = 10*(b%s), m*10
	low, high := b < m, b+m > tens
	if d.begin(int(q), high) {
		low, high = false, false
	}
	for !low && !high {
		q = b / s
		b, m = 10*(b%s), m*10
		if int64(m) > 0 {
			low, high = b < m, b+m > tens
		} else {
			low, high = true, true
		}
		d.push(int(q))
	}
	d.end(low, high, func() int {
		switch {
		case b<<1 < tens:
			return -1
		case b<<1 > tens:
			return 1
		}
		return 0
	})
}

// divideBig is divideSmall for long numbers.
func (d *number) divideBig(b, s, m *big.Int) {
	ten := big.NewInt(10)
	tens := new(big.Int).Mul(s, ten)
	q, sum := new(big.Int), new(big.Int)
	step := func() (digit int, low, high bool) {
		q.QuoRem(b, s, b)
		b.Mul(b, ten)
		m.Mul(m, ten)
		return int(q.Int64()), b.Cmp(m) < 0, tens.Cmp(sum.Add(b, m)) <= 0
	}
	digit, low, high := step()
	if d.begin(digit, high) {
		low, high = false, false
	}
	for !low && !high {
		digit, low, high = step()
		d.push(digit)
	}
	d.end(low, high, func() int { return b.Lsh(b, 1).Cmp(tens) })
}

// begin takes the first digit, if it is one, and reports whether at least one more
// must follow, because the number is written with an exponent.
func (d *number) begin(q int, high bool) (more bool) {
	if q == 0 && !high {
		d.exponent--
	} else {
		d.push(q)
	}
	return d.exponent < -3 || d.exponent >= 8
}

func (d *number) push(q int) {
	d.digits[d.n] = byte('0' + q)
	d.n++
}

// end rounds the last digit: up if only the number above is near enough, and to the
// nearer, or even, if both are.
func (d *number) end(low, high bool, difference func() int) {
	d.exponent++
	if !high {
		return
	}
	if low {
		c := difference()
		if c < 0 || c == 0 && d.digits[d.n-1]&1 == 0 {
			return
		}
	}
	i := d.n - 1
	for ; i > 0 && d.digits[i] == '9'; i-- {
		d.digits[i] = '0'
	}
	if d.digits[i] == '9' {
		d.digits[0] = '1'
		d.exponent++
		return
	}
	d.digits[i]++
}

// pow5 are the powers of five in 64 bits.
var pow5 = func() (p [28]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 5
	}
	return p
}()

// fives is how many bits 5^n has, or more.
func fives(n int) int {
	if n < len(pow5) {
		return bits.Len64(pow5[n])
	}
	return n * 3
}

// scaled is v * 5^five * 2^two.
func scaled(v uint64, five, two int) *big.Int {
	b := new(big.Int).SetUint64(v)
	if five > 0 {
		b.Mul(b, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(five)), nil))
	}
	return b.Lsh(b, uint(two))
}
