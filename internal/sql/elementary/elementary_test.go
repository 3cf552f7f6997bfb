package elementary

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The wanted values are exact ones of many digits, rounded.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"log 2.55", Log(2.55), 0.9360933591703347085},
		{"log10 1000", Log10(1000), 3},
		{"cos 5", Cos(5), 0.28366218546322626446663917151355730833},
		{"tan 5", Tan(5), -3.38051500624658563698270587944734390870957},
		{"atan 5", Atan(5), 1.3734007669450158608612719264449611486509996},
		{"exp 1", Exp(1), math.E},
		{"pow", Pow(10, 100), 1e100},
		{"pow 2 1.5", Pow(2, 1.5), 2 * math.Sqrt2},
		{"pow negative", Pow(-2.5, 3), -15.625},
		{"cosh 1", Cosh(1), 1.543080634815243778477905620757},
		{"asin 0.5", Asin(0.5), math.Pi / 6},
		{"acos 0.5", Acos(0.5), 1.0471975511965977461542144610931676280657},
		{"sin 1e300", Sin(1e300), -0.8178819121159085},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestNearTheStandardLibrary(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	near := func(name string, x, got, want float64) {
		t.Helper()
		if math.IsNaN(want) && math.IsNaN(got) || got == want {
			return
		}
		if !(math.Abs(got-want) <= 64*math.Abs(want)*0x1p-52+math.SmallestNonzeroFloat64) {
			t.Fatalf("%s of %v: %v, the library %v", name, x, got, want)
		}
	}
	for range 20000 {
		x := r.NormFloat64() * math.Pow(10, float64(r.IntN(8)-4))
		near("exp", x, Exp(x), math.Exp(x))
		near("log", x, Log(x), math.Log(x))
		near("log10", x, Log10(x), math.Log10(x))
		near("sin", x, Sin(x), math.Sin(x))
		near("cos", x, Cos(x), math.Cos(x))
		near("tan", x, Tan(x), math.Tan(x))
		near("sinh", x, Sinh(x), math.Sinh(x))
		near("cosh", x, Cosh(x), math.Cosh(x))
		near("tanh", x, Tanh(x), math.Tanh(x))
		near("asin", x, Asin(x), math.Asin(x))
		if math.Abs(x) < 0.9 { // the library's is coarse near 1
			near("acos", x, Acos(x), math.Acos(x))
		}
		near("atan", x, Atan(x), math.Atan(x))
		y := r.NormFloat64() * 10
		near("atan2", x, Atan2(y, x), math.Atan2(y, x))
		near("pow", x, Pow(math.Abs(x), y), math.Pow(math.Abs(x), y))
	}
}

func TestSpecialValues(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e308, -1e308, 1e-300, 709, 710, -745, -746} {
		for name, pair := range map[string][2]func(float64) float64{
			"exp": {Exp, math.Exp}, "log": {Log, math.Log}, "log10": {Log10, math.Log10}, "sinh": {Sinh, math.Sinh}, "cosh": {Cosh, math.Cosh}, "tanh": {Tanh, math.Tanh},
			"asin": {Asin, math.Asin}, "acos": {Acos, math.Acos}, "atan": {Atan, math.Atan},
		} {
			got, want := pair[0](x), pair[1](x)
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) && math.Abs(got/want-1) > 1e-15 || math.Signbit(got) != math.Signbit(want) && want == want {
				t.Errorf("%s of %v: %v, want %v", name, x, got, want)
			}
		}
	}
}

func BenchmarkPow(b *testing.B) {
	for b.Loop() {
		Pow(1.5, 2.5)
	}
}
