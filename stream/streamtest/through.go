package streamtest

import (
	"testing"
	"time"

	"github.com/weirstream/weir/stream"
)

// OneInput is a Harness of a pipeline with one input and one output.
type OneInput[T, R any] struct {
	*Harness
	in  *Input[T]
	out *Output[R]
}

// Through runs the part of a pipeline that f makes of its input.
func Through[T, R any](t testing.TB, f func(s stream.DataStream[T]) stream.DataStream[R], all ...Option) *OneInput[T, R] {
	t.Helper()
	h := &OneInput[T, R]{in: NewInput[T]("input"), out: NewOutput[R]("output")}
	h.Harness = New(t, func(b *Harness) { h.out.Of(b, f(h.in.Stream(b))) }, all...)
	return h
}

// Process runs a function over a stream.
func Process[T, R any](t testing.TB, f func() stream.ProcessFunction[T, R], all ...Option) *OneInput[T, R] {
	t.Helper()
	return Through(t, func(s stream.DataStream[T]) stream.DataStream[R] { return s.Process(f) }, all...)
}

// Keyed runs a function over a keyed stream.
func Keyed[K comparable, T, R any](t testing.TB, f func() stream.KeyedProcessFunction[K, T, R], key func(T) K, all ...Option) *OneInput[T, R] {
	t.Helper()
	return Through(t, func(s stream.DataStream[T]) stream.DataStream[R] { return s.KeyBy(key).Process(f) }, all...)
}

// Process puts in a record with an event time.
func (h *OneInput[T, R]) Process(v T, at time.Time) {
	h.t.Helper()
	h.in.Send(v, at)
}

// ProcessUntimed puts in records without event times.
func (h *OneInput[T, R]) ProcessUntimed(vals ...T) {
	h.t.Helper()
	h.in.SendUntimed(vals...)
}

// Watermark says that no record at or before at follows.
func (h *OneInput[T, R]) Watermark(at time.Time) {
	h.t.Helper()
	h.in.Watermark(at)
}

// Finish ends the input, and with it the pipeline.
func (h *OneInput[T, R]) Finish() {
	h.t.Helper()
	h.in.Finish()
}

// Output takes what has come out since it was last asked.
func (h *OneInput[T, R]) Output() []R { return h.out.Values() }

// Records is Output with event times.
func (h *OneInput[T, R]) Records() []Record[R] { return h.out.Records() }

// TwoInputs is a Harness of a pipeline with two inputs and one output.
type TwoInputs[A, B, R any] struct {
	*Harness
	First  *Input[A]
	Second *Input[B]
	out    *Output[R]
}

// Through2 runs the part of a pipeline that f makes of two inputs.
func Through2[A, B, R any](t testing.TB, f func(a stream.DataStream[A], b stream.DataStream[B]) stream.DataStream[R], all ...Option) *TwoInputs[A, B, R] {
	t.Helper()
	h := &TwoInputs[A, B, R]{First: NewInput[A]("first"), Second: NewInput[B]("second"), out: NewOutput[R]("output")}
	h.Harness = New(t, func(b *Harness) { h.out.Of(b, f(h.First.Stream(b), h.Second.Stream(b))) }, all...)
	return h
}

// Watermark says of both inputs that no record at or before at follows.
func (h *TwoInputs[A, B, R]) Watermark(at time.Time) {
	h.t.Helper()
	h.First.Watermark(at)
	h.Second.Watermark(at)
}

// Finish ends both inputs, and with them the pipeline.
func (h *TwoInputs[A, B, R]) Finish() {
	h.t.Helper()
	h.First.Finish()
	h.Second.Finish()
}

// Output takes what has come out since it was last asked.
func (h *TwoInputs[A, B, R]) Output() []R { return h.out.Values() }

// Records is Output with event times.
func (h *TwoInputs[A, B, R]) Records() []Record[R] { return h.out.Records() }
