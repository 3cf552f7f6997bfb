package operator

import (
	"fmt"
	"iter"

	"github.com/weirstream/weir/batch"
)

// Map makes the operator that emits f of every record.
func Map[T, R any](f func(T) R) Factory {
	return FactoryFunc(func(_ *Context, out any) any {
		o := Output[R](out)
		push := o.Push
		return through(o, func(v T, ts int64) { push(f(v), ts) })
	})
}

// Filter makes the operator that passes on the records that keep holds for.
func Filter[T any](keep func(T) bool) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		o := Output[T](out)
		push, emitted := o.Push, c.Emitted()
		return through(o, func(v T, ts int64) {
			if keep(v) {
				*emitted++
				push(v, ts)
			}
		})
	})
}

// FlatMap makes the operator that emits what f yields for every record.
func FlatMap[T, R any](f func(T) iter.Seq[R]) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		o := Output[R](out)
		push, signal, emitted := o.Push, c.Signal, c.Emitted()
		return through(o, func(v T, ts int64) {
			for r := range f(v) {
				signal.Attend()
				*emitted++
				push(r, ts)
			}
		})
	})
}

// through makes the receiver of an operator that only acts on records.
func through[T, R any](o *Receiver[R], push func(T, int64)) *Receiver[T] {
	return &Receiver[T]{Push: push, Watermark: o.Watermark, Idle: o.Idle, Finish: o.Finish}
}

// Sink makes the operator at the end of a stream: each record is given to take,
// readied by open in each subtask. flush, if not nil, runs when output should
// not be held back any longer, and when the task fails: what was taken before
// then can be seen.
func Sink[T any](open func(c *Context) (take func(v T) error, flush func() error, err error)) Factory {
	return FactoryFunc(func(c *Context, _ any) any {
		take, flush, err := open(c)
		return &Receiver[T]{
			Push: func(v T, _ int64) {
				if err := take(v); err != nil {
					c.failed(err)
				}
			},
			Watermark: noWatermark,
			Idle:      noIdle,
			Finish:    ending(c, flush, err),
		}
	})
}

// ending makes the end of a sink.
//
//go:noinline
func ending(c *Context, flush func() error, err error) (finish func()) {
	if err != nil {
		c.failed(fmt.Errorf("open: %w", err))
	}
	if flush == nil {
		return nothing
	}
	finish = func() {
		if err := flush(); err != nil {
			c.failed(err)
		}
	}
	c.OnFlush(finish)
	c.OnClose(func(failed bool) {
		if failed {
			finish()
		}
	})
	return finish
}

// What a receiver does that is told of nothing but records.
//
// Closures in generic code are compiled for every type of records, and so is what is
// inlined into it: what does not depend on the type is in functions of its own here,
// those that would be inlined marked not to be.
func noWatermark(int64) {}
func noIdle(bool)       {}
func nothing()          {}

// Discard makes the sink that drops every record.
func Discard[T any]() Factory {
	return FactoryFunc(func(*Context, any) any {
		return &Receiver[T]{
			Push:      func(T, int64) {},
			PushBatch: func(*batch.Rows[T]) {},
			Watermark: noWatermark,
			Idle:      noIdle,
			Finish:    nothing,
		}
	})
}
