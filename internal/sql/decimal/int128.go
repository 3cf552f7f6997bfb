package decimal

import (
	"math/bits"

	"github.com/weirstream/weir/batch"
)

// Int128 is an unscaled value.
type Int128 = batch.Int128

// FromInt64 widens an integer.
func FromInt64(v int64) Int128 { return Int128{Hi: v >> 63, Lo: uint64(v)} }

// ToInt64 gives the value if it fits into 64 bits.
func ToInt64(v Int128) (n int64, ok bool) { return int64(v.Lo), v.Hi == int64(v.Lo)>>63 }

// Low are the lower 64 bits, as Java's longValue.
func Low(v Int128) int64 { return int64(v.Lo) }

// Sign is -1, 0 or 1.
func Sign(v Int128) int {
	switch {
	case v.Hi < 0:
		return -1
	case v.Hi == 0 && v.Lo == 0:
		return 0
	}
	return 1
}

// Negate changes the sign.
func Negate(v Int128) Int128 {
	lo, carry := bits.Add64(^v.Lo, 1, 0)
	return Int128{Hi: int64(uint64(^v.Hi) + carry), Lo: lo}
}

// Compare orders values of one scale.
func Compare(a, b Int128) int {
	switch {
	case a == b:
		return 0
	case a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	}
	return 1
}

// magnitude is the absolute value in two words, the lower first, and whether the
// value is negative.
func magnitude(v Int128) (m [2]uint64, negative bool) {
	if v.Hi < 0 {
		v, negative = Negate(v), true
	}
	return [2]uint64{v.Lo, uint64(v.Hi)}, negative
}

// signed puts a magnitude below 2^127 and a sign together.
func signed(m [2]uint64, negative bool) Int128 {
	v := Int128{Hi: int64(m[1]), Lo: m[0]}
	if negative {
		return Negate(v)
	}
	return v
}

// maxPower is the greatest power of ten in 64 bits.
const maxPower = 19

// powers64 are the powers of ten in 64 bits.
var powers64 = func() (p [maxPower + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// powers are the powers of ten in 128 bits.
var powers = func() (p [39][2]uint64) {
	p[0][0] = 1
	for i := 1; i < len(p); i++ {
		hi, lo := bits.Mul64(p[i-1][0], 10)
		p[i] = [2]uint64{lo, hi + p[i-1][1]*10}
	}
	return p
}()

// Power64 is 10^n, n up to 18.
func Power64(n int) int64 { return int64(powers64[n]) }

// Fits reports whether a value has no more digits than a precision.
func Fits(v Int128, precision int) bool {
	m, _ := magnitude(v)
	p := powers[precision]
	return m[1] < p[1] || m[1] == p[1] && m[0] < p[0]
}
