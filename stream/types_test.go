package stream_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/stream"
)

type color uint8

type address struct {
	Street string
	Zip    [5]byte
	At     *point
}

type header struct {
	ID   int64
	Name string
}

type point struct{ X, Y float64 }

// order has a field of every kind of type that can be encoded.
type order struct {
	ID      int64
	Flag    bool
	Small   int8
	Wide    uint64
	Ratio   float32
	Name    string
	Color   color
	Home    address
	Others  []address
	Tags    map[string][]int
	Parent  *header
	Placed  time.Time
	Took    time.Duration
	Raw     []byte
	Grid    [2][3]int16
	Nothing struct{}
	Nobody  *int
	NoTags  map[string]bool
	None    []string
}

func someOrder(i int64) order {
	o := order{
		ID: i, Flag: i%2 == 0, Small: int8(i), Wide: uint64(i) << 40, Ratio: float32(i) / 4, Name: strings.Repeat("ü", int(i%5)), Color: color(i),
		Home:   address{Street: fmt.Sprint("street ", i), Zip: [5]byte{1, 2, byte(i)}, At: &point{float64(i), -1}},
		Placed: time.Unix(i*1_000_003, i).UTC(), Took: time.Duration(i) * time.Second, Raw: []byte{0, byte(i), 255},
		Grid: [2][3]int16{{int16(i)}, {0, 1, -int16(i)}},
	}
	if i%3 == 0 {
		o.Others = []address{o.Home, {}}
		o.Tags = map[string][]int{"a": {int(i)}, "": {}, "n": {1, 2, 3}}
		parent := header{ID: -i, Name: "parent"}
		o.Parent = &parent
	}
	return o
}

// Records of every encodable type come through a keyBy as they were, whether
// they pass by reference or encoded.
func TestRecordsComeThroughAKeyByAsTheyWere(t *testing.T) {
	const n = 500
	for _, how := range []setting{{parallelism: 1, unchained: true, mode: stream.Streaming}, {parallelism: 4, mode: stream.Streaming}, {parallelism: 3, mode: stream.Batch}} {
		env := how.env()
		newest := func(a, b order) order { return b }
		got := stream.Sequence(env, 0, n-1).Map(someOrder).
			KeyBy(func(o order) int64 { return o.ID }).Reduce(newest).
			KeyBy(func(o order) string { return o.Name }).Process(onKeys[string](func() stream.ProcessFunction[order, order] { return &identity{} })).
			Collect()
		execute(t, env)
		if len(got.Values()) != n {
			t.Errorf("%+v: %d records, want %d", how, len(got.Values()), n)
		}
		for _, o := range got.Values() {
			if want := someOrder(o.ID); !reflect.DeepEqual(o, want) {
				t.Fatalf("%+v:\n got %+v\nwant %+v", how, o, want)
			}
		}
	}
}

type identity struct{}

func (*identity) Process(o order, _ *stream.ProcessContext, emit func(order)) error {
	emit(o)
	return nil
}

// Streams may be of any encodable type, not only of structs.
func TestStreamsOfManyTypesAreExchanged(t *testing.T) {
	exchange(t, []string{"", "a", strings.Repeat("long", 1000)})
	exchange(t, []bool{true, false})
	exchange(t, []uint16{0, 65535})
	exchange(t, []float64{0, -1.5, 1e300})
	exchange(t, [][]byte{{}, {1}, nil})
	exchange(t, [][]string{{"x"}, nil, {"", "y"}})
	exchange(t, []map[string]int{{"x": 1}, nil})
	exchange(t, []*point{{1, 2}, nil})
	exchange(t, []time.Time{{}, time.Unix(1, 2).UTC()})
	exchange(t, []struct{}{{}, {}})
	exchange(t, []stream.Pair[string, stream.Pair[int, *point]]{{Key: "k", Value: stream.Pair[int, *point]{Key: 1}}})
}

// exchange sends vals through another task and wants them back.
func exchange[T any](t *testing.T, vals []T) {
	t.Helper()
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.DisableOperatorChaining())
	got := stream.FromSlice(env, vals).Rebalance().Map(stream.Self[T]).Collect()
	execute(t, env)
	if !reflect.DeepEqual(got.Values(), vals) {
		t.Errorf("%T: got %v, want %v", vals, got.Values(), vals)
	}
}

// Keys may be of any comparable type whose equal values have equal bytes.
func TestKeysOfManyTypesMeet(t *testing.T) {
	type nested struct {
		A string
		B [2]int8
		C struct{ D time.Duration }
	}
	meet(t, func(v int64) int64 { return v })
	meet(t, func(v int64) int8 { return int8(v) })
	meet(t, func(v int64) uint32 { return uint32(v) })
	meet(t, func(v int64) string { return fmt.Sprint(v) })
	meet(t, func(v int64) color { return color(v) })
	meet(t, func(v int64) float64 { return float64(v) / 3 })
	meet(t, func(v int64) [3]string { return [3]string{"", fmt.Sprint(v)} })
	meet(t, func(v int64) nested {
		return nested{A: fmt.Sprint(v % 2), B: [2]int8{int8(v)}, C: struct{ D time.Duration }{time.Duration(v)}}
	})
	meet(t, func(v int64) stream.Pair[string, int64] { return stream.Pair[string, int64]{Key: "k", Value: v} })
	meet(t, func(v int64) time.Time { return time.Unix(v, 0).UTC() })
}

// meet counts 1000 numbers by one of ten keys in both modes.
func meet[K comparable](t *testing.T, key func(int64) K) {
	t.Helper()
	for _, mode := range []stream.RuntimeMode{stream.Streaming, stream.Batch} {
		env := setting{parallelism: 3, mode: mode}.env()
		got := stream.Sequence(env, 0, 999).KeyBy(func(v int64) K { return key(v % 10) }).Count().Collect()
		execute(t, env)
		counts := map[K]int64{}
		for _, p := range got.Values() {
			counts[p.Key] = max(counts[p.Key], p.Value)
		}
		if len(counts) != 10 || mode == stream.Batch && len(got.Values()) != 10 {
			t.Errorf("%T, %s: %d keys in %d results", *new(K), mode, len(counts), len(got.Values()))
		}
		for k, n := range counts {
			if n != 100 {
				t.Errorf("%T, %s: key %v counted %d times, want 100", k, mode, k, n)
			}
		}
	}
}

func TestBoolKeys(t *testing.T) {
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
	got := stream.Sequence(env, 1, 99).KeyBy(func(v int64) bool { return v%2 == 0 }).Count().Collect()
	execute(t, env)
	counts := map[bool]int64{}
	for _, p := range got.Values() {
		counts[p.Key] = p.Value
	}
	if counts[true] != 49 || counts[false] != 50 {
		t.Errorf("got %v", counts)
	}
}

// A type that cannot be encoded is fine as long as its records stay in one task.
func TestRecordsThatStayInTheirTaskNeedNoEncoding(t *testing.T) {
	type handle struct {
		f func() int64
		c chan int
		e error
	}
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
	got := stream.Sequence(env, 1, 100).
		Map(func(v int64) handle { return handle{f: func() int64 { return 2 * v }} }).
		Filter(func(h handle) bool { return h.c == nil && h.e == nil }).
		Map(func(h handle) int64 { return h.f() }).
		KeyBy(func(int64) string { return "all" }).Sum(stream.Self[int64]).Collect()
	execute(t, env)
	if sum := got.Values(); len(sum) != 1 || sum[0].Value != 10100 {
		t.Errorf("got %v", sum)
	}
}
