package elementary

import (
	"math"
	"math/big"
	"sync"
)

// reduced gives x less the nearest multiple of π/2, and that multiple modulo 4.
func reduced(x float64) (r double, quadrant int) {
	if math.Abs(x) <= math.Pi/4 {
		return whole(x), 0
	}
	if math.Abs(x) > 1000 {
		return reducedBig(x)
	}
	n := math.Round(x / halfPi.hi)
	// The third part of π/2 keeps the difference exact to 100 bits.
	r = whole(x).subtract(product2(halfPi.hi, n)).subtract(product2(halfPi.lo, n)).subtract(whole(halfPiRest * n))
	return r, int(n) & 3
}

// halfPiRest is what the two parts of halfPi miss of π/2.
const halfPiRest = -1.4973849048591833e-33

// bits is how many are kept of π for the greatest numbers.
const bits = 1300

// pi is π by Machin's formula, 16 arctan(1/5) - 4 arctan(1/239).
var pi = sync.OnceValue(func() *big.Float {
	arctan := func(n int64) *big.Float {
		sum, term := fresh(), fresh().Quo(fresh().SetInt64(1), fresh().SetInt64(n))
		square := fresh().SetInt64(n * n)
		for k := int64(1); term.MantExp(nil) > -bits; k += 2 {
			sum.Add(sum, fresh().Quo(term, fresh().SetInt64(k)))
			term.Quo(term, square).Neg(term)
		}
		return sum
	}
	a, b := arctan(5), arctan(239)
	return a.Sub(a.Mul(a, fresh().SetInt64(16)), b.Mul(b, fresh().SetInt64(4)))
})

func fresh() *big.Float { return new(big.Float).SetPrec(bits) }

func reducedBig(x float64) (r double, quadrant int) {
	half := fresh().Quo(pi(), fresh().SetInt64(2))
	v := fresh().SetFloat64(x)
	n, _ := fresh().Add(fresh().Quo(v, half), fresh().SetFloat64(math.Copysign(0.5, x))).Int(nil)
	v.Sub(v, half.Mul(half, fresh().SetInt(n)))
	r.hi, _ = v.Float64()
	r.lo, _ = v.Sub(v, fresh().SetFloat64(r.hi)).Float64()
	return r, int(new(big.Int).And(n, big.NewInt(3)).Int64())
}

// sincos are the sine and the cosine.
func sincos(x float64) (sin, cos double) {
	r, quadrant := reduced(x)
	s, c := taylor(r, 1, -1), taylor(r, 0, -1)
	switch quadrant {
	case 1:
		return c, s.negative()
	case 2:
		return s.negative(), c.negative()
	case 3:
		return c.negative(), s
	}
	return s, c
}

// plain reports whether an argument needs no computation here: it is not finite, or so
// small that the function is the argument or 1.
func plain(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) < 1e-10 }

// Sin is the sine.
func Sin(x float64) float64 {
	if plain(x) {
		return math.Sin(x)
	}
	s, _ := sincos(x)
	return s.hi
}

// Cos is the cosine.
func Cos(x float64) float64 {
	if plain(x) {
		return math.Cos(x)
	}
	_, c := sincos(x)
	return c.hi
}

// Tan is the tangent.
func Tan(x float64) float64 {
	if plain(x) {
		return math.Tan(x)
	}
	s, c := sincos(x)
	return s.over(c).hi
}
