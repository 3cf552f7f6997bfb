package schedule

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/execgraph"
)

// input is an all-to-all input of one producer.
func input(sizes ...int64) consumed { return consumed{from: "p", producers: 1, sizes: sizes} }

func (c consumed) broadcast() consumed {
	c.alike = true
	return c
}

func (c consumed) rescaled() consumed {
	c.pointwise = true
	return c
}

func TestReaderIsSizedByWhatItReads(t *testing.T) {
	for _, test := range []struct {
		name   string
		sizing Sizing
		most   int
		inputs []consumed
		want   string // shares, and what the reason must hold
	}{
		{"small: one", Sizing{}, 4, []consumed{input(1, 2, 3, 4)}, "[{0 4}] 10 B produced by p: at most 16 MB a task, at least 1, at most 4 tasks"},
		{"nothing: the least", Sizing{}, 4, []consumed{input(0, 0, 0, 0)}, "[{0 4}] 0 B produced by p"},
		{"neighbours up to the volume", Sizing{Volume: 10}, 6, []consumed{input(4, 6, 1, 9, 9, 1)}, "[{0 2} {2 2} {4 2}] 30 B"},
		{"one key group too large", Sizing{Volume: 10}, 4, []consumed{input(1, 50, 1, 1)}, "[{0 1} {1 1} {2 2}] 53 B"},
		{"too many: the volume gives way", Sizing{Volume: 10}, 4, []consumed{input(9, 9, 9, 9), input(1, 1, 1, 1)}, "[{0 1} {1 1} {2 1} {3 1}] 40 B produced by p and p"},
		{"at least", Sizing{Volume: 100, Least: 3}, 4, []consumed{input(5, 5, 5, 5)}, "[{0 1} {1 1} {2 1} {3 1}] 20 B produced by p: at most 100 B a task, at least 3"},
		{"at least, and all is in one: shared out evenly", Sizing{Volume: 100, Least: 3}, 4, []consumed{input(50, 0, 0, 0)}, "[{0 1} {1 1} {2 2}] 50 B"},
		{"what all read takes its part", Sizing{Volume: 20}, 4, []consumed{input(5, 5, 5, 5), input(8).broadcast()}, "[{0 2} {2 2}] 20 B produced by p: at most 12 B a task, at least 1, at most 4 tasks, beside 8 B that each reads of p"},
		{"but not more than half", Sizing{Volume: 20}, 4, []consumed{input(5, 5, 5, 5), input(800).broadcast()}, "[{0 2} {2 2}] 20 B produced by p: at most 10 B"},
		{"only what all read", Sizing{Volume: 20}, 4, []consumed{input(800).broadcast()}, "[{0 4}] 0 B produced by nobody"},
		{"pointwise: by the whole volume", Sizing{Volume: 10}, 4, []consumed{input(25).rescaled()}, "[{0 1} {1 1} {2 2}] 25 B"},
		{"pointwise beside all-to-all", Sizing{Volume: 10}, 4, []consumed{input(10).rescaled(), input(7, 0, 0, 0)}, "[{0 2} {2 2}] 17 B"},
		{"pointwise: no more than the bound", Sizing{Volume: 10}, 2, []consumed{input(95).rescaled()}, "[{0 1} {1 1}] 95 B produced by p: at most 10 B a task, at least 1, at most 2 tasks; without the bound there would be 10"},
	} {
		l := test.sizing.complete().reader(test.inputs, test.most)
		if got := fmt.Sprint(l.Shares, " ", l.Why); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		if l.Parallelism != len(l.Shares) {
			t.Errorf("%s: %d subtasks with %d shares", test.name, l.Parallelism, len(l.Shares))
		}
	}
}

func TestTooManyFindsTheLeastLimit(t *testing.T) {
	shares := legalShares([]int64{6, 6, 6, 6, 6, 6}, 6, 100, 1, 2)
	if fmt.Sprint(shares) != "[{0 3} {3 3}]" {
		t.Errorf("got %v", shares)
	}
}

func TestSourceIsSizedByItsSplits(t *testing.T) {
	for _, test := range []struct {
		name   string
		sizing Sizing
		most   int
		splits *execgraph.Splits
		want   string
	}{
		{"one small file", Sizing{}, 2, &execgraph.Splits{Count: 1, Bytes: 36}, "1: 36 B in 1 split to read: at most 16 MB a task, at least 1, at most 2 tasks"},
		{"no more than splits", Sizing{Volume: 10}, 9, &execgraph.Splits{Count: 3, Bytes: 95}, "3: 95 B in 3 splits to read: at most 10 B a task, at least 1, at most 9 tasks"},
		{"by volume", Sizing{Volume: 10}, 9, &execgraph.Splits{Count: 30, Bytes: 41}, "5: 41 B in 30 splits"},
		{"bound", Sizing{Volume: 10}, 4, &execgraph.Splits{Count: 30, Bytes: 95}, "4: 95 B in 30 splits to read: at most 10 B a task, at least 1, at most 4 tasks; without the bound there would be 10"},
		{"bound for sources", Sizing{Volume: 10, Sources: 2}, 4, &execgraph.Splits{Count: 30, Bytes: 95}, "2: 95 B in 30 splits to read: at most 10 B a task, at least 1, at most 2 tasks; without the bound there would be 10, the most for a source"},
		{"least", Sizing{Least: 3}, 4, &execgraph.Splits{}, "3: 0 B in 0 splits"},
		{"cannot say", Sizing{Otherwise: 3}, 8, nil, "3: it cannot say how much it will read: the default, at least 1, at most 8"},
		{"cannot say, bound", Sizing{Otherwise: 30}, 8, nil, "8: "},
		{"cannot say, nothing set", Sizing{}, 8, nil, "1: "},
	} {
		l := test.sizing.complete().source(test.splits, test.most)
		if got := fmt.Sprint(l.Parallelism, ": ", l.Why); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 kB", 8397: "8.2 kB", 16 << 20: "16 MB", 3 << 39: "1.5 TB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

// TestSharesHold checks what must be true of every layout: the shares cover
// every subpartition once, their number is within the bounds, and a share is
// larger than wanted only if it is a single subpartition, or the bounds force it.
func TestSharesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		z := Sizing{Least: rapid.IntRange(0, 50).Draw(t, "least"), Volume: rapid.Int64Range(0, 200).Draw(t, "volume")}.complete()
		var inputs []consumed
		cut, wide, fixed := true, []int64(nil), int64(0)
		for range rapid.IntRange(1, 3).Draw(t, "inputs") {
			in := consumed{from: "p", producers: rapid.IntRange(1, 5000).Draw(t, "producers")}
			n := most
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				in.alike, n = true, 1
			case 1:
				in.pointwise, cut = true, false
			}
			for range n {
				in.sizes = append(in.sizes, rapid.Int64Range(0, 150).Draw(t, "bytes"))
			}
			switch {
			case in.alike:
				fixed += in.bytes()
			case !in.pointwise:
				wide = sum(wide, in.sizes)
			}
			inputs = append(inputs, in)
		}
		l := z.reader(inputs, most)
		if l.Parallelism < min(z.Least, most) || l.Parallelism > most || l.Parallelism != len(l.Shares) {
			t.Fatalf("%d subtasks, %d shares, at least %d, at most %d", l.Parallelism, len(l.Shares), z.Least, most)
		}
		next, above := 0, false
		limit := max(1, z.Volume-min(fixed, z.Volume/2))
		for _, s := range l.Shares {
			if s.First != next || s.Count < 1 {
				t.Fatalf("shares %v", l.Shares)
			}
			next += s.Count
			if cut && wide != nil && s.Count > 1 {
				above = above || (&consumed{sizes: wide[s.First : s.First+s.Count]}).bytes() > limit
			}
		}
		if next != most {
			t.Fatalf("the shares end at %d of %d subpartitions", next, most)
		}
		free := len(cutShares(wide, limit, mostChannels))
		if above && free >= min(z.Least, most) && free <= most {
			t.Fatalf("a share is larger than %d, though %d shares would do: %v", limit, free, l.Shares)
		}
	})
}
