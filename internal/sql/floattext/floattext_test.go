package floattext

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestDouble(t *testing.T) {
	for v, want := range map[float64]string{
		1: "1.0", 0.1: "0.1", 0.30000000000000004: "0.30000000000000004", 1e7: "1.0E7", 1e6: "1000000.0", 0.001: "0.001", 1e-4: "1.0E-4",
		123456789.123: "1.23456789123E8", 1e21: "1.0E21", 1e100: "1.0E100", math.SmallestNonzeroFloat64: "4.9E-324", math.MaxFloat64: "1.7976931348623157E308",
		7.158278823333334e9: "7.158278823333334E9", 2e23: "1.9999999999999998E23", 1.2345678901234567e19: "1.2345678901234567E19", -1.2345678901234569e27: "-1.2345678901234569E27", 1e38: "1.0E38",
	} {
		if got := string(AppendDouble(nil, v)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestFloat(t *testing.T) {
	for v, want := range map[float32]string{
		1.1: "1.1", 2147483648: "2.14748365E9", 1e10: "1.0E10", 1.17549435e-38: "1.17549435E-38", 3.4028235e38: "3.4028235E38", 16777216: "1.6777216E7",
		999.99994: "999.99994", 3.3000002: "3.3000002", 1.2345679e19: "1.2345679E19", 0.12345679: "0.12345679", math.SmallestNonzeroFloat32: "1.4E-45",
	} {
		if got := string(AppendFloat(nil, v)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTextIsReadBack(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20000 {
		d := math.Float64frombits(r.Uint64())
		if math.IsNaN(d) {
			continue
		}
		text := string(AppendDouble(nil, d))
		if got, ok := Parse([]byte(text), 64); !ok || got != d {
			t.Fatalf("%v is written %s", d, text)
		}
		f := math.Float32frombits(r.Uint32())
		if text := string(AppendFloat(nil, f)); f == f {
			if got, ok := Parse([]byte(text), 32); !ok || float32(got) != f {
				t.Fatalf("%v is written %s", f, text)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"1e400": "+Inf", "-Infinity": "-Inf", "NaN": "NaN", "-NaN": "NaN", " 1.5d ": "1.5", "0x1p3": "8", ".5": "0.5", "5.": "5", "1e-400": "0", "1F": "1",
		"nan": "", "inf": "", "": "", "1_0": "", "1,5": "", "0x10": "", "+-1": "", "e5": "", "d": "", "Inf": "",
	} {
		v, ok := Parse([]byte(text), 64)
		if ok != (want != "") || ok && strconv.FormatFloat(v, 'g', -1, 64) != want {
			t.Errorf("%q: %v %v", text, v, ok)
		}
	}
}
