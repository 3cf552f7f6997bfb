package elementary

import "math"

// The functions below follow fdlibm, which other engines' results come from to the last
// digit, for its results are not always the nearest numbers:
//
//	Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//
//	Developed at SunSoft, a Sun Microsystems, Inc. business.
//	Permission to use, copy, modify, and distribute this
//	software is freely granted, provided that this notice
//	is preserved.
//
// Products are converted to float64 before they are added, so that no machine fuses the two.

const (
	halfPiHigh    = 1.57079632679489655800e+00
	halfPiLow     = 6.12323399573676603587e-17
	quarterPiHigh = 7.85398163397448278999e-01
	piLow         = 1.2246467991473531772e-16
)

// polynomial is c[0] + x*(c[1] + x*(…)).
func polynomial(x float64, c ...float64) float64 {
	v := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		v = c[i] + float64(x*v)
	}
	return v
}

// arcs is the rational approximation of (asin(x) - x) / x where t is x².
func arcs(t float64) float64 {
	p := t * polynomial(t, 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01, -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05)
	q := polynomial(t, 1, -2.40339491173441421878e+00, 2.02094576023350569471e+00, -6.88283971605453293030e-01, 7.70381505559019352791e-02)
	return p / q
}

// high is a number without the lower half of its bits.
func high(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ (1<<32 - 1)) }

// word is the upper half of a number's bits without its sign.
func word(x float64) uint32 { return uint32(math.Float64bits(x)>>32) & (1<<31 - 1) }

// Asin is the arc sine.
func Asin(x float64) float64 {
	abs := math.Abs(x)
	switch {
	case abs == 1:
		return float64(x*halfPiHigh) + float64(x*halfPiLow)
	case !(abs < 1):
		return math.NaN()
	case abs < 0.5:
		if word(x) < 0x3e400000 {
			return x
		}
		return x + float64(x*arcs(x*x))
	}
	t := (1 - abs) * 0.5
	r, s := arcs(t), math.Sqrt(t)
	var y float64
	if word(x) >= 0x3fef3333 {
		y = halfPiHigh - (2*(s+float64(s*r)) - halfPiLow)
	} else {
		w := high(s)
		c := (t - float64(w*w)) / (s + w)
		p := float64(2*s*r) - (halfPiLow - 2*c)
		y = quarterPiHigh - (p - (quarterPiHigh - 2*w))
	}
	return math.Copysign(y, x)
}

// Acos is the arc cosine.
func Acos(x float64) float64 {
	switch {
	case x == 1:
		return 0
	case x == -1:
		return math.Pi
	case !(math.Abs(x) < 1):
		return math.NaN()
	case math.Abs(x) < 0.5:
		if word(x) <= 0x3c600000 {
			return halfPiHigh
		}
		return halfPiHigh - (x - (halfPiLow - float64(x*arcs(x*x))))
	case x < 0:
		z := (1 + x) * 0.5
		s := math.Sqrt(z)
		w := float64(arcs(z)*s) - halfPiLow
		return math.Pi - 2*(s+w)
	}
	z := (1 - x) * 0.5
	s := math.Sqrt(z)
	d := high(s)
	c := (z - float64(d*d)) / (s + d)
	w := float64(arcs(z)*s) + c
	return 2 * (d + w)
}

var (
	atanHigh = [...]float64{4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01, 1.57079632679489655800e+00}
	atanLow  = [...]float64{2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, 6.12323399573676603587e-17}
)

// Atan is the arc tangent.
func Atan(x float64) float64 {
	at, id := word(x), -1
	t := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case at >= 0x44100000:
		return math.Copysign(halfPiHigh, x)
	case at < 0x3fdc0000:
		if at < 0x3e200000 {
			return x
		}
		t = x
	case at < 0x3fe60000:
		id, t = 0, (2*t-1)/(2+t)
	case at < 0x3ff30000:
		id, t = 1, (t-1)/(t+1)
	case at < 0x40038000:
		id, t = 2, (t-1.5)/(1+float64(1.5*t))
	default:
		id, t = 3, -1/t
	}
	z := t * t
	w := z * z
	s1 := z * polynomial(w, 3.33333333333329318027e-01, 1.42857142725034663711e-01, 9.09088713343650656196e-02, 6.66107313738753120669e-02, 4.97687799461593236017e-02, 1.62858201153657823623e-02)
	s2 := w * polynomial(w, -1.99999999998764832476e-01, -1.11111104054623557880e-01, -7.69187620504482999495e-02, -5.83357013379057348645e-02, -3.65315727442169155270e-02)
	if id < 0 {
		return t - float64(t*(s1+s2))
	}
	return math.Copysign(atanHigh[id]-((float64(t*(s1+s2))-atanLow[id])-t), x)
}

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	switch {
	case x == 1:
		return Atan(y)
	case math.IsNaN(x) || math.IsNaN(y) || x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Atan2(y, x)
	}
	var z float64
	switch k := (int(word(y)) - int(word(x))) >> 20; {
	case k > 60:
		z = halfPiHigh
	case x < 0 && k < -60:
		z = 0
	default:
		z = Atan(math.Abs(y / x))
	}
	if x < 0 {
		z = math.Pi - (z - piLow)
	}
	return math.Copysign(z, y)
}

// expOf is e^x of a number of at least half the logarithm of 2.
func expOf(x float64) float64 {
	const ln2High, ln2Low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := 1
	if word(x) >= 0x3ff0a2b2 {
		k = int(float64(1.44269504088896338700e+00*x) + 0.5)
	}
	top := x - float64(float64(k)*ln2High)
	low := float64(k) * ln2Low
	r := top - low
	t := r * r
	c := r - float64(t*polynomial(t, 1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08))
	return math.Ldexp(1-((low-float64(r*c)/(2-c))-top), k)
}

// Limits of the hyperbolic functions: from the first on, e^-x is nothing beside e^x; from
// the second on e^x, and from the third on its half, is no number.
const (
	oneSided = 22
	mostFull = 709.78
	mostHalf = 710.4758600739439
)

// halfExp is half of e^x for an x from oneSided on.
func halfExp(x float64) float64 {
	switch {
	case x < mostFull:
		return 0.5 * expOf(x)
	case x <= mostHalf:
		w := expOf(0.5 * x)
		return 0.5 * w * w
	}
	return x + math.Inf(1)
}

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 {
	abs := math.Abs(x)
	var y float64
	switch {
	case word(x) < 0x3e300000:
		return x
	case abs < 1:
		t := math.Expm1(abs)
		y = 0.5 * (2*t - float64(t*t)/(t+1))
	case abs < oneSided:
		t := math.Expm1(abs)
		y = 0.5 * (t + t/(t+1))
	default:
		y = halfExp(abs)
	}
	return math.Copysign(y, x)
}

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 {
	abs := math.Abs(x)
	switch {
	case word(x) < 0x3fd62e43:
		t := math.Expm1(abs)
		w := 1 + t
		if word(x) < 0x3c800000 {
			return w
		}
		return 1 + float64(t*t)/(w+w)
	case abs < oneSided:
		t := expOf(abs)
		return 0.5*t + 0.5/t
	}
	return halfExp(abs)
}

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 {
	abs := math.Abs(x)
	var y float64
	switch {
	case math.IsNaN(x):
		return x
	case word(x) < 0x3c800000:
		return x * (1 + x)
	case abs < 1:
		t := math.Expm1(-2 * abs)
		y = -t / (t + 2)
	case abs < oneSided:
		y = 1 - 2/(math.Expm1(2*abs)+2)
	default:
		y = 1
	}
	return math.Copysign(y, x)
}
