package codec

import (
	"bytes"
	"math"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type key struct {
	A string
	B [2]string
	F float64
	G float32
	N int16
	T bool
}

func keyOf[T any](t testing.TB, v T) []byte {
	return plan[T](t).AppendKey([]byte("x"), &v)
}

func TestKeyEquality(t *testing.T) {
	negZero := math.Copysign(0, -1)
	nan := math.Float64frombits(0x7ff8dead00000000)
	equal := func(name string, a, b []byte) {
		t.Helper()
		if !bytes.Equal(a, b) {
			t.Errorf("%s: %x and %x differ", name, a, b)
		}
	}
	equal("zeros", keyOf(t, key{F: negZero, G: float32(negZero)}), keyOf(t, key{}))
	equal("NaNs", keyOf(t, nan), keyOf(t, math.NaN()))
	equal("NaN32s", keyOf(t, [2]float32{math.Float32frombits(0x7fc0beef)}), keyOf(t, [2]float32{float32(math.NaN())}))
	equal("complex", keyOf(t, complex(negZero, nan)), keyOf(t, complex(0, math.NaN())))
	now := time.Now()
	equal("times", keyOf(t, now), keyOf(t, now.In(time.FixedZone("X", 60))))
	equal("addresses", keyOf(t, netip.MustParseAddr("::1")), keyOf(t, netip.MustParseAddr("0:0::1")))
	equal("layout", keyOf(t, struct {
		S string
		N int16
		C celsius
	}{"ab", -2, celsius{42}}), []byte("x\x02ab\xfe\xff\x02\x00\x00\x0042"))
	equal("nothing", keyOf(t, struct{}{}), []byte("x"))
}

// TestKeyInjective compares keys of values drawn from few parts, so that equal
// ones and ones that differ only in where the parts are split both happen.
func TestKeyInjective(t *testing.T) {
	part := rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "\x01a"})
	float := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1})
	gen := rapid.Custom(func(t *rapid.T) key {
		return key{
			A: part.Draw(t, "a"), B: [2]string{part.Draw(t, "b0"), part.Draw(t, "b1")},
			F: float.Draw(t, "f"), G: float32(float.Draw(t, "g")),
			N: rapid.Int16Range(0, 1).Draw(t, "n"), T: rapid.Bool().Draw(t, "t"),
		}
	})
	p := plan[key](t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "x"), gen.Draw(t, "y")
		ka, kb := p.AppendKey(nil, &a), p.AppendKey(nil, &b)
		if (a == b) != bytes.Equal(ka, kb) {
			t.Fatalf("%+v and %+v: keys %x and %x", a, b, ka, kb)
		}
		if a != b && bytes.HasPrefix(ka, kb) {
			t.Fatalf("the key of %+v begins with that of %+v", a, b)
		}
	})
}
