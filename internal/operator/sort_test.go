package operator

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/fs/scratch"
)

type sale struct {
	Customer string
	Serial   int
}

// sorted runs the operator over records with their serial number as event time.
func sorted(t *testing.T, managed int64, records []sale) (files int) {
	t.Helper()
	byCustomer := func(a, b sale) int { return cmp.Compare(a.Customer, b.Customer) }
	directories := scratch.In(t.TempDir())
	space := &counted{Space: directories}
	s := &stage{}
	var got []sale
	var said []string
	in := Sorted(byCustomer).Build(s.context(space, managed), &Receiver[sale]{
		Push: func(v sale, ts int64) {
			if ts != int64(v.Serial) {
				t.Errorf("event time %d of %+v", ts, v)
			}
			got = append(got, v)
		},
		Watermark: func(at int64) { said = append(said, fmt.Sprint(at == element.MaxWatermark)) },
		Finish:    func() { said = append(said, "end") },
	}).(*Receiver[sale])
	for _, v := range records {
		in.Push(v, int64(v.Serial))
		in.Watermark(int64(v.Serial))
	}
	in.Finish()
	want := slices.Clone(records)
	slices.SortStableFunc(want, byCustomer)
	if !slices.Equal(got, want) {
		t.Errorf("%d records with %d bytes: not as sorted in memory", len(records), managed)
	}
	if fmt.Sprint(said) != "[true end]" {
		t.Errorf("after the records: %v", said)
	}
	if n := directories.Files(); n != 0 {
		t.Errorf("%d files after the end", n)
	}
	s.close(false)
	if err := directories.Close(); err != nil {
		t.Error(err)
	}
	return space.made
}

func TestSortedOnDiskIsStableAsInMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{0, 1, 1000, 60_000} {
		records := make([]sale, n)
		for i := range records {
			records[i] = sale{strings.Repeat("c", r.IntN(100)) + fmt.Sprint(r.IntN(500)), i}
		}
		for _, managed := range []int64{1, 2 << 20, 1 << 30} {
			files := sorted(t, managed, records)
			// With the least memory there are more runs than can be merged at once.
			if want := n == 60_000 && managed == 1; want != (files > 8*leastMerged) {
				t.Errorf("%d records in %d bytes made %d files", n, managed, files)
			}
		}
	}
}

func TestSortedOnDiskNeedsWhatItNeeds(t *testing.T) {
	out := &Receiver[sale]{Push: func(sale, int64) {}, Watermark: func(int64) {}, Finish: func() {}}
	run := func(space scratch.Space) error {
		s := &stage{}
		err := Guard(func() {
			in := Sorted(func(a, b sale) int { return cmp.Compare(a.Serial, b.Serial) }).Build(s.context(space, 1), out).(*Receiver[sale])
			for i := range 50_000 {
				in.Push(sale{Serial: -i}, batch.NoTimestamp)
			}
			in.Finish()
		})
		s.close(err != nil)
		return err
	}
	if err := run(nil); err == nil || !strings.Contains(err.Error(), "io.tmp.dirs") {
		t.Errorf("without a directory: %v", err)
	}
	space, full := scratch.In(t.TempDir()), errors.New("no space left on device")
	if err := run(broken{space, full}); !errors.Is(err, full) || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("got %v", err)
	}
	if n := space.Files(); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if err := space.Close(); err != nil {
		t.Error(err)
	}
	err := Guard(func() {
		Sorted(func(a, b chan int) int { return 0 }).Build((&stage{}).context(nil, 0), &Receiver[chan int]{})
	})
	if err == nil || !strings.Contains(err.Error(), "chan int") {
		t.Errorf("records that cannot be encoded: %v", err)
	}
}
