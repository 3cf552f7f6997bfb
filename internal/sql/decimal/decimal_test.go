package decimal

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func bigOf(v Int128) *big.Int {
	b := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(v.Lo))
}

var ten = big.NewInt(10)

func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// halfUp divides rounding away from zero at the half.
func halfUp(n, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, d, new(big.Int))
	if r.Lsh(r.Abs(r), 1); r.CmpAbs(d) >= 0 {
		q.Add(q, big.NewInt(int64(n.Sign()*d.Sign())))
	}
	return q
}

// expected brings a number of a scale to a precision and scale.
func expected(v *big.Int, from, precision, scale int) (*big.Int, bool) {
	if from > scale {
		v = halfUp(v, power(from-scale))
	} else {
		v = new(big.Int).Mul(v, power(scale-from))
	}
	return v, v.CmpAbs(power(precision)) < 0
}

func random(r *rand.Rand) (Int128, int) {
	n := r.IntN(38) + 1
	if r.IntN(2) == 0 {
		n = r.IntN(12) + 1
	}
	v, _ := new(big.Int).SetString("0", 10)
	for range n {
		d := int64(r.IntN(10))
		if r.IntN(3) == 0 {
			d = 9
		}
		v.Mul(v, ten).Add(v, big.NewInt(d))
	}
	x := Int128{Lo: new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64(), Hi: new(big.Int).Rsh(v, 64).Int64()}
	if r.IntN(2) == 0 {
		x = Negate(x)
	}
	if r.IntN(2) == 0 {
		return x, r.IntN(7)
	}
	return x, r.IntN(39)
}

func TestAgainstBig(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20000 {
		a, sa := random(r)
		b, sb := random(r)
		precision := 1 + r.IntN(38)
		scale := r.IntN(precision + 1)
		check := func(op string, exact *big.Int, at int, got Int128, ok bool) {
			t.Helper()
			want, fits := expected(exact, at, precision, scale)
			if ok != fits || ok && bigOf(got).Cmp(want) != 0 {
				t.Fatalf("%v/%d %s %v/%d to (%d, %d): %v %v, want %v %v", bigOf(a), sa, op, bigOf(b), sb, precision, scale, bigOf(got), ok, want, fits)
			}
		}
		s := max(sa, sb)
		ba, bb := new(big.Int).Mul(bigOf(a), power(s-sa)), new(big.Int).Mul(bigOf(b), power(s-sb))
		got, ok := Add(a, sa, b, sb, precision, scale)
		check("+", new(big.Int).Add(ba, bb), s, got, ok)
		got, ok = Subtract(a, sa, b, sb, precision, scale)
		check("-", new(big.Int).Sub(ba, bb), s, got, ok)
		got, ok = Multiply(a, sa, b, sb, precision, scale)
		check("*", new(big.Int).Mul(bigOf(a), bigOf(b)), sa+sb, got, ok)
		if c := CompareScaled(a, sa, b, sb); c != ba.Cmp(bb) {
			t.Fatalf("%v/%d against %v/%d: %d", bigOf(a), sa, bigOf(b), sb, c)
		}
		if Sign(b) == 0 {
			continue
		}
		got, ok = Remainder(a, sa, b, sb, precision, scale)
		check("%", new(big.Int).Rem(ba, bb), s, got, ok)
		got, ok = Divide(a, sa, b, sb, precision, scale)
		quotient, at := quotient38(bigOf(a), bigOf(b), sa-sb)
		check("/", quotient, at, got, ok)
	}
}

// quotient38 is a / b rounded to 38 significant digits.
func quotient38(a, b *big.Int, scale int) (*big.Int, int) {
	for up := 0; ; up++ {
		q := new(big.Int).Quo(new(big.Int).Mul(a, power(up)), b)
		if q.CmpAbs(power(37)) >= 0 || up > 80 {
			n := len(new(big.Int).Abs(q).String())
			if n > 38 {
				return halfUp(a, new(big.Int).Mul(b, power(n-38))), scale - (n - 38)
			}
			return halfUp(new(big.Int).Mul(a, power(up)), b), scale + up
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		text             string
		precision, scale int
		want             string
		outcome          Parsed
	}{
		{"123.45", 5, 2, "123.45", Good},
		{"-0.005", 5, 2, "-0.01", Good},
		{".5", 1, 1, "0.5", Good},
		{"5.", 3, 1, "5.0", Good},
		{"1e3", 5, 0, "1000", Good},
		{"1E-3", 5, 3, "0.001", Good},
		{"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999", Good},
		{"0.12345678901234567890123456789012345678", 38, 38, "0.12345678901234567890123456789012345678", Good},
		{"1000", 3, 0, "", Overflow},
		{"1e99999999", 38, 0, "", Overflow},
		{"1e-99999999", 38, 2, "0.00", Good},
		{"123456789012345678", 18, 0, "123456789012345678", Good},
		{"0.000000000000000005", 3, 2, "0.00", Good},
		{"99.995", 4, 2, "", Overflow},
		{"-7", 30, 20, "-7.00000000000000000000", Good},
		{".", 3, 0, "", Malformed},
		{"-", 3, 0, "", Malformed},
		{"1.2.3", 3, 0, "", Malformed},
		{"", 3, 0, "", Malformed},
		{"1x", 3, 0, "", Malformed},
		{"e3", 3, 0, "", Malformed},
		{"1e", 3, 0, "", Malformed},
	} {
		v, outcome := Parse([]byte(c.text), c.precision, c.scale)
		if outcome != c.outcome {
			t.Errorf("%q: %d, want %d", c.text, outcome, c.outcome)
			continue
		}
		if outcome == Good {
			if got := string(Append(nil, v, c.scale)); got != c.want {
				t.Errorf("%q: %s, want %s", c.text, got, c.want)
			}
		}
	}
}

func TestFloat(t *testing.T) {
	v, _ := Parse([]byte("1234567890123456789012345678.0123456789"), 38, 10)
	if got := ToFloat64(v, 10); got != 1234567890123456789012345678.0123456789 {
		t.Errorf("%v", got)
	}
	if got := ToFloat64(FromInt64(-15), 1); got != -1.5 {
		t.Errorf("%v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("12.5e3")
	f.Fuzz(func(t *testing.T, text string) {
		v, outcome := Parse([]byte(text), 38, 10)
		if outcome != Good {
			return
		}
		w, again := Parse(Append(nil, v, 10), 38, 10)
		if again != Good || w != v {
			t.Errorf("%q is %v, and read again %v", text, v, w)
		}
	})
}

func TestProduct64(t *testing.T) {
	for _, a := range []int64{0, 1, -1, 7, -1 << 63, 1<<63 - 1, -123456789012} {
		for _, b := range []int64{0, 1, -1, -9, -1 << 63, 1<<63 - 1, 987654321098} {
			want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
			if got := bigOf(Product64(a, b)); got.Cmp(want) != 0 {
				t.Errorf("%d * %d: %v, want %v", a, b, got, want)
			}
		}
	}
}
