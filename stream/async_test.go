package stream_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/stream"
)

// service doubles numbers, each after a time of its own.
type service struct {
	mu            sync.Mutex
	running, most int
	calls         int
}

func (s *service) double(ctx context.Context, v int64) ([]int64, error) {
	s.mu.Lock()
	s.calls++
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(time.Duration(v*7919%13) * time.Millisecond):
		return []int64{2 * v}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// calling calls the service for each number.
func calling(in stream.DataStream[int64], ordered bool, s *service, o stream.AsyncOptions) stream.DataStream[int64] {
	if ordered {
		return in.AsyncOrdered(stream.AsyncCall(s.double), o)
	}
	return in.AsyncUnordered(stream.AsyncCall(s.double), o)
}

// mark tells whether records come behind the watermark.
type mark struct{ late *atomic.Int64 }

func (m mark) Process(v int64, c *stream.ProcessContext, emit func(int64)) error {
	at, _ := c.Timestamp()
	if watermark, some := c.Watermark(); some && !at.After(watermark) {
		m.late.Add(1)
	}
	emit(v)
	return nil
}

func TestAsync(t *testing.T) {
	for _, test := range []struct {
		ordered  bool
		capacity int
	}{{true, 1}, {true, 8}, {false, 8}, {false, 100}} {
		synctest.Test(t, func(t *testing.T) {
			const last = 1000
			var s service
			var late atomic.Int64
			env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming), stream.WatermarkInterval(0))
			in := stream.Sequence(env, 1, last).Watermarks(stream.Monotonic(func(v int64) time.Time { return time.UnixMilli(v / 5) }))
			o := stream.AsyncOptions{Capacity: test.capacity}
			all := calling(in, test.ordered, &s, o).Process(func() stream.ProcessFunction[int64, int64] { return mark{&late} }).Collect()
			execute(t, env)
			got := all.Values()
			ordered := slices.IsSorted(got)
			slices.Sort(got)
			if len(got) != last || got[0] != 2 || got[last-1] != 2*last || ordered != test.ordered {
				t.Errorf("%+v: %d results, in order %v", test, len(got), ordered)
			}
			if n := late.Load(); n > 0 {
				t.Errorf("%+v: a watermark has passed %d results", test, n)
			}
			if s.most > test.capacity || test.capacity == 8 && s.most < 5 {
				t.Errorf("%+v: %d calls at once", test, s.most)
			}
		})
	}
}

// slow is a function that takes too long for some, and may not even notice.
type slow struct {
	deaf bool
	quit chan struct{}
}

func (s *slow) Call(ctx context.Context, v int64) ([]string, error) {
	if v%10 != 0 {
		return []string{fmt.Sprint(v)}, nil
	}
	if s.deaf {
		<-s.quit
	} else {
		<-ctx.Done()
	}
	return nil, ctx.Err()
}

// patient gives something in place of what took too long.
type patient struct{ slow }

func (*patient) OnTimeout(v int64) ([]string, error) { return []string{fmt.Sprint("no ", v)}, nil }

func TestAsyncTimeout(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			quit := make(chan struct{})
			time.AfterFunc(time.Hour, func() { close(quit) })
			env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
			began := time.Now()
			var took time.Duration
			got := stream.Sequence(env, 1, 30).AsyncOrdered(func() stream.AsyncFunction[int64, string] {
				return &patient{slow{deaf, quit}}
			}, stream.AsyncOptions{Capacity: 4, Timeout: time.Second}).
				Map(func(s string) string { took = time.Since(began); return s }).Collect()
			execute(t, env)
			all := got.Values()
			if len(all) != 30 || all[9] != "no 10" || all[28] != "29" || all[29] != "no 30" {
				t.Errorf("deaf %v: got %q", deaf, all)
			}
			if took > 10*time.Second {
				t.Errorf("deaf %v: results came after %s", deaf, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
		stream.Sequence(env, 1, 30).AsyncUnordered(func() stream.AsyncFunction[int64, string] { return &slow{} }, stream.AsyncOptions{Timeout: time.Second}).Discard()
		if err := env.Execute(t.Context(), "slow"); err == nil || !strings.Contains(err.Error(), "Async Unordered: no result within 1s") {
			t.Errorf("got %v", err)
		}
	})
}

// flaky fails a number of times for each record, and notes when it was called.
type flaky struct {
	mu     sync.Mutex
	fails  int
	called map[int64][]time.Time
}

func (f *flaky) Call(_ context.Context, v int64) ([]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called[v] = append(f.called[v], time.Now())
	if len(f.called[v]) <= f.fails {
		return nil, errors.New("not now")
	}
	return []int64{v}, nil
}

// picky asks again where there are no results, though there is no error.
type picky struct{ flaky }

func (p *picky) Call(ctx context.Context, v int64) ([]int64, error) {
	results, _ := p.flaky.Call(ctx, v)
	return results, nil
}

func (p *picky) Retry(results []int64, _ error) bool { return len(results) == 0 }

func TestAsyncRetry(t *testing.T) {
	ms := time.Millisecond
	for _, test := range []struct {
		retry  stream.RetryStrategy
		picky  bool
		fails  int
		pauses []time.Duration
		err    string
	}{
		{stream.FixedDelayRetry(3, 50*ms), false, 2, []time.Duration{50 * ms, 50 * ms}, ""},
		{stream.ExponentialRetry(5, 10*ms, 35*ms), false, 4, []time.Duration{10 * ms, 20 * ms, 35 * ms, 35 * ms}, ""},
		{stream.ExponentialRetry(5, 10*ms, 35*ms), true, 1, []time.Duration{10 * ms}, ""},
		{stream.FixedDelayRetry(3, 50*ms), false, 3, nil, "Async Ordered: not now"},
		{stream.RetryStrategy{}, false, 1, nil, "Async Ordered: not now"},
		{stream.FixedDelayRetry(100, 50*ms), false, 99, nil, "Async Ordered: no result within 200ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &picky{flaky{fails: test.fails, called: map[int64][]time.Time{}}}
			env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
			got := stream.Sequence(env, 1, 2).AsyncOrdered(func() stream.AsyncFunction[int64, int64] {
				if test.picky {
					return f
				}
				return &f.flaky
			}, stream.AsyncOptions{Timeout: 200 * ms, Retry: test.retry}).Collect()
			err := env.Execute(t.Context(), "flaky")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%+v: got %v", test, err)
				}
				return
			}
			var pauses []time.Duration
			for i, at := range f.called[2][1:] {
				pauses = append(pauses, at.Sub(f.called[2][i]))
			}
			if err != nil || !slices.Equal(got.Values(), []int64{1, 2}) || !slices.Equal(pauses, test.pauses) {
				t.Errorf("%+v: %v, pauses %v, %v", test, got.Values(), pauses, err)
			}
		})
	}
}

// A call that panics, or ends its goroutine, fails the task, with the line.
func TestAsyncPanic(t *testing.T) {
	for _, test := range []struct {
		call func(context.Context, int64) ([]int64, error)
		want []string
	}{
		{func(_ context.Context, v int64) ([]int64, error) { panic("no such number") }, []string{"panic: no such number", "async_test.go:"}},
		{func(_ context.Context, v int64) ([]int64, error) { runtime.Goexit(); return nil, nil }, []string{"a function ended its goroutine"}},
	} {
		env := stream.NewEnv(quiet, stream.DefaultParallelism(1), stream.Mode(stream.Streaming))
		stream.Sequence(env, 1, 30).AsyncOrdered(stream.AsyncCall(test.call), stream.AsyncOptions{Retry: stream.FixedDelayRetry(3, 0)}).Discard()
		err := env.Execute(t.Context(), "panic")
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}

// Records in flight are called for again after a failure: each result reaches keyed
// state once.
func TestAsyncGoesOnFromCheckpoints(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			const last = 6000
			var s service
			var fails atomic.Int64
			fails.Store(3)
			env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.Mode(stream.Streaming), stream.CheckpointInterval(20*time.Millisecond),
				stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
			in, o := stream.Sequence(env, 1, last), stream.AsyncOptions{Capacity: 20, Timeout: time.Minute}
			got := calling(in, ordered, &s, o).KeyBy(func(v int64) int64 { return v / 2 % 3 }).
				Process(func() stream.KeyedProcessFunction[int64, int64, stream.Pair[int64, int64]] {
					return &onlyOnce{fails: &fails}
				}).Collect()
			execute(t, env)
			most := map[int64]int64{}
			for _, p := range got.Values() {
				most[p.Key] = max(most[p.Key], p.Value)
			}
			if most[0] != last/3 || most[1] != last/3 || most[2] != last/3 {
				t.Errorf("ordered %v: counted %v, want %d each", ordered, most, last/3)
			}
			if fails.Load() >= 0 || s.calls == last {
				t.Errorf("ordered %v: it failed %d times, want 3; %d calls", ordered, 3-fails.Load(), s.calls)
			}
		})
	}
}

// onlyOnce counts the numbers of a key, refuses one that comes twice, and fails now
// and then.
type onlyOnce struct {
	seen  *stream.MapState[int64, bool]
	fails *atomic.Int64
	since int
}

func (o *onlyOnce) Open(c *stream.OpenContext) error {
	o.seen = stream.NewMapState[int64, bool](c, "seen")
	return nil
}

func (o *onlyOnce) Process(v int64, c *stream.KeyedContext[int64], emit func(stream.Pair[int64, int64])) error {
	if o.seen.Contains(v) {
		return stream.Fatal(fmt.Errorf("%d comes twice", v))
	}
	o.seen.Put(v, true)
	emit(stream.Pair[int64, int64]{Key: c.Key(), Value: int64(o.seen.Len())})
	if o.since++; o.since == 700 && o.fails.Add(-1) >= 0 {
		return errors.New("it was to fail")
	}
	return nil
}

func TestAsyncIsChecked(t *testing.T) {
	for _, test := range []struct {
		o    stream.AsyncOptions
		want string
	}{
		{stream.AsyncOptions{Capacity: -1}, "Capacity: got -1"},
		{stream.AsyncOptions{Timeout: 1}, "Timeout: got 1ns"},
		{stream.AsyncOptions{Retry: stream.FixedDelayRetry(-1, 0)}, "Retry: got -1 attempts"},
		{stream.AsyncOptions{Retry: stream.ExponentialRetry(2, time.Second, time.Millisecond)}, "the first pause, 1s, is longer"},
	} {
		env := stream.NewEnv(quiet)
		stream.Sequence(env, 1, 2).AsyncOrdered(stream.AsyncCall(new(service).double), test.o).Discard()
		if err := env.Execute(t.Context(), "wrong"); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "async_test.go:") {
			t.Errorf("got %v, want %s and the line", err, test.want)
		}
	}
	env := stream.NewEnv(quiet)
	stream.Sequence(env, 1, 2).AsyncOrdered[int64](stream.AsyncCall[int64, int64](nil), stream.AsyncOptions{}).Discard()
	if err := env.Execute(t.Context(), "nil"); err == nil || !strings.Contains(err.Error(), "the function is nil") {
		t.Errorf("got %v", err)
	}
}
