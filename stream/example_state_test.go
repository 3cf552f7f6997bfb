package stream_test

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/stream"
)

// fourGauges gives four gauges their event times, in streaming mode.
func fourGauges() (*stream.Env, stream.DataStream[gauge]) {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Mode(stream.Streaming), stream.WatermarkInterval(0))
	return env, stream.FromSlice(env, []gauge{{"a", 1, 1}, {"b", 4, 10}, {"a", 5, 2}, {"a", 12, 4}}).
		Watermarks(stream.Monotonic(gauge.time))
}

// diary has every kind of state, and tells what it knows of a key ten seconds of event
// time after each record.
type diary struct {
	latest *stream.ValueState[int64]
	all    *stream.ListState[int64]
	times  *stream.MapState[int64, int64]
	sum    *stream.ReducingState[int64]
	mean   *stream.AggregatingState[int64, stream.Moments, float64]
}

func (d *diary) Open(c *stream.OpenContext) error {
	d.latest = stream.NewValueState[int64](c, "latest")
	d.all = stream.NewListState[int64](c, "all", stream.TTL(time.Hour), stream.RenewOnRead())
	d.times = stream.NewMapState[int64, int64](c, "times")
	d.sum = stream.NewReducingState(c, "sum", func(a, b int64) int64 { return a + b })
	d.mean = stream.NewAggregatingState(c, "mean", stream.Mean(func(v int64) int64 { return v }))
	return nil
}

func (d *diary) Process(r gauge, c *stream.KeyedContext[string], _ func(string)) error {
	d.latest.Update(r.Value)
	d.all.Add(r.Value)
	n, _ := d.times.Get(r.Value)
	d.times.Put(r.Value, n+1)
	d.sum.Add(r.Value)
	d.mean.Add(r.Value)
	c.RegisterEventTimer(r.time().Add(10 * time.Second))
	return nil
}

func (d *diary) OnTimer(t stream.Timer, c *stream.KeyedContext[string], emit func(string)) error {
	latest, _ := d.latest.Value()
	sum, _ := d.sum.Get()
	mean, _ := d.mean.Get()
	emit(fmt.Sprintf("%s at %d: latest %d, all %v, %d different, sum %d, mean %.2f", c.Key(), t.At.Unix(), latest, d.all.Get(), d.times.Len(), sum, mean))
	return nil
}

// keepDiary prints what the function above tells.
func keepDiary() {
	env, s := fourGauges()
	s.KeyBy(func(r gauge) string { return r.Key }).
		Process(func() stream.KeyedProcessFunction[string, gauge, string] { return &diary{} }).
		Print()
	run(env)
}

func ExampleKeyedProcessFunction() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleTimerFunction() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleTimer() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleKeyedContext() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleValueState() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleListState() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleMapState() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleReducingState() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleAggregatingState() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

func ExampleStateOption() {
	keepDiary()
	// Output:
	// a at 11: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// b at 14: latest 10, all [10], 1 different, sum 10, mean 10.00
	// a at 15: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
	// a at 22: latest 4, all [1 2 4], 3 different, sum 7, mean 2.33
}

// fieldCounter counts in a field of its own, which is kept in a list when a checkpoint is
// taken.
type fieldCounter struct {
	n    int64
	kept *stream.OperatorListState[int64]
}

func (t *fieldCounter) Open(c *stream.OpenContext) error {
	t.kept = stream.NewSplitListState[int64](c, "counts")
	return nil
}

func (t *fieldCounter) Restored() error {
	for n := range t.kept.All() {
		t.n += n
	}
	return nil
}

func (t *fieldCounter) Snapshot(int64) error {
	t.kept.Update([]int64{t.n})
	return nil
}

func (t *fieldCounter) Process(string, *stream.ProcessContext, func(string)) error {
	t.n++
	return nil
}

func (t *fieldCounter) Finish(emit func(string)) error {
	emit(fmt.Sprint(t.n, " records"))
	return nil
}

func countInAField() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSlice(env, []string{"a", "b", "c"}).
		Process(func() stream.ProcessFunction[string, string] { return &fieldCounter{} }).
		Print()
	run(env)
}

func ExampleOperatorListState() {
	countInAField()
	// Output: 3 records
}

func ExampleRestorer() {
	countInAField()
	// Output: 3 records
}

func ExampleSnapshotter() {
	countInAField()
	// Output: 3 records
}

// bounds tells which gauges are above the bound of their key.
type bounds struct {
	bounds *stream.BroadcastState[string, int64]
	latest *stream.ValueState[int64]
}

func (b *bounds) Open(c *stream.OpenContext) error {
	b.bounds = stream.NewBroadcastState[string, int64](c, "bounds")
	b.latest = stream.NewValueState[int64](c, "latest")
	return nil
}

func (b *bounds) Process(r gauge, _ *stream.KeyedContext[string], emit func(string)) error {
	b.latest.Update(r.Value)
	if bound, some := b.bounds.Get(r.Key); some && r.Value > bound {
		emit(fmt.Sprintf("%s: %d is above %d", r.Key, r.Value, bound))
	}
	return nil
}

// ProcessBroadcast looks at the latest gauges of all keys again.
func (b *bounds) ProcessBroadcast(r gauge, c *stream.KeyedBroadcastContext[string], emit func(string)) error {
	b.bounds.Put(c, r.Key, r.Value)
	return c.EachKey(b.latest, func(key string) error {
		if latest, _ := b.latest.Value(); key == r.Key && latest > r.Value {
			emit(fmt.Sprintf("%s: %d has been above %d", key, latest, r.Value))
		}
		return nil
	})
}

// holdAgainstBounds runs in batch mode, so all bounds come before the gauges.
func holdAgainstBounds() {
	env := stream.NewEnv(stream.DefaultParallelism(1))
	limits := stream.FromSlice(env, []gauge{{Key: "a", Value: 2}, {Key: "b", Value: 20}, {Key: "a", Value: 3}})
	stream.FromSlice(env, []gauge{{"a", 1, 1}, {"b", 4, 10}, {"a", 5, 5}}).
		KeyBy(func(r gauge) string { return r.Key }).
		ConnectBroadcast(limits).
		Process(func() stream.KeyedBroadcastProcessFunction[string, gauge, gauge, string] { return &bounds{} }).
		Print()
	run(env)
}

func ExampleKeyedBroadcastStream() {
	holdAgainstBounds()
	// Output: a: 5 is above 3
}

func ExampleKeyedBroadcastProcessFunction() {
	holdAgainstBounds()
	// Output: a: 5 is above 3
}

func ExampleKeyedBroadcastContext() {
	holdAgainstBounds()
	// Output: a: 5 is above 3
}

func ExampleKeyedState() {
	holdAgainstBounds()
	// Output: a: 5 is above 3
}

func ExampleBroadcastState() {
	holdAgainstBounds()
	// Output: a: 5 is above 3
}

func ExampleBroadcaster() {
	holdAgainstBounds()
	// Output: a: 5 is above 3
}

func scaleByClass() {
	env := stream.NewEnv(stream.DefaultParallelism(1), stream.Mode(stream.Batch))
	factors := stream.FromSlice(env, []factor{{Class: 1, Times: 10}, {Class: 2, Times: 100}})
	stream.Sequence(env, 1, 4).ConnectBroadcast(factors).
		Process(func() stream.BroadcastProcessFunction[int64, factor, int64] { return &scaler{} }).
		Print()
	run(env)
}

func ExampleBroadcastStream() {
	scaleByClass()
	// Output:
	// 10
	// 200
	// 40
}

func ExampleBroadcastProcessFunction() {
	scaleByClass()
	// Output:
	// 10
	// 200
	// 40
}

func ExampleBroadcastContext() {
	scaleByClass()
	// Output:
	// 10
	// 200
	// 40
}
