package memory

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// seed is printed by each random test; WEIR_TEST_SEED repeats a run.
func seed(t *testing.T) *rand.Rand {
	n := uint64(time.Now().UnixNano())
	if s := os.Getenv("WEIR_TEST_SEED"); s != "" {
		var err error
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WEIR_TEST_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 0))
}

// A model is a table and the Go map that it must agree with.
type model[K comparable, V any] struct {
	t     *testing.T
	table *Table[K, V]
	want  map[K]V
	bump  func(v *V, by int64) // changes an accumulator
	same  func(a, b V) bool
}

func newModel[K comparable, V any](t *testing.T, o Options[K], bump func(*V, int64), same func(a, b V) bool) *model[K, V] {
	table, err := New[K, V](o)
	if err != nil {
		t.Fatal(err)
	}
	return &model[K, V]{t: t, table: table, want: map[K]V{}, bump: bump, same: same}
}

func (m *model[K, V]) change(k K, v *V, created bool, by int64) {
	want, known := m.want[k]
	if created == known {
		m.t.Fatalf("key %v: created %v, known %v", k, created, known)
	}
	if !m.same(*v, want) {
		m.t.Fatalf("key %v has %v, want %v", k, *v, want)
	}
	m.bump(v, by)
	m.bump(&want, by)
	m.want[k] = want
}

func (m *model[K, V]) upsert(k K, by int64) {
	v, created := m.table.Upsert(k, m.table.Hash(k))
	m.change(k, v, created, by)
}

func (m *model[K, V]) upsertBatch(keys []K, by int64) {
	next := 0
	m.table.UpsertBatch(keys, func(i int, v *V, created bool) {
		if i != next {
			m.t.Fatalf("the batch calls with %d, want %d", i, next)
		}
		next++
		m.change(keys[i], v, created, by)
	})
	if next != len(keys) {
		m.t.Fatalf("the batch made %d calls for %d keys", next, len(keys))
	}
}

func (m *model[K, V]) get(k K) {
	v, found := m.table.Get(k, m.table.Hash(k))
	want, known := m.want[k]
	if found != known {
		m.t.Fatalf("key %v: found %v, known %v", k, found, known)
	}
	if found && !m.same(*v, want) {
		m.t.Fatalf("key %v has %v, want %v", k, *v, want)
	}
	if !found && v != nil {
		m.t.Fatalf("key %v is not there and has an accumulator", k)
	}
}

func (m *model[K, V]) delete(k K) {
	_, known := m.want[k]
	if was := m.table.Delete(k, m.table.Hash(k)); was != known {
		m.t.Fatalf("key %v: deleted %v, known %v", k, was, known)
	}
	delete(m.want, k)
}

func (m *model[K, V]) clear() {
	m.table.Clear()
	clear(m.want)
}

// check compares everything, and the order of two rounds of Range.
func (m *model[K, V]) check() {
	if m.table.Len() != len(m.want) {
		m.t.Fatalf("Len is %d, want %d", m.table.Len(), len(m.want))
	}
	var order []K
	seen := map[K]bool{}
	group := m.table.options.First
	m.table.Range(func(k K, v *V) bool {
		want, known := m.want[k]
		if !known || seen[k] || !m.same(*v, want) {
			m.t.Fatalf("Range: key %v, known %v, seen before %v, has %v, want %v", k, known, seen[k], *v, want)
		}
		g := groupOf(m.table, k)
		if g < group {
			m.t.Fatalf("Range: key %v of group %d comes after group %d", k, g, group)
		}
		group = g
		seen[k] = true
		order = append(order, k)
		return true
	})
	if len(order) != len(m.want) {
		m.t.Fatalf("Range gave %d keys of %d", len(order), len(m.want))
	}
	i := 0
	m.table.Range(func(k K, _ *V) bool {
		if k != order[i] {
			m.t.Fatalf("key %d of the second Range is %v, was %v", i, k, order[i])
		}
		i++
		return i < (len(order)+1)/2
	})
	if i != (len(order)+1)/2 {
		m.t.Fatalf("Range went on to %d after it was stopped", i)
	}
}

func groupOf[K comparable, V any](t *Table[K, V], k K) int {
	own := groups{max: t.options.Max}
	return own.index(t.Hash(k))
}

// run makes random steps with keys drawn by draw, the smaller scale the fewer
// different ones.
func (m *model[K, V]) run(random *rand.Rand, steps int, draw func(scale int) K) {
	scale := 10
	for range steps {
		switch n := random.IntN(1000); {
		case n < 400:
			m.upsert(draw(scale), random.Int64())
		case n < 600:
			m.get(draw(scale))
		case n < 650:
			keys := make([]K, random.IntN(600))
			for i := range keys {
				keys[i] = draw(scale)
			}
			m.upsertBatch(keys, random.Int64())
		case n < 950 && m.table.kept == nil:
			m.delete(draw(scale))
		case n < 955:
			m.check()
		case n < 958:
			m.clear()
		case n < 970:
			scale = 1 << random.IntN(14)
		}
	}
	m.check()
}

func add[V ~int64 | ~int32 | ~uint8](v *V, by int64) { *v += V(by) }

func equal[V comparable](a, b V) bool { return a == b }

func whole[K comparable](max int) Options[K] { return Options[K]{Last: max - 1, Max: max} }

const modelSteps = 3000

func TestIntegerKeysAgreeWithAMap(t *testing.T) {
	random := seed(t)
	for _, max := range []int{1, 3, 128} {
		m := newModel(t, whole[int64](max), add[int64], equal[int64])
		m.run(random, modelSteps, func(scale int) int64 { return int64(random.IntN(scale) - scale/2) })
		wide := newModel(t, whole[uint64](max), add[int32], equal[int32])
		wide.run(random, modelSteps, func(scale int) uint64 { return uint64(random.IntN(scale)) << 50 })
	}
}

type (
	userID int32
	label  string
)

// integers runs the model over one integer type, with its extremes.
func integers[K ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr](t *testing.T, random *rand.Rand) {
	m := newModel(t, whole[K](16), add[int64], equal[int64])
	var zero K
	top := K(1) << (unsafe.Sizeof(zero)*8 - 1)
	for _, k := range []K{0, 1, zero - 1, 1 << 6, top, ^top} {
		m.upsert(k, 1)
	}
	m.check()
	m.run(random, modelSteps/5, func(scale int) K { return zero - 3 + K(random.IntN(scale)) })
}

func TestAllIntegerKinds(t *testing.T) {
	random := seed(t)
	integers[int](t, random)
	integers[int8](t, random)
	integers[int16](t, random)
	integers[userID](t, random)
	integers[int64](t, random)
	integers[uint](t, random)
	integers[uint8](t, random)
	integers[uint16](t, random)
	integers[uint32](t, random)
	integers[uint64](t, random)
	integers[uintptr](t, random)
	booleans := newModel(t, whole[bool](128), add[int64], equal[int64])
	booleans.run(random, modelSteps/5, func(int) bool { return random.IntN(2) == 0 })
}

func TestStringKeysAgreeWithAMap(t *testing.T) {
	random := seed(t)
	draw := func(scale int) string {
		n := random.IntN(scale)
		return strings.Repeat("key ", n%7) + strconv.Itoa(n/7)
	}
	for _, max := range []int{1, 3, 128} {
		newModel(t, whole[string](max), add[int64], equal[int64]).run(random, modelSteps, draw)
		newModel(t, whole[label](max), add[uint8], equal[uint8]).run(random, modelSteps, func(scale int) label { return label(draw(scale)) })
	}
}

// The keys share their length and most of their bytes, at each length.
func TestStringKeysOfEachLength(t *testing.T) {
	m := newModel(t, whole[string](2), add[int64], equal[int64])
	for n := range 200 {
		base := []byte(strings.Repeat("x", n))
		m.upsert(string(base), 1)
		for i := range base {
			base[i] = 'y'
			m.get(string(base))
			m.upsert(string(base), int64(i))
			base[i] = 'x'
		}
	}
	m.check()
}

type place struct {
	city string
	zone int32
	top  bool
}

func encodePlace(dst []byte, p *place) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.zone))
	if p.top {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	return append(dst, p.city...)
}

func decodePlace(src []byte) place {
	return place{zone: int32(binary.LittleEndian.Uint32(src)), top: src[4] == 1, city: string(src[5:])}
}

func TestStructKeysAgreeWithAMap(t *testing.T) {
	random := seed(t)
	draw := func(scale int) place {
		n := random.IntN(scale)
		return place{city: fmt.Sprint("city", n/3), zone: int32(-n % 3), top: n%2 == 0}
	}
	for _, max := range []int{1, 128} {
		o := whole[place](max)
		o.EncodeKey = encodePlace
		newModel(t, o, add[int64], equal[int64]).run(random, modelSteps, draw)
		o.DecodeKey = decodePlace
		newModel(t, o, add[int64], equal[int64]).run(random, modelSteps, draw)
	}
}

// None of these accumulators has the size of a word.
func TestAccumulatorsOfEachShape(t *testing.T) {
	random := seed(t)
	ints := func(scale int) int64 { return int64(random.IntN(scale)) }
	strs := func(scale int) string { return strconv.Itoa(random.IntN(scale)) }

	none := func(*struct{}, int64) {}
	newModel(t, whole[int64](4), none, equal[struct{}]).run(random, modelSteps, ints)
	newModel(t, whole[string](4), none, equal[struct{}]).run(random, modelSteps, strs)

	type odd [5]uint8
	bumpOdd := func(v *odd, by int64) { v[0]++; v[4] = uint8(by) }
	newModel(t, whole[int64](4), bumpOdd, equal[odd]).run(random, modelSteps, ints)
	newModel(t, whole[string](4), bumpOdd, equal[odd]).run(random, modelSteps, strs)

	type large [12000]int64 // longer than a page
	bumpLarge := func(v *large, by int64) { v[0]++; v[11999] = by }
	few := func(int) string { return strconv.Itoa(random.IntN(20)) }
	newModel(t, whole[string](2), bumpLarge, equal[large]).run(random, 300, few)

	// With pointers.
	appendTo := func(v *[]int64, by int64) { *v = append(*v, by) }
	same := func(a, b []int64) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	newModel(t, whole[int64](4), appendTo, same).run(random, modelSteps, ints)
	newModel(t, whole[string](4), appendTo, same).run(random, modelSteps, strs)
	o := whole[place](4)
	o.EncodeKey = encodePlace
	newModel(t, o, func(v **string, by int64) { s := strconv.FormatInt(by, 10); *v = &s }, func(a, b *string) bool {
		return (a == nil) == (b == nil) && (a == nil || *a == *b)
	}).run(random, modelSteps, func(scale int) place { return place{city: strs(scale)} })
}
