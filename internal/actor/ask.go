package actor

import (
	"context"
	"errors"

	"github.com/weirstream/weir/internal/invariant"
)

// ErrStopped is what Ask and Query return when the loop ends before it answers.
var ErrStopped = errors.New("the loop has stopped")

// Ask lets a goroutine that is not a loop, such as one that serves a REST
// request, put a question to a loop: f runs on it and calls reply once, at once
// or in a later callback. Ask waits for that, for ctx and for the loop's end,
// and returns the answer, the cause of ctx or ErrStopped. The answer must share
// nothing with the loop's state. Asking from a loop would block it: use Post.
func Ask[T any](ctx context.Context, loop Loop, f func(reply func(T))) (T, error) {
	answer := make(chan T, 1)
	replied := false // touched only on the loop
	loop.Post(func() {
		f(func(v T) {
			invariant.Check(!replied, "a question was answered twice")
			replied = true
			answer <- v
		})
	})
	var stopped <-chan struct{}
	if s, ok := loop.(interface{ Done() <-chan struct{} }); ok {
		stopped = s.Done()
	}
	var none T
	select {
	case v := <-answer:
		return v, nil
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-stopped:
	}
	select {
	case v := <-answer: // the last callback answered
		return v, nil
	default:
		return none, ErrStopped
	}
}

// Query is Ask for what can be answered at once.
func Query[T any](ctx context.Context, loop Loop, f func() T) (T, error) {
	return Ask(ctx, loop, func(reply func(T)) { reply(f()) })
}
