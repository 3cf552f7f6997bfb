package task

import "time"

// Clock is processing time.
type Clock interface {
	// Now is in Unix milliseconds. From any goroutine.
	Now() int64
	// At runs f, on any goroutine, when time has reached at, unless stop was called
	// before.
	At(at int64, f func()) (stop func())
}

// wall is the wall clock.
type wall struct{}

func (wall) Now() int64 { return time.Now().UnixMilli() }

func (wall) At(at int64, f func()) func() {
	timer := time.AfterFunc(time.Until(time.UnixMilli(at)), f)
	return func() { timer.Stop() }
}

// Now is the processing time in Unix milliseconds.
func (t *Task) Now() int64 { return t.spec.Clock.Now() }

// At runs f on the task's goroutine when processing time has reached at. The
// task's end stops what has not run.
func (t *Task) At(at int64, f func()) (stop func()) {
	e := &entry{run: f}
	t.timers[e] = struct{}{}
	e.unset = t.spec.Clock.At(at, func() {
		t.Mail(func() {
			switch {
			case e.stopped || t.ending.over:
			case t.stands():
				t.ending.late = append(t.ending.late, e)
			default:
				delete(t.timers, e)
				e.run()
			}
		})
	})
	return func() {
		e.stop()
		delete(t.timers, e)
	}
}

// entry is something to be done at a time. It is the task goroutine's.
type entry struct {
	run     func()
	unset   func()
	stopped bool
}

func (e *entry) stop() {
	e.stopped = true
	e.unset()
}
