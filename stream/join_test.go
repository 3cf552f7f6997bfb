package stream_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/stream"
)

// noted is a record of these tests: At is in milliseconds since 1970.
type noted struct {
	Key  string
	At   int64
	Name string
}

func (n noted) time() time.Time { return time.UnixMilli(n.At) }
func (n noted) key() string     { return n.Key }

// pairs runs two streams whose records are all in time through an operation over both,
// and gives the results sorted.
func pairs(t *testing.T, p int, first, second []noted, results func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string]) []string {
	t.Helper()
	env := stream.NewEnv(quiet, stream.DefaultParallelism(p), stream.Mode(stream.Streaming), stream.WatermarkInterval(0))
	never := stream.Watermark(noted.time, func() stream.WatermarkGenerator[noted] { return still{} })
	a := stream.FromSlice(env, first).Watermarks(never).KeyBy(noted.key)
	b := stream.FromSlice(env, second).Watermarks(never).KeyBy(noted.key)
	got := results(a, b).Collect()
	execute(t, env)
	all := got.Values()
	slices.Sort(all)
	return all
}

// still never moves the watermark, which comes at the end alone.
type still struct{}

func (still) Event(noted, time.Time, func(time.Time)) {}
func (still) Periodic(func(time.Time))                {}

func both(a, b noted) string { return a.Name + b.Name }

func TestIntervalJoin(t *testing.T) {
	year := func(y int) int64 { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() }
	first := []noted{{"k", 1000, "a"}, {"k", 2000, "b"}, {"l", 1000, "c"}, {"k", -500, "d"}, {"k", year(-1), "e"}, {"k", year(9999), "f"}}
	second := []noted{{"k", 1000, "1"}, {"k", 1500, "2"}, {"k", 3000, "3"}, {"l", 999, "4"}, {"k", -1500, "5"}, {"k", year(-1) + 500, "6"}, {"k", year(9999) - 1, "7"}, {"m", 1000, "8"}}
	for _, test := range []struct {
		name         string
		lower, upper time.Duration
		change       func(stream.IntervalJoined[string, noted, noted]) stream.IntervalJoined[string, noted, noted]
		want         string
	}{
		{"around", -time.Second, time.Second, nil, "a1 a2 b1 b2 b3 c4 d5 e6 f7"},
		{"lower exclusive", -time.Second, time.Second, stream.IntervalJoined[string, noted, noted].LowerBoundExclusive, "a1 a2 b2 b3 c4 e6 f7"},
		{"upper exclusive", -time.Second, time.Second, stream.IntervalJoined[string, noted, noted].UpperBoundExclusive, "a1 a2 b1 b2 c4 d5 e6 f7"},
		{"after", 500 * time.Millisecond, time.Second, nil, "a2 b3 e6"},
		{"before", -time.Second, -time.Millisecond, nil, "b1 b2 c4 d5 f7"},
		{"at once", 0, 0, nil, "a1"},
		{"a long time", -100 * 24 * time.Hour, 100 * 24 * time.Hour, nil, "a1 a2 a3 a5 b1 b2 b3 b5 c4 d1 d2 d3 d5 e6 f7"},
	} {
		for _, p := range []int{1, 3} {
			got := pairs(t, p, first, second, func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string] {
				j := a.IntervalJoin(b, test.lower, test.upper)
				if test.change != nil {
					j = test.change(j)
				}
				return j.Join(both)
			})
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s, parallelism %d:\ngot  %s\nwant %s", test.name, p, text, test.want)
			}
		}
	}
}

// Random records are joined as two loops would join them.
func TestIntervalJoinAgainstLoops(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		random := func(n int) (all []noted) {
			for i := range n {
				all = append(all, noted{fmt.Sprint(r.IntN(3)), r.Int64N(400) - 200, fmt.Sprint(" ", i)})
			}
			return all
		}
		first, second := random(60), random(60)
		lower := r.Int64N(100) - 50
		upper := lower + r.Int64N(60)
		var want []string
		for _, a := range first {
			for _, b := range second {
				if a.Key == b.Key && a.At+lower <= b.At && b.At <= a.At+upper {
					want = append(want, both(a, b))
				}
			}
		}
		slices.Sort(want)
		got := pairs(t, 2, first, second, func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string] {
			return a.IntervalJoin(b, time.Duration(lower)*time.Millisecond, time.Duration(upper)*time.Millisecond).Join(both)
		})
		if !slices.Equal(got, want) {
			t.Errorf("bounds %d to %d:\ngot  %q\nwant %q", lower, upper, got, want)
		}
	}
}

// meeting tells who is in a window.
type meeting struct{}

func (meeting) CoGroup(c *stream.WindowContext[string], first, second iter.Seq[noted], emit func(string)) error {
	text := fmt.Sprintf("%s [%d,%d)", c.Key, c.Start.UnixMilli(), c.End.UnixMilli())
	for _, side := range []iter.Seq[noted]{first, second} {
		var names []string
		for n := range side {
			names = append(names, n.Name)
		}
		slices.Sort(names) // they may have come by several subtasks
		text += " " + strings.Join(names, "")
	}
	emit(text)
	return nil
}

func TestWindowJoinAndCoGroup(t *testing.T) {
	first := []noted{{"k", 1, "a"}, {"k", 9, "b"}, {"l", 1, "c"}, {"k", -1, "d"}, {"k", 25, "e"}}
	second := []noted{{"k", 2, "1"}, {"k", 8, "2"}, {"k", 10, "3"}, {"k", -10, "4"}, {"m", 1, "5"}}
	ms := time.Millisecond
	for _, test := range []struct {
		name          string
		windows       stream.Windows
		joined, group []string
	}{
		{"tumbling", stream.Tumbling(10 * ms), []string{"a1", "a2", "b1", "b2", "d4"},
			[]string{"k [-10,0) d 4", "k [0,10) ab 12", "k [10,20)  3", "k [20,30) e ", "l [0,10) c ", "m [0,10)  5"}},
		{"sliding", stream.Sliding(10*ms, 5*ms), []string{"a1", "a1", "a2", "b1", "b2", "b2", "b3", "d1", "d4"},
			[]string{"k [-10,0) d 4", "k [-15,-5)  4", "k [-5,5) ad 1", "k [0,10) ab 12", "k [10,20)  3", "k [20,30) e ", "k [25,35) e ", "k [5,15) b 23",
				"l [-5,5) c ", "l [0,10) c ", "m [-5,5)  5", "m [0,10)  5"}},
		{"session", stream.Session(3 * ms), []string{"a1", "b2", "b3", "d1"},
			[]string{"k [-1,5) ad 1", "k [-10,-7)  4", "k [25,28) e ", "k [8,13) b 23", "l [1,4) c ", "m [1,4)  5"}},
	} {
		for _, p := range []int{1, 3} {
			got := pairs(t, p, first, second, func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string] {
				return a.Connect(b).Window(test.windows).Join(both)
			})
			if !slices.Equal(got, test.joined) {
				t.Errorf("%s, join, parallelism %d:\ngot  %q\nwant %q", test.name, p, got, test.joined)
			}
			got = pairs(t, p, first, second, func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string] {
				return a.Connect(b).Window(test.windows).CoGroup(func() stream.CoGroupFunction[string, noted, noted, string] { return meeting{} })
			})
			slices.Sort(test.group)
			if !slices.Equal(got, test.group) {
				t.Errorf("%s, coGroup, parallelism %d:\ngot  %q\nwant %q", test.name, p, got, test.group)
			}
		}
	}
}

// What has no meaning is told with the line.
func TestJoinsAreChecked(t *testing.T) {
	for _, test := range []struct {
		build func(a, b stream.KeyedStream[string, noted])
		want  string
	}{
		{func(a, b stream.KeyedStream[string, noted]) { a.IntervalJoin(b, 2, 3) }, "want whole milliseconds"},
		{func(a, b stream.KeyedStream[string, noted]) {
			a.IntervalJoin(b, time.Second, 0).Join(both).Discard()
		}, "the lower bound, 1s, is above the upper one, 0s"},
		{func(a, b stream.KeyedStream[string, noted]) { a.Connect(b).Window(stream.SlidingCount(2, 1)) }, "SlidingCount has no meaning for two streams"},
		{func(a, b stream.KeyedStream[string, noted]) {
			a.Connect(b).Window(stream.Tumbling(time.Second)).AllowedLateness(-1)
		}, "AllowedLateness: got -1ns"},
	} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
		s := stream.FromSlice(env, []noted{{}}).KeyBy(noted.key)
		test.build(s, s)
		if err := env.Execute(t.Context(), "joins"); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "join_test.go:") {
			t.Errorf("got %v, want %s and the line", err, test.want)
		}
	}
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1))
	s := stream.FromSlice(env, []noted{{}}).KeyBy(noted.key)
	s.IntervalJoin(s, 0, 0).Join(both).Discard()
	if err := env.Execute(t.Context(), "joins"); err == nil || !strings.Contains(err.Error(), "a record has no event time") {
		t.Errorf("got %v", err)
	}
}

// What an evictor takes out of a window over two streams is in no pair, and in no later
// result of the window.
func TestEvictedRecordsMeetNobody(t *testing.T) {
	first := []noted{{"k", 1000, "a"}, {"k", 1999, "b"}, {"l", 1500, "c"}, {"k", 2000, "d"}}
	second := []noted{{"k", 1200, "1"}, {"k", 1800, "2"}, {"l", 1900, "3"}, {"k", 2900, "4"}}
	early := func(all []stream.Timed[stream.Either[noted, noted]]) []stream.Timed[stream.Either[noted, noted]] {
		return slices.DeleteFunc(all, func(t stream.Timed[stream.Either[noted, noted]]) bool {
			return t.Value.Second && t.At.UnixMilli()%1000 < 500 || t.Value.A.Name == "a" // the latter is of the first
		})
	}
	for _, p := range []int{1, 2} {
		got := pairs(t, p, first, second, func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string] {
			return a.Connect(b).Window(stream.Tumbling(time.Second)).Evict(early).Join(both)
		})
		if text := strings.Join(got, " "); text != "b2 c3 d4" {
			t.Errorf("parallelism %d: got %s", p, text)
		}
		// Windows of two records of which one is left.
		got = pairs(t, p, first, second, func(a, b stream.KeyedStream[string, noted]) stream.DataStream[string] {
			latest := func(all []stream.Timed[stream.Either[noted, noted]]) []stream.Timed[stream.Either[noted, noted]] {
				return all[len(all)-1:]
			}
			return a.Connect(b).Window(stream.CountWindow(2)).Evict(latest).Join(both)
		})
		if len(got) != 0 {
			t.Errorf("parallelism %d: a record meets those that were taken out: %v", p, got)
		}
	}
}
