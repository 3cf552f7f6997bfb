package stream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weirstream/weir/stream"
)

func ExampleWatermarkStrategy() {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Mode(stream.Streaming), stream.WatermarkInterval(0))
	late := stream.NewSideOutput[gauge]("late")
	counts := stream.FromSlice(env, []gauge{{"a", 1, 1}, {"a", 12, 1}, {"a", 9, 1}, {"a", 16, 1}, {"a", 8, 1}}).
		Watermarks(stream.BoundedOutOfOrderness(5*time.Second, gauge.time)). // 9 comes in time, 8 does not
		KeyBy(func(r gauge) string { return r.Key }).
		Window(stream.Tumbling(10 * time.Second)).LateTo(late).
		Count()
	counts.SideOutput(late).Map(func(r gauge) string { return fmt.Sprint("late: ", r.At) }).Print()
	got := counts.Map(show[int64]).Collect()
	run(env)
	fmt.Println(got.Values())
	// Output:
	// late: 8
	// [a [0,10) 2 a [10,20) 2]
}

// Readings and limits are joined by the time at which they were made. Whichever is read
// faster waits for the other, so that at most an hour of it waits in the join's state.
func ExampleWatermarkStrategy_Align() {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
	inTime := stream.Monotonic(gauge.time).Align("readings and limits", time.Hour, 10*time.Millisecond)
	key := func(r gauge) string { return r.Key }
	readings := stream.FromSlice(env, []gauge{{"a", 1, 7}, {"a", 12, 9}}).Watermarks(inTime).KeyBy(key)
	limits := stream.FromSlice(env, []gauge{{"a", 2, 5}, {"a", 11, 10}}).Watermarks(inTime).KeyBy(key)
	readings.Connect(limits).Window(stream.Tumbling(10 * time.Second)).
		Join(func(reading, limit gauge) string { return fmt.Sprint(reading.Value, " of ", limit.Value) }).
		Print()
	run(env)
	// Output:
	// 7 of 5
	// 9 of 10
}

// marked is a generator whose watermark comes with records that say so.
type marked struct{}

func (marked) Event(r gauge, at time.Time, emit func(time.Time)) {
	if r.Key == "mark" {
		emit(at)
	}
}

func (marked) Periodic(func(time.Time)) {}

func ExampleWatermarkGenerator() {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
	stream.FromSlice(env, []gauge{{"a", 1, 1}, {"mark", 20, 0}, {"a", 2, 1}}).
		Watermarks(stream.Watermark(gauge.time, func() stream.WatermarkGenerator[gauge] { return marked{} })).
		KeyBy(func(r gauge) string { return r.Key }).
		Window(stream.Tumbling(10 * time.Second)).Count().
		Map(show[int64]).Print() // the record behind the mark is late, and dropped
	run(env)
	// Output:
	// a [0,10) 1
	// mark [20,30) 1
}

// odds sends odd numbers to a side output.
type odds struct{ to stream.SideOutput[int64] }

func (o odds) Process(v int64, c *stream.ProcessContext, emit func(int64)) error {
	if v%2 == 1 {
		c.SideOutput(o.to, v)
	} else {
		emit(v)
	}
	return nil
}

func ExampleSideOutput() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	odd := stream.NewSideOutput[int64]("odd")
	even := stream.Sequence(env, 1, 5).Process(func() stream.ProcessFunction[int64, int64] { return odds{odd} })
	evens, odds := even.Collect(), even.SideOutput(odd).Collect()
	run(env)
	fmt.Println(evens.Values(), odds.Values())
	// Output: [2 4] [1 3 5]
}

// span is an aggregator of the difference between the greatest value and the least.
var span = stream.Aggregator[gauge, [2]int64, int64]{
	Create: func() [2]int64 { return [2]int64{1 << 62, -1 << 62} },
	Add:    func(acc *[2]int64, r gauge) { *acc = [2]int64{min(acc[0], r.Value), max(acc[1], r.Value)} },
	Merge:  func(acc *[2]int64, o [2]int64) { *acc = [2]int64{min(acc[0], o[0]), max(acc[1], o[1])} },
	Result: func(acc *[2]int64) int64 { return acc[1] - acc[0] },
}

// spans prints the spans of the windows that four gauges are in.
func spans(w stream.Windows) {
	env, s := fourGauges()
	s.KeyBy(func(r gauge) string { return r.Key }).Window(w).Aggregate(span).Map(show[int64]).Print()
	run(env)
}

func ExampleAggregator() {
	spans(stream.Session(8 * time.Second))
	// Unordered output:
	// b [4,12) 0
	// a [1,20) 3
}

func ExampleWindows() {
	spans(stream.Tumbling(10 * time.Second).Offset(2 * time.Second))
	// Unordered output:
	// a [-8,2) 0
	// a [2,12) 0
	// b [2,12) 0
	// a [12,22) 0
}

func ExampleWindowedStream() {
	spans(stream.CountWindow(2))
	// Output: a 1
}

func ExampleWindowed() {
	spans(stream.Tumbling(time.Hour))
	// Unordered output:
	// a [0,3600) 3
	// b [0,3600) 0
}

// listTimes names the times of the records of each window.
func listTimes() {
	env, s := fourGauges()
	s.KeyBy(func(r gauge) string { return r.Key }).
		Window(stream.Tumbling(10 * time.Second)).
		Process(func() stream.WindowFunction[string, gauge, string] { return list{} }).Print()
	run(env)
}

func ExampleWindowFunction() {
	listTimes()
	// Unordered output:
	// a [0,10) 1 5
	// b [0,10) 4
	// a [10,20) 12
}

func ExampleWindowContext() {
	listTimes()
	// Unordered output:
	// a [0,10) 1 5
	// b [0,10) 4
	// a [10,20) 12
}

func ExampleTimed() {
	env, s := fourGauges()
	s.KeyBy(func(r gauge) string { return r.Key }).
		Window(stream.Tumbling(time.Hour)).
		Evict(func(all []stream.Timed[gauge]) []stream.Timed[gauge] { return all[max(0, len(all)-2):] }). // the last two
		Process(func() stream.WindowFunction[string, gauge, string] { return list{} }).Print()
	run(env)
	// Unordered output:
	// a [0,3600) 5 12
	// b [0,3600) 4
}

// above fires once a window's values have come to ten.
type above struct{}

func (above) OnRecord(r gauge, c *stream.TriggerContext) stream.Verdict {
	c.SetNumber(c.Number() + r.Value)
	if c.Number() < 10 {
		return stream.Continue
	}
	c.SetNumber(0)
	return stream.FireAndPurge
}

func (above) OnTimer(stream.Timer, *stream.TriggerContext) stream.Verdict { return stream.Continue }
func (above) OnMerge(*stream.TriggerContext)                              {}

func fireAboveTen() {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
	stream.FromSlice(env, []gauge{{"a", 1, 4}, {"a", 2, 7}, {"a", 3, 10}, {"a", 4, 9}}).
		KeyBy(func(r gauge) string { return r.Key }).
		Window(stream.Global()).Trigger(above{}).
		Process(func() stream.WindowFunction[string, gauge, string] { return list{} }).
		Map(func(s string) string { return s[len(s)-3:] }).Print()
	run(env)
}

func ExampleTrigger() {
	fireAboveTen()
	// Output:
	// 1 2
	// ) 3
}

func ExampleTriggerContext() {
	fireAboveTen()
	// Output:
	// 1 2
	// ) 3
}

func ExampleVerdict() {
	fireAboveTen()
	// Output:
	// 1 2
	// ) 3
}

func ExampleConnectedStreams() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.Sequence(env, 1, 2).Connect(stream.FromSlice(env, []string{"three"})).
		Map(func(n int64) string { return fmt.Sprint("number ", n) }, func(s string) string { return "text " + s }).
		Print()
	run(env)
	// Unordered output:
	// number 1
	// number 2
	// text three
}

// meetAll puts the records of two streams with equal keys together.
type meetAll struct{ a, b *stream.ListState[string] }

func (m *meetAll) Open(c *stream.OpenContext) error {
	m.a, m.b = stream.NewListState[string](c, "a"), stream.NewListState[string](c, "b")
	return nil
}

func (m *meetAll) Process1(n noted, _ *stream.KeyedContext[string], emit func(string)) error {
	for other := range m.b.All() {
		emit(n.Name + other)
	}
	m.a.Add(n.Name)
	return nil
}

func (m *meetAll) Process2(n noted, _ *stream.KeyedContext[string], emit func(string)) error {
	for other := range m.a.All() {
		emit(other + n.Name)
	}
	m.b.Add(n.Name)
	return nil
}

// twoStreams gives two streams with event times, keyed.
func twoStreams() (env *stream.Env, a, b stream.KeyedStream[string, noted]) {
	env = stream.NewEnv(stream.DefaultParallelism(1))
	timed := func(all []noted) stream.KeyedStream[string, noted] {
		return stream.FromSlice(env, all).Watermarks(stream.Monotonic(noted.time)).KeyBy(noted.key)
	}
	return env, timed([]noted{{"k", 1000, "a"}, {"k", 2000, "b"}}), timed([]noted{{"k", 1500, "1"}, {"l", 1500, "2"}, {"k", 9000, "3"}})
}

func joinAlways() {
	env, a, b := twoStreams()
	a.Connect(b).Process(func() stream.KeyedCoProcessFunction[string, noted, noted, string] { return &meetAll{} }).Print()
	run(env)
}

func ExampleKeyedConnectedStreams() {
	joinAlways()
	// Unordered output:
	// a1
	// b1
	// a3
	// b3
}

func ExampleKeyedCoProcessFunction() {
	joinAlways()
	// Unordered output:
	// a1
	// b1
	// a3
	// b3
}

func ExampleIntervalJoined() {
	env, a, b := twoStreams()
	a.IntervalJoin(b, 0, time.Second).Join(both).Print()
	run(env)
	// Output: a1
}

// apart tells how much time is between two records.
type apart struct{}

func (apart) Process(a, b noted, c *stream.JoinContext, emit func(string)) error {
	emit(fmt.Sprintf("%s%s: %s", a.Name, b.Name, c.Second.Sub(c.First)))
	return nil
}

func joinNear() {
	env, a, b := twoStreams()
	a.IntervalJoin(b, -time.Second, time.Second).
		Process(func() stream.JoinFunction[noted, noted, string] { return apart{} }).Print()
	run(env)
}

func ExampleJoinFunction() {
	joinNear()
	// Unordered output:
	// a1: 500ms
	// b1: -500ms
}

func ExampleJoinContext() {
	joinNear()
	// Unordered output:
	// a1: 500ms
	// b1: -500ms
}

func ExampleWindowedConnectedStreams() {
	env, a, b := twoStreams()
	a.Connect(b).Window(stream.Tumbling(5 * time.Second)).Join(both).Print()
	run(env)
	// Unordered output:
	// a1
	// b1
}

func ExampleWindowedConnectedStreams_Evict() {
	env, a, b := twoStreams()
	withoutB := func(all []stream.Timed[stream.Either[noted, noted]]) []stream.Timed[stream.Either[noted, noted]] {
		return slices.DeleteFunc(all, func(t stream.Timed[stream.Either[noted, noted]]) bool { return t.Value.A.Name == "b" })
	}
	a.Connect(b).Window(stream.Tumbling(5 * time.Second)).Evict(withoutB).Join(both).Print()
	run(env)
	// Output:
	// a1
}

// missing names the records of the first stream that meet none of the second.
type missing struct{}

func (missing) CoGroup(c *stream.WindowContext[string], first, second iter.Seq[noted], emit func(string)) error {
	for range second {
		return nil
	}
	for n := range first {
		emit(n.Name + " of " + c.Key + " is alone")
	}
	return nil
}

func ExampleCoGroupFunction() {
	env, a, b := twoStreams()
	a.Connect(b).Window(stream.Tumbling(2 * time.Second)).
		CoGroup(func() stream.CoGroupFunction[string, noted, noted, string] { return missing{} }).Print()
	run(env)
	// Output: b of k is alone
}

func ExampleEither() {
	env, a, b := twoStreams()
	a.Connect(b).Window(stream.Global()).Trigger(stream.AtCount[stream.Either[noted, noted]](4)).Join(both).Print()
	run(env)
	// Unordered output:
	// a1
	// b1
	// a3
	// b3
}

// lookUp is an asynchronous function that fails at first, and for ever for some.
type lookUp struct{ failed map[int64]bool }

func (l *lookUp) Call(ctx context.Context, v int64) ([]string, error) {
	switch {
	case v == 3:
		<-ctx.Done()
		return nil, ctx.Err()
	case !l.failed[v]:
		l.failed[v] = true
		return nil, errors.New("busy")
	}
	return []string{fmt.Sprint("user ", v)}, nil
}

func (l *lookUp) OnTimeout(v int64) ([]string, error) {
	return []string{fmt.Sprint("nobody knows ", v)}, nil
}

func (l *lookUp) Retry(_ []string, err error) bool { return err != nil }

// askUsers prints what an operation gives that calls it. It is run once: only the third
// call may take as long as the time-out.
func askUsers() {
	for _, answer := range answers() {
		fmt.Println(answer)
	}
}

var answers = sync.OnceValue(func() []string {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	all := stream.Sequence(env, 1, 3).
		AsyncOrdered(func() stream.AsyncFunction[int64, string] { return &lookUp{map[int64]bool{}} },
			stream.AsyncOptions{Capacity: 1, Timeout: 5 * time.Second, Retry: stream.FixedDelayRetry(3, time.Millisecond)}).
		Collect()
	run(env)
	return all.Values()
})

func ExampleAsyncFunction() {
	askUsers()
	// Output:
	// user 1
	// user 2
	// nobody knows 3
}

func ExampleAsyncTimeout() {
	askUsers()
	// Output:
	// user 1
	// user 2
	// nobody knows 3
}

func ExampleAsyncRetry() {
	askUsers()
	// Output:
	// user 1
	// user 2
	// nobody knows 3
}

func ExampleAsyncOptions() {
	askUsers()
	// Output:
	// user 1
	// user 2
	// nobody knows 3
}

func ExampleRetryStrategy() {
	askUsers()
	// Output:
	// user 1
	// user 2
	// nobody knows 3
}

// seenOnBoth tells the records of one stream that have come on the other before, and the
// other way round.
type seenOnBoth struct{ a, b map[int64]bool }

func (s *seenOnBoth) Process1(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	if s.a[v] = true; s.b[v] {
		emit(v)
	}
	return nil
}

func (s *seenOnBoth) Process2(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	if s.b[v] = true; s.a[v] {
		emit(v)
	}
	return nil
}

func ExampleCoProcessFunction() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.Sequence(env, 1, 4).Connect(stream.Sequence(env, 3, 6)).
		Process(func() stream.CoProcessFunction[int64, int64, int64] {
			return &seenOnBoth{map[int64]bool{}, map[int64]bool{}}
		}).Print()
	run(env)
	// Unordered output:
	// 3
	// 4
}

// unlucky fails in its first attempt.
type unlucky struct{ attempt int }

func (u *unlucky) Open(c *stream.OpenContext) error {
	u.attempt = c.Attempt
	return nil
}

func (u *unlucky) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	if u.attempt == 0 {
		return errors.New("bad luck")
	}
	emit(v)
	return nil
}

func ExampleRestartStrategy() {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Logger(slog.New(slog.DiscardHandler)),
		stream.Restart(stream.FixedDelayRestart(3, time.Millisecond)))
	stream.Sequence(env, 1, 1).Process(func() stream.ProcessFunction[int64, int64] { return &unlucky{} }).Print()
	run(env)
	// Output: 1
}

// add gives the result of an aggregator for some numbers.
func add[Acc, Out any](a stream.Aggregator[int64, Acc, Out], vals ...int64) (Acc, Out) {
	var acc Acc
	for _, v := range vals {
		a.Add(&acc, v)
	}
	return acc, a.Result(&acc)
}

func ExampleExtent() {
	fmt.Println(add(stream.Min(stream.Self[int64]), 3, 1, 2))
	// Output: {true 1} 1
}

func ExampleMoments() {
	fmt.Println(add(stream.Mean(stream.Self[int64]), 3, 1, 2))
	// Output: {3 6} 2
}

func ExampleReduced() {
	env, s := fourGauges()
	s.KeyBy(func(r gauge) string { return r.Key }).
		Window(stream.Tumbling(time.Hour)).
		Reduce(func(a, b gauge) gauge { return gauge{a.Key, b.At, a.Value + b.Value} }). // kept as a Reduced
		Print()
	run(env)
	// Unordered output:
	// {a 12 7}
	// {b 4 10}
}
