package stream_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/stream"
)

// gauge is a record of these tests: at is in seconds since 1970.
type gauge struct {
	Key   string
	At    int
	Value int64
}

func (r gauge) time() time.Time { return time.Unix(int64(r.At), 0) }

// windowed runs gauges, whose watermark follows each record at a distance of
// delay, through windows, and gives the results as text, sorted.
func windowed(t *testing.T, all []gauge, delay time.Duration, results func(stream.KeyedStream[string, gauge]) stream.DataStream[string]) []string {
	t.Helper()
	env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming), stream.WatermarkInterval(0))
	got := results(stream.FromSlice(env, all).
		Watermarks(stream.BoundedOutOfOrderness(delay, gauge.time)).
		KeyBy(func(r gauge) string { return r.Key })).Collect()
	execute(t, env)
	return got.Values()
}

// show writes the result of a window: its key, its times in seconds, its value.
func show[V any](w stream.Windowed[string, V]) string {
	if w.End.IsZero() {
		return fmt.Sprintf("%s %v", w.Key, w.Value)
	}
	return fmt.Sprintf("%s [%d,%d) %v", w.Key, w.Start.Unix(), w.End.Unix(), w.Value)
}

func value(r gauge) int64 { return r.Value }

var gauges = []gauge{{"a", 1, 1}, {"a", 4, 2}, {"b", 4, 10}, {"a", 12, 4}, {"a", 9, 8}, {"b", 31, 20}, {"a", 3, 100}, {"a", 33, 16}}

func TestWindows(t *testing.T) {
	sum := func(w stream.WindowedStream[string, gauge]) stream.DataStream[string] {
		return w.Aggregate(stream.Sum(value)).Map(show[int64])
	}
	for _, test := range []struct {
		name    string
		delay   time.Duration
		results func(s stream.KeyedStream[string, gauge]) stream.DataStream[string]
		want    []string
	}{
		{"tumbling", 5 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Tumbling(10 * time.Second)))
		}, []string{"a [0,10) 11", "b [0,10) 10", "a [10,20) 4", "a [30,40) 16", "b [30,40) 20"}},
		{"tumbling, one by one", 5 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Tumbling(10 * time.Second)).Trigger(stream.AtEnd[gauge]()))
		}, []string{"a [0,10) 11", "b [0,10) 10", "a [10,20) 4", "a [30,40) 16", "b [30,40) 20"}},
		{"offset", 5 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Tumbling(10 * time.Second).Offset(-6 * time.Second)))
		}, []string{"a [-6,4) 1", "a [4,14) 14", "b [4,14) 10", "a [24,34) 16", "b [24,34) 20"}},
		{"sliding", 5 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Sliding(10*time.Second, 5*time.Second)))
		}, []string{"a [-5,5) 3", "b [-5,5) 10", "a [0,10) 11", "b [0,10) 10", "a [5,15) 12", "a [10,20) 4", "a [25,35) 16", "b [25,35) 20", "a [30,40) 16", "b [30,40) 20"}},
		{"allowed lateness", 0, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Tumbling(10 * time.Second)).AllowedLateness(5 * time.Second))
		}, []string{"a [0,10) 11", "a [0,10) 3", "b [0,10) 10", "a [10,20) 4", "a [30,40) 16", "b [30,40) 20"}},
		{"session", 10 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Session(5 * time.Second)))
		}, []string{"a [1,17) 15", "b [4,9) 10", "a [33,38) 16", "b [31,36) 20"}},
		{"count", 0, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.CountWindow(2)))
		}, []string{"a 116", "a 12", "a 3", "b 30"}},
		{"global, every two", 0, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.Global()).Trigger(stream.AtCount[gauge](2)))
		}, []string{"a 131", "a 15", "a 3", "b 30"}},
		{"sliding count", 0, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return sum(s.Window(stream.SlidingCount(3, 2)))
		}, []string{"a 124", "a 14", "a 3", "b 30"}},
		{"reduce", 5 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return s.Window(stream.Tumbling(10 * time.Second)).Reduce(func(a, b gauge) gauge {
				a.Value = max(a.Value, b.Value)
				return a
			}).Map(func(r gauge) string { return fmt.Sprint(r.Key, " ", r.Value) })
		}, []string{"a 16", "a 4", "a 8", "b 10", "b 20"}},
		{"all records", 5 * time.Second, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			return s.Window(stream.Tumbling(10 * time.Second)).Process(func() stream.WindowFunction[string, gauge, string] { return list{} })
		}, []string{"a [0,10) 1 4 9", "a [10,20) 12", "a [30,40) 33", "b [0,10) 4", "b [30,40) 31"}},
	} {
		got := windowed(t, gauges, test.delay, test.results)
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.name, got, test.want)
		}
	}
}

// list names the times of a window's records.
type list struct{}

func (list) Process(c *stream.WindowContext[string], records iter.Seq[gauge], emit func(string)) error {
	text := fmt.Sprintf("%s [%d,%d)", c.Key, c.Start.Unix(), c.End.Unix())
	for r := range records {
		text += fmt.Sprint(" ", r.At)
	}
	emit(text)
	return nil
}

// Late records go to a side output, from both kinds of window operators.
func TestLateRecords(t *testing.T) {
	for name, trigger := range map[string]bool{"slices": false, "windows": true} {
		late := stream.NewSideOutput[gauge]("late")
		got := windowed(t, gauges, 0, func(s stream.KeyedStream[string, gauge]) stream.DataStream[string] {
			w := s.Window(stream.Tumbling(10 * time.Second)).LateTo(late)
			if trigger {
				w = w.Trigger(stream.AtEnd[gauge]())
			}
			return w.Count().SideOutput(late).Map(func(r gauge) string { return fmt.Sprint(r.Key, r.At) })
		})
		if want := []string{"a9", "a3"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
