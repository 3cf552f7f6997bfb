package streamtest

import (
	"fmt"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/stream"
)

// An Input is where a test puts records into a pipeline. It has one subtask.
type Input[T any] struct {
	name string
	h    *Harness
	feed *feed[T]
}

// NewInput makes an input. The name is for failures, and no other input of the pipeline
// has it.
func NewInput[T any](name string) *Input[T] { return &Input[T]{name: name} }

// Stream is the stream of what is sent, in the program that h is built of. It is called
// once in the function given to New.
func (in *Input[T]) Stream(h *Harness) stream.DataStream[T] {
	in.h, in.feed = h, &feed[T]{}
	s := stream.FromSlice[T](h.env, nil).Name(in.name).DisableChaining()
	h.replace(streamgraph.Source, "Source: "+in.name, in.feed)
	return s
}

// Send puts in a record with an event time.
func (in *Input[T]) Send(v T, at time.Time) {
	in.h.t.Helper()
	in.do(func(r *operator.Receiver[T]) { r.Push(v, at.UnixMilli()) })
}

// SendUntimed puts in records without event times.
func (in *Input[T]) SendUntimed(vals ...T) {
	in.h.t.Helper()
	in.do(func(r *operator.Receiver[T]) {
		for _, v := range vals {
			r.Push(v, batch.NoTimestamp)
		}
	})
}

// Watermark says that no record at or before at follows.
func (in *Input[T]) Watermark(at time.Time) {
	in.h.t.Helper()
	in.do(func(r *operator.Receiver[T]) { r.Watermark(at.UnixMilli()) })
}

// Idle says whether the others are not to wait for this input's next watermark.
func (in *Input[T]) Idle(idle bool) {
	in.h.t.Helper()
	in.do(func(r *operator.Receiver[T]) { r.Idle(idle) })
}

// Finish ends the input. When all inputs have ended, the pipeline does.
func (in *Input[T]) Finish() {
	in.h.t.Helper()
	in.do(nil)
}

func (in *Input[T]) do(f func(r *operator.Receiver[T])) {
	in.h.t.Helper()
	in.feed.put(f)
	in.h.settle()
}

// feed is the source of an input.
type feed[T any] struct {
	mu    sync.Mutex
	queue []func(r *operator.Receiver[T]) // nil: the end
	wake  func()
}

func (f *feed[T]) put(step func(r *operator.Receiver[T])) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, step)
	if f.wake != nil {
		f.wake()
	}
}

// Open gives the source.
func (f *feed[T]) Open(c *operator.Context, out any) operator.Source {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wake = c.Wake
	return &fed[T]{f, operator.Output[T](out), c}
}

// fed is a feed in its subtask.
type fed[T any] struct {
	*feed[T]
	out *operator.Receiver[T]
	c   *operator.Context
}

// Poll does what has been put.
func (f *fed[T]) Poll() operator.Progress {
	f.mu.Lock()
	steps := f.queue
	f.queue = nil
	f.mu.Unlock()
	for _, step := range steps {
		if step == nil {
			return operator.Done
		}
		step(f.out)
	}
	return operator.Wait
}

// An Output is where a test takes records out of a pipeline.
type Output[T any] struct {
	name string
	h    *Harness

	mu        sync.Mutex
	all       []Record[T]
	watermark int64
}

// A Record is what has come out, with its event time: zero if it has none.
type Record[T any] struct {
	Value T
	At    time.Time
}

// NewOutput makes an output. The name is for failures, and no other output of the
// pipeline has it.
func NewOutput[T any](name string) *Output[T] {
	return &Output[T]{name: name, watermark: batch.NoTimestamp}
}

// Of takes the records of s, in the program that h is built of. It is called once in the
// function given to New.
func (out *Output[T]) Of(h *Harness, s stream.DataStream[T]) {
	out.h, out.watermark = h, batch.NoTimestamp
	s.Discard().Name(out.name).Parallelism(1).DisableChaining()
	h.replace(streamgraph.Sink, "Sink: "+out.name, operator.FactoryFunc(func(*operator.Context, any) any {
		return &operator.Receiver[T]{Push: out.push, Watermark: out.advance, Idle: func(bool) {}, Finish: func() {}}
	}))
}

func (out *Output[T]) push(v T, ts int64) {
	r := Record[T]{Value: v}
	if ts != batch.NoTimestamp {
		r.At = time.UnixMilli(ts).UTC()
	}
	out.mu.Lock()
	out.all = append(out.all, r)
	out.mu.Unlock()
}

func (out *Output[T]) advance(t int64) {
	out.mu.Lock()
	out.watermark = t
	out.mu.Unlock()
}

// Records takes the records that have come out since it was last asked. Those of one
// subtask are in order.
func (out *Output[T]) Records() []Record[T] {
	out.mu.Lock()
	defer out.mu.Unlock()
	all := out.all
	out.all = nil
	return all
}

// Values takes what Records would, without event times.
func (out *Output[T]) Values() []T {
	var vals []T
	for _, r := range out.Records() {
		vals = append(vals, r.Value)
	}
	return vals
}

// Watermark is how far event time has come at the output; ok is false at first.
func (out *Output[T]) Watermark() (at time.Time, ok bool) {
	out.mu.Lock()
	defer out.mu.Unlock()
	return time.UnixMilli(out.watermark).UTC(), out.watermark != batch.NoTimestamp
}

// String names the output.
func (out *Output[T]) String() string { return fmt.Sprintf("output %q", out.name) }
