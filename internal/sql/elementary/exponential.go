package elementary

import "math"

// Limits of the arguments whose exponential is a normal number.
const (
	mostExp  = 709.7
	leastExp = -708
)

// inverseFactorials are 1/n!.
var inverseFactorials = func() (f [32]double) {
	f[0] = whole(1)
	for n := 1; n < len(f); n++ {
		f[n] = f[n-1].over(whole(float64(n)))
	}
	return f
}()

// exp is e^x as a number near 1 and a power of two.
func exp(x double) (m double, n int) {
	n = int(math.Round(x.hi / ln2.hi))
	r := x.subtract(ln2.timesFloat(float64(n))).scaled(-6)
	m = inverseFactorials[12]
	for k := 11; k > 0; k-- {
		m = m.times(r).add(inverseFactorials[k])
	}
	m = m.times(r) // e^r - 1, which is doubled in r six times
	for range 6 {
		m = m.add(m).add(m.times(m))
	}
	return m.add(whole(1)), n
}

// Exp is e^x.
func Exp(x float64) float64 {
	if !(leastExp < x && x < mostExp) || math.Abs(x) < 1e-300 {
		return math.Exp(x)
	}
	m, n := exp(whole(x))
	return math.Ldexp(m.hi, n)
}

// log is the natural logarithm of a finite number above 0: an approximation put right
// by what its exponential misses.
func log(x float64) double {
	f, n := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f *= 2
		n--
	}
	y := math.Log(f)
	m, k := exp(whole(-y))
	e := m.timesFloat(f).scaled(k).subtract(whole(1))
	// log(1 + e) is e - e²/2, for e is as small as an error of y.
	e = e.subtract(e.times(e).scaled(-1))
	return ln2.timesFloat(float64(n)).add(whole(y)).add(e)
}

// Log is the natural logarithm.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log(x)
	}
	return log(x).hi
}

// Log10 is the logarithm to base 10.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log10(x)
	}
	return log(x).over(ln10).hi
}

// Pow is x^y.
func Pow(x, y float64) float64 {
	plain := math.Pow(x, y)
	if plain == 0 || plain == 1 || math.IsInf(plain, 0) || math.IsNaN(plain) || math.IsInf(y, 0) || x == 0 || y == 1 {
		return plain
	}
	exponent := log(math.Abs(x)).timesFloat(y)
	if !(leastExp < exponent.hi && exponent.hi < mostExp) {
		return plain
	}
	m, n := exp(exponent)
	return math.Copysign(math.Ldexp(m.hi, n), plain)
}

// taylor is the sum of sign^k * x^n / n! over n = first, first+2, ….
func taylor(x double, first int, sign float64) double {
	square := x.times(x).timesFloat(sign)
	sum := inverseFactorials[first+28]
	for n := first + 26; n >= first; n -= 2 {
		sum = sum.times(square).add(inverseFactorials[n])
	}
	if first == 1 {
		return sum.times(x)
	}
	return sum
}
