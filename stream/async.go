package stream

import (
	"context"
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/operator"
)

// AsyncFunction is a user function that takes its time, such as a request to another
// service: while one record waits for its results, others are on their way. It may
// have the methods of AsyncTimeout, AsyncRetry, Opener and Closer.
//
// Call runs on goroutines of its own, several at once, so what it shares must be safe
// for concurrent use; the other methods run on the task's goroutine.
type AsyncFunction[T, R any] interface {
	// Call gives the results for a record: any number of them. It must return soon
	// after ctx has ended, which it does when the record's time is over, with the task,
	// and not before Call has returned otherwise. An error, or a panic, fails the job.
	Call(ctx context.Context, v T) ([]R, error)
}

// AsyncTimeout gives the results for a record whose time is over. Without it the job
// fails. T and R must be those of the function.
type AsyncTimeout[T, R any] interface {
	OnTimeout(v T) ([]R, error)
}

// AsyncRetry says whether what a call gave asks for another attempt. Without it an
// error does. It is called on the goroutines of calls.
type AsyncRetry[R any] interface {
	Retry(results []R, err error) bool
}

// AsyncCall makes a function an AsyncFunction.
func AsyncCall[T, R any](call func(ctx context.Context, v T) ([]R, error)) func() AsyncFunction[T, R] {
	if call == nil {
		return nil
	}
	return func() AsyncFunction[T, R] { return asyncCall[T, R](call) }
}

type asyncCall[T, R any] func(ctx context.Context, v T) ([]R, error)

func (f asyncCall[T, R]) Call(ctx context.Context, v T) ([]R, error) { return f(ctx, v) }

// AsyncOptions say how an asynchronous operation works.
type AsyncOptions struct {
	// Capacity is how many records a subtask may hold whose results have not been
	// emitted, and how many calls it may make at once. When so many are held, it takes
	// no further ones. Zero means 100, as in Flink.
	Capacity int
	// Timeout is how long a record may take, with all its attempts: at least 1ms. Zero
	// means for ever.
	Timeout time.Duration
	// Retry says how often a call is made again, and when. The zero strategy makes it
	// once.
	Retry RetryStrategy
}

// RetryStrategy says how often a call that failed is made again, and when.
type RetryStrategy struct {
	attempts    int // all calls for a record; 0: one
	pause, most time.Duration
}

// FixedDelayRetry makes up to so many calls for a record, with a pause between them.
func FixedDelayRetry(attempts int, pause time.Duration) RetryStrategy {
	return RetryStrategy{attempts: attempts, pause: pause, most: pause}
}

// ExponentialRetry makes up to so many calls for a record, with pauses of which the
// first is given and each is twice as long as the one before, up to most.
func ExponentialRetry(attempts int, first, most time.Duration) RetryStrategy {
	return RetryStrategy{attempts: attempts, pause: first, most: most}
}

// next is the pause after so many calls.
func (r RetryStrategy) next(calls int) (time.Duration, bool) {
	pause := r.pause
	for i := 1; i < calls && pause < r.most; i++ {
		pause *= 2
	}
	return min(pause, r.most), calls < r.attempts
}

// check says what is wrong with o.
func (o AsyncOptions) check() error {
	switch r := o.Retry; {
	case o.Capacity < 0 || o.Capacity > maxCapacity:
		return fmt.Errorf("option Capacity: got %d, want 1 to %d, or 0 for %d", o.Capacity, maxCapacity, defaultCapacity)
	case o.Timeout < 0 || o.Timeout > 0 && o.Timeout < time.Millisecond:
		return fmt.Errorf("option Timeout: got %s, want at least 1ms, or 0 for none", o.Timeout)
	case r.attempts < 0 || r.pause < 0:
		return fmt.Errorf("option Retry: got %d attempts and a pause of %s, want neither below 0", r.attempts, r.pause)
	case r.most < r.pause:
		return fmt.Errorf("option Retry: the first pause, %s, is longer than the longest, %s", r.pause, r.most)
	}
	return nil
}

const (
	defaultCapacity = 100
	maxCapacity     = 1 << 16
)

// AsyncOrdered emits the results of an asynchronous function in the order of the
// records, with their event times. f is called once in each subtask, and must make a
// new function each time; AsyncCall makes it of a function.
//
// The records that a subtask holds are part of its checkpoints. When one is restored,
// the function is called for them again, so that no result is lost; a service is asked
// twice for some.
func (s DataStream[T]) AsyncOrdered[R any](f func() AsyncFunction[T, R], o AsyncOptions) DataStream[R] {
	return callAsync(s, "Async Ordered", true, f, o)
}

// AsyncUnordered is AsyncOrdered, but emits results as they come. Those of a record
// stay behind the watermarks that came before it, and before those that came after.
func (s DataStream[T]) AsyncUnordered[R any](f func() AsyncFunction[T, R], o AsyncOptions) DataStream[R] {
	return callAsync(s, "Async Unordered", false, f, o)
}

// callAsync adds the operation.
func callAsync[T, R any](s DataStream[T], op string, ordered bool, f func() AsyncFunction[T, R], o AsyncOptions) DataStream[R] {
	s.env.required(op, f == nil)
	if err := o.check(); err != nil {
		s.env.problem(callSite(), "%s: %w", op, err)
	}
	how := operator.Async{Ordered: ordered, Capacity: o.Capacity, Timeout: o.Timeout}
	if how.Capacity <= 0 {
		how.Capacity = defaultCapacity
	}
	if o.Retry.attempts > 1 {
		how.Retry = o.Retry.next
	}
	return transform[T, R](s, op, operator.CallAsync(how, func(m *operator.Moment) (p operator.Caller[T, R], err error) {
		function := f()
		if function == nil {
			return p, errNil("AsyncFunction")
		}
		p.Call = function.Call
		if timeout, ok := function.(AsyncTimeout[T, R]); ok {
			p.Timeout = timeout.OnTimeout
		}
		if retry, ok := function.(AsyncRetry[R]); ok {
			p.Again = retry.Retry
		}
		p.Life = lifeOf[R](function)
		return p, open(function, m, nil)
	}))
}
