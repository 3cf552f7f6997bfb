package elementary

import "math"

// double is a number as the sum of two: hi is the nearest float64, and lo what is
// missing.
type double struct{ hi, lo float64 }

// sum2 is a + b exactly.
func sum2(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quick is a + b exactly where a is not the smaller one.
func quick(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

// product2 is a * b exactly.
func product2(a, b float64) double {
	p := a * b
	return double{p, math.FMA(a, b, -p)}
}

func (a double) add(b double) double {
	s, t := sum2(a.hi, b.hi), sum2(a.lo, b.lo)
	s = quick(s.hi, s.lo+t.hi)
	return quick(s.hi, s.lo+t.lo)
}

func (a double) negative() double { return double{-a.hi, -a.lo} }

func (a double) subtract(b double) double { return a.add(b.negative()) }

func (a double) times(b double) double {
	p := product2(a.hi, b.hi)
	return quick(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a double) timesFloat(b float64) double {
	p := product2(a.hi, b)
	return quick(p.hi, p.lo+a.lo*b)
}

func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.subtract(b.timesFloat(q))
	q2 := r.hi / b.hi
	r = r.subtract(b.timesFloat(q2))
	s := quick(q, q2)
	return s.add(double{r.hi / b.hi, 0})
}

// scaled is a * 2^n, exactly unless it leaves the range.
func (a double) scaled(n int) double { return double{math.Ldexp(a.hi, n), math.Ldexp(a.lo, n)} }

func whole(v float64) double { return double{v, 0} }

// Constants, each as two numbers.
var (
	ln2    = double{0.6931471805599453, 2.3190468138462996e-17}
	ln10   = double{2.302585092994046, -2.1707562233822494e-16}
	halfPi = double{1.5707963267948966, 6.123233995736766e-17}
)
