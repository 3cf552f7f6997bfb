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
		{"asin 0.5", Asin(0.5), math.Pi / 6},
		{"acos 0.5", Acos(0.5), 1.0471975511965977461542144610931676280657},
		{"sin 1e300", Sin(1e300), -0.8178819121159085},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The wanted values are fdlibm's, where they are not the nearest numbers.
func TestFdlibm(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"cosh 1", Cosh(1), 1.543080634815244},
		{"cosh -0.7", Cosh(-0.7), 1.255169005630943},
		{"cosh 30", Cosh(30), 5.3432372907622316e12},
		{"sinh 2.5", Sinh(2.5), 6.0502044810397875},
		{"sinh -0.3", Sinh(-0.3), -0.3045202934471426},
		{"tanh 0.9", Tanh(0.9), 0.7162978701990245},
		{"tanh 3", Tanh(3), 0.9950547536867305},
		{"atan2 2 100", Atan2(2, 100), 0.019997333973150535},
		{"atan2 -8 -1", Atan2(-8, -1), -1.6951513213416582},
		{"atan2 1 3", Atan2(1, 3), 0.3217505543966422},
		{"asin 0.51", Asin(0.51), 0.5351847902755998},
		{"asin -0.99", Asin(-0.99), -1.4292568534704693},
		{"acos 0.51", Acos(0.51), 1.0356115365192968},
		{"acos -0.8", Acos(-0.8), 2.498091544796509},
		{"atan 1.7", Atan(1.7), 1.039072259536091},
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
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e308, -1e308, 1e-300, 709, 711, -745, -746} {
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
