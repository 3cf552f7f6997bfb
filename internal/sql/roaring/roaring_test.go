package roaring

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFormat(t *testing.T) {
	b := Append(nil, []uint32{1, 2, 3})
	if got := hex.EncodeToString(b); got != "3a300000010000000000020010000000010002000300" {
		t.Error(got)
	}
	if got := string(AppendText(nil, Append(nil, []uint32{5, 4294967295}))); got != "{5,4294967295}" {
		t.Error(got)
	}
	if got := string(AppendText(nil, Append(nil, nil))); got != "{}" {
		t.Error(got)
	}
}

func TestSetsAgainstMaps(t *testing.T) {
	seed := uint64(7)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, spread := range []int{10, 70_000, 10_000, 1 << 30} {
		sets := [2]map[uint32]bool{{}, {}}
		var bytes [2][]byte
		for k := range sets {
			for range 9000 {
				sets[k][uint32(r.IntN(spread))] = true
			}
			var sorted []uint32
			for v := range sets[k] {
				sorted = append(sorted, v)
			}
			slices.Sort(sorted)
			bytes[k] = Append([]byte("x"), sorted)[1:]
			if err := Check(bytes[k]); err != nil {
				t.Fatal(err)
			}
			if got := slices.Collect(All(bytes[k])); !slices.Equal(got, sorted) || Count(bytes[k]) != int64(len(sorted)) {
				t.Fatalf("%d numbers are read as %d", len(sorted), len(got))
			}
		}
		for op, in := range map[Op]func(a, b bool) bool{
			And: func(a, b bool) bool { return a && b }, Or: func(a, b bool) bool { return a || b },
			Xor: func(a, b bool) bool { return a != b }, AndNot: func(a, b bool) bool { return a && !b },
		} {
			got := Combine(nil, op, bytes[0], bytes[1])
			want := 0
			for v := range sets[0] {
				if in(true, sets[1][v]) {
					want++
				}
			}
			for v := range sets[1] {
				if !sets[0][v] && in(false, true) {
					want++
				}
			}
			if len(got) != want || !slices.IsSorted(got) {
				t.Errorf("operation %d gives %d numbers, want %d", op, len(got), want)
			}
		}
	}
}

func TestRunsAreRead(t *testing.T) {
	b, _ := hex.DecodeString("3b30000001000006000100" + "0a000600")
	if got := string(AppendText(nil, b)); got != "{10,11,12,13,14,15,16}" {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(Append(nil, []uint32{1, 70000}))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		_ = each(b, func(uint32) bool { n++; return n < 100_000 })
		if Check(b) == nil {
			AppendText(nil, b)
		}
	})
}
