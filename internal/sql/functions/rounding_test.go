package functions

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// reference rounds the shortest digits of a number exactly.
func reference(v float64, n int64, half bool) float64 {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'e', -1, 64))
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(n, -n)), nil)
	scale := new(big.Rat).SetInt(power)
	if n < 0 {
		scale.Inv(scale)
	}
	r.Mul(r, scale)
	if half {
		shift := big.NewRat(int64(r.Sign()), 2)
		r.Add(r, shift)
	}
	q := new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
	f, _ := q.Quo(q, scale).Float64()
	return f
}

func TestRoundingOfFloats(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var f floatRounder
	for i := range 20_000 {
		v := (r.Float64() - 0.5) * math.Pow10(r.IntN(40)-20)
		if i%3 == 0 {
			v = float64(r.IntN(20001)-10000) / 1000
		}
		n, half := int64(r.IntN(40)-20), i%2 == 0
		if !half && math.Abs(v) >= 1e38 {
			continue
		}
		got, err := f.round(v, 64, n, half)
		if want := reference(v, n, half); err != nil || got != want {
			t.Fatalf("%v to %d digits: %v %v, want %v", v, n, got, err, want)
		}
	}
}

func TestRandomNumbersAreThoseOfJava(t *testing.T) {
	if got := newJavaRandom(5).double(); got != 0.730519863614471 {
		t.Errorf("the first of seed 5 is %v", got)
	}
	if got := newJavaRandom(5).below(100); got != 87 {
		t.Errorf("the first of seed 5 below 100 is %d", got)
	}
}
