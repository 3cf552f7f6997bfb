package keygroup

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// The hashes below are part of the format of checkpoints. If this test fails,
// the code is wrong, not the table.
func TestHashIsStable(t *testing.T) {
	minusOne := int64(-1)
	for x, want := range map[uint64]uint64{
		0: goldenInt[0], 1: goldenInt[1], 42: goldenInt[2], 1 << 63: goldenInt[3], uint64(minusOne): goldenInt[4],
	} {
		if got := HashInt(x); got != want {
			t.Errorf("HashInt(%#x) = %#x, want %#x", x, got, want)
		}
	}
	text := strings.Repeat("the quick brown fox jumps over the lazy dog; ", 5)
	for n, want := range goldenString {
		if got := HashString(text[:n]); got != want {
			t.Errorf("HashString(%q) = %#x, want %#x", text[:n], got, want)
		}
	}
}

var sequences = map[string]func(i int) uint64{
	"counting":   func(i int) uint64 { return HashInt(uint64(i)) },
	"negative":   func(i int) uint64 { return HashInt(uint64(-i)) },
	"by 1024":    func(i int) uint64 { return HashInt(uint64(i) << 10) },
	"high bits":  func(i int) uint64 { return HashInt(uint64(i) << 40) },
	"decimal":    func(i int) uint64 { return HashString(fmt.Sprint(i)) },
	"padded":     func(i int) uint64 { return HashString(fmt.Sprintf("user-%012d", i)) },
	"long":       func(i int) uint64 { return HashString(fmt.Sprintf("%0100d", i)) },
	"long front": func(i int) uint64 { return HashString(fmt.Sprintf("%-100d", i)) },
}

func chiSquare(counts []int, per int) (chi float64) {
	for _, n := range counts {
		d := float64(n - per)
		chi += d * d / float64(per)
	}
	return chi
}

func sqrt2n(n int) float64 { return math.Sqrt(2 * float64(n)) }

func TestLowBitsAreUniformWithinAGroup(t *testing.T) {
	for name, hash := range sequences {
		counts := make([]int, 256)
		total := 0
		for i := range 1 << 17 {
			if h := hash(i); Group(h, 8) == 3 {
				counts[h&255]++
				total++
			}
		}
		if chi := chiSquare(counts, total/256); chi > 256+6*sqrt2n(256) {
			t.Errorf("%s: chi square %.0f of 256 low bytes", name, chi)
		}
	}
}

// Each bit of the input must move each bit of the hash half of the time.
func TestAvalanche(t *testing.T) {
	const rounds = 400
	for _, size := range []int{0, 3, 4, 7, 8, 16, 20, 33, 65, 100} {
		random := rand.New(rand.NewPCG(1, uint64(size)))
		hash, width := func(b []byte) uint64 { return HashBytes(b) }, size
		if size == 0 {
			width = 8
			hash = func(b []byte) uint64 { return HashInt(Uint64.Load(pointer(b))) }
		}
		input := make([]byte, width)
		worst := 0.0
		for bit := range width * 8 {
			var flips [64]int
			for range rounds {
				for i := range input {
					input[i] = byte(random.Uint32())
				}
				before := hash(input)
				input[bit/8] ^= 1 << (bit % 8)
				for d := before ^ hash(input); d != 0; d &= d - 1 {
					flips[bits.TrailingZeros64(d)]++
				}
			}
			for _, n := range flips {
				worst = max(worst, math.Abs(float64(n)/rounds-0.5))
			}
		}
		// One flip count has a standard deviation of 1/40; six of them.
		if worst > 6.0/40 {
			t.Errorf("keys of %d bytes (0 is an integer): a bit of the hash flips with a bias of %.3f", size, worst)
		}
	}
}

func TestStringAndBytesAgreeAndDoNotCollide(t *testing.T) {
	seen := map[uint64]string{}
	check := func(s string) {
		h := HashString(s)
		if HashBytes([]byte(s)) != h {
			t.Fatalf("HashBytes differs from HashString of %q", s)
		}
		if other, ok := seen[h]; ok && other != s {
			t.Fatalf("%q and %q have one hash", s, other)
		}
		seen[h] = s
	}
	random := rand.New(rand.NewPCG(2, 2))
	for n := range 300 {
		check(strings.Repeat("\x00", n))
		check(strings.Repeat("a", n))
		for range 20 {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			check(string(b))
			// The same bytes at another alignment.
			if moved := append([]byte{'x'}, b...); HashBytes(moved[1:]) != HashBytes(b) {
				t.Fatalf("the hash of %q depends on its address", b)
			}
		}
	}
	for i := range 200000 {
		check(fmt.Sprint("key", i))
	}
	if HashBytes(nil) != HashString("") {
		t.Fatal("nil and the empty string differ")
	}
}

var sink uint64

func BenchmarkHashInt(b *testing.B) {
	var sum uint64
	for i := range b.N {
		sum += HashInt(uint64(i))
	}
	sink = sum
}

func BenchmarkHashString(b *testing.B) {
	for _, n := range []int{3, 8, 12, 20, 24, 64, 1024, 1 << 20} {
		s := strings.Repeat("k", n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var sum uint64
			for range b.N {
				sum += HashString(s)
			}
			sink = sum
		})
	}
}
