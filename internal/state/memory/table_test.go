package memory

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/state/keygroup"
)

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options[int64]{
		{First: -1, Last: 2, Max: 4}, {First: 2, Last: 1, Max: 4}, {First: 0, Last: 4, Max: 4}, {},
		{Last: keygroup.Limit, Max: keygroup.Limit + 1},
	} {
		if _, err := New[int64, int](o); err == nil {
			t.Errorf("New accepted %+v", o)
		}
	}
	if _, err := New[place, int](whole[place](1)); err == nil || !strings.Contains(err.Error(), "place") {
		t.Errorf("struct keys without an encoder: %v", err)
	}
}

func TestForeignKeyGroupsAreABug(t *testing.T) {
	ints, err := New[int64, int](Options[int64]{First: 3, Last: 4, Max: 8})
	if err != nil {
		t.Fatal(err)
	}
	strs, err := New[string, int](Options[string]{First: 3, Last: 4, Max: 8})
	if err != nil {
		t.Fatal(err)
	}
	for group := range 8 {
		hash := uint64(group) << 61
		for _, upsert := range []func(){
			func() { ints.Upsert(int64(group), hash) },
			func() { strs.Upsert(strings.Repeat("k", group), hash) },
		} {
			func() {
				defer func() {
					err, _ := recover().(error)
					var violation invariant.Violation
					if own := group == 3 || group == 4; own == errors.As(err, &violation) {
						t.Errorf("group %d: %v", group, err)
					}
				}()
				upsert()
			}()
		}
	}
}

// All keys are given one hash; the table must tell them apart by their bytes.
func TestEqualHashes(t *testing.T) {
	for _, hash := range []uint64{0, 1, 1<<32 - 1, ^uint64(0)} {
		table, err := New[string, int](whole[string](4))
		if err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			for i := range 500 {
				v, created := table.Upsert(strings.Repeat("k", i), hash)
				if created != (round == 0) || *v != round*i {
					t.Fatalf("hash %#x: key %d, round %d: created %v, has %d", hash, i, round, created, *v)
				}
				*v = i
			}
		}
		if v, ok := table.Get(strings.Repeat("k", 499), hash); !ok || *v != 499 {
			t.Fatalf("hash %#x: the last key is lost", hash)
		}
		if v, ok := table.Get("other", hash); ok || v != nil {
			t.Fatalf("hash %#x: a key is found that never was there", hash)
		}
	}
}

// The integers share a key group and the lower bits of their hash, so that they
// form one run in an array of up to 1024 entries.
func TestIntegersInOneRun(t *testing.T) {
	m := newModel(t, whole[uint64](1), add[int64], equal[int64])
	random := seed(t)
	for found := 0; found < 300; {
		if x := random.Uint64(); keygroup.HashInt(x)&1023 == 1020 {
			m.upsert(x, int64(found))
			m.get(x)
			found++
		}
	}
	m.check()
}

func TestLongKeys(t *testing.T) {
	m := newModel(t, whole[string](2), add[int64], equal[int64])
	for round := range 3 {
		for _, n := range []int{1 << 20, 65536, 65535, 65524, 65520, 40000, 0, 1<<20 + 1, 300, 255} {
			for _, c := range []string{"a", "b"} {
				m.upsert(strings.Repeat(c, n), 1)
				m.get(strings.Repeat(c, n))
			}
		}
		m.check()
		before := m.table.Bytes()
		if before < 4<<20 {
			t.Errorf("round %d: four keys of a megabyte are held in %d bytes", round, before)
		}
		m.clear()
		if after := m.table.Bytes(); after > before-4<<20 {
			t.Errorf("round %d: Clear keeps %d of %d bytes", round, after, before)
		}
	}
}

func TestRangeIsTheOrderOfCreation(t *testing.T) {
	table, err := New[string, int](whole[string](1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var want, got []string
		for i := range 5000 {
			want = append(want, strings.Repeat("k", i%300)+string(rune('a'+i/300)))
		}
		table.UpsertBatch(want, func(i int, v *int, _ bool) { *v = i })
		table.UpsertBatch(want[1000:2000], func(i int, v *int, created bool) {
			if created || *v != 1000+i {
				t.Fatalf("key %d: created %v, has %d", 1000+i, created, *v)
			}
		})
		table.Range(func(k string, v *int) bool {
			if *v != len(got) {
				t.Fatalf("key %d has %d", len(got), *v)
			}
			got = append(got, k)
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatal("Range has another order than creation")
		}
		// Clear and new keys must leave the copies of the old ones alone.
		table.Clear()
		table.UpsertBatch(slices.Repeat([]string{strings.Repeat("#", 290)}, 10), func(int, *int, bool) {})
		if !slices.Equal(got, want) {
			t.Fatal("keys given by Range changed after Clear")
		}
		table.Clear()
	}
}

func TestRangeGroup(t *testing.T) {
	table, err := New[int64, int](Options[int64]{First: 2, Last: 5, Max: 8})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int][]int64{}
	for k := range int64(1000) {
		if g := groupOf(table, k); g >= 2 && g <= 5 {
			table.Upsert(k, table.Hash(k))
			want[g] = append(want[g], k)
		}
	}
	for g := 2; g <= 5; g++ {
		var got []int64
		if !table.RangeGroup(g, func(k int64, _ *int) bool { got = append(got, k); return true }) {
			t.Error("RangeGroup says that it was stopped")
		}
		slices.Sort(got)
		if !slices.Equal(got, want[g]) {
			t.Errorf("group %d has %v, want %v", g, got, want[g])
		}
		if table.RangeGroup(g, func(int64, *int) bool { return false }) {
			t.Error("RangeGroup says that it was not stopped")
		}
	}
}

// Pointers stay valid through operations that are not Upsert.
func TestAccumulatorsStayUntilTheNextUpsert(t *testing.T) {
	table, err := New[string, []string](whole[string](1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		k := strings.Repeat("k", i)
		v, _ := table.Upsert(k, table.Hash(k))
		table.Get("k", table.Hash("k"))
		*v = append(*v, k)
		if again, _ := table.Get(k, table.Hash(k)); again != v {
			t.Fatalf("key %d: Get gives another accumulator than Upsert", i)
		}
	}
}

func TestBytes(t *testing.T) {
	few, err := New[string, int64](whole[string](128))
	if err != nil {
		t.Fatal(err)
	}
	fewInts, err := New[int64, int64](whole[int64](128))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(300) {
		k := strings.Repeat("k", int(i%12)) + string(rune('0'+i))
		few.Upsert(k, few.Hash(k))
		fewInts.Upsert(i, fewInts.Hash(i))
	}
	if n := few.Bytes(); n > 100<<10 {
		t.Errorf("300 short keys in 128 key groups are held in %d bytes", n)
	}
	if n := fewInts.Bytes(); n > 60<<10 {
		t.Errorf("300 integers in 128 key groups are held in %d bytes", n)
	}
	const many = 200_000
	for i := range int64(many) {
		fewInts.Upsert(i, fewInts.Hash(i))
	}
	full := fewInts.Bytes()
	if full < many*16 || full > many*16*4 {
		t.Errorf("%d integers are held in %d bytes", many, full)
	}
	fewInts.Clear()
	if fewInts.Bytes() != full || fewInts.Len() != 0 {
		t.Errorf("after Clear %d keys are held in %d bytes, before in %d", fewInts.Len(), fewInts.Bytes(), full)
	}
	// What is kept is reused.
	for i := range int64(many) {
		fewInts.Upsert(-i, fewInts.Hash(-i))
	}
	if n := fewInts.Bytes(); n > full*2 {
		t.Errorf("as many keys after Clear are held in %d bytes, before in %d", n, full)
	}
}

func TestUpdatesDoNotAllocate(t *testing.T) {
	ints, err := New[int32, int64](whole[int32](128))
	if err != nil {
		t.Fatal(err)
	}
	strs, err := New[string, int64](whole[string](128))
	if err != nil {
		t.Fatal(err)
	}
	o := whole[place](128)
	o.EncodeKey = encodePlace
	places, err := New[place, int64](o)
	if err != nil {
		t.Fatal(err)
	}
	var i32 []int32
	var ss []string
	var ps []place
	for i := range 1000 {
		i32 = append(i32, int32(i))
		ss = append(ss, strings.Repeat("k", i%50)+string(rune(i)))
		ps = append(ps, place{city: ss[i]})
	}
	count := func(_ int, v *int64, _ bool) { *v++ }
	work := func() {
		ints.UpsertBatch(i32, count)
		strs.UpsertBatch(ss, count)
		for i := range i32 {
			*upsert(ints, i32[i])++
			*upsert(strs, ss[i])++
			*upsert(places, ps[i])++
		}
		places.Get(ps[0], places.Hash(ps[0]))
	}
	if n := testing.AllocsPerRun(10, work); n != 0 {
		t.Errorf("updating known keys allocates %v times", n)
	}
	// The closure that keeps new keys is made once for each part of a batch.
	if n := testing.AllocsPerRun(10, func() { places.UpsertBatch(ps, count) }); n > 10 {
		t.Errorf("a batch of known struct keys allocates %v times", n)
	}
}

func upsert[K comparable, V any](t *Table[K, V], k K) *V {
	v, _ := t.Upsert(k, t.Hash(k))
	return v
}

func TestHoldsPointers(t *testing.T) {
	type nested struct {
		A [3]struct{ X, Y float32 }
		B complex64
	}
	for _, c := range []struct {
		typ  reflect.Type
		want bool
	}{
		{reflect.TypeFor[int8](), false}, {reflect.TypeFor[bool](), false}, {reflect.TypeFor[uintptr](), false},
		{reflect.TypeFor[nested](), false}, {reflect.TypeFor[[0]*int](), false}, {reflect.TypeFor[struct{}](), false},
		{reflect.TypeFor[string](), true}, {reflect.TypeFor[[]int](), true}, {reflect.TypeFor[*int](), true},
		{reflect.TypeFor[any](), true}, {reflect.TypeFor[map[int]int](), true}, {reflect.TypeFor[chan int](), true},
		{reflect.TypeFor[func()](), true}, {reflect.TypeFor[struct{ a [2]struct{ b *int } }](), true},
	} {
		if got := holdsPointers(c.typ); got != c.want {
			t.Errorf("holdsPointers(%v) = %v", c.typ, got)
		}
	}
}
