package actor

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Real is the Loop of a running process: one goroutine, a mailbox and the
// system's clock.
//
// The mailbox is unbounded. A bound would have to block or drop: a blocked Post
// from a callback to its own loop, or between two loops that post to each
// other, never ends, and a dropped one loses an answer that was promised. What
// fills a mailbox is bounded by its senders: each waits for an answer with a
// deadline before it sends much more.
//
// A panic in a callback is a bug and ends the process; its text names the loop.
type Real struct {
	name  string
	rand  *rand.Rand // used only on the loop
	due   timerHeap  // touched only on the loop
	ready []*timer   // being run by runDue, touched only on the loop
	made  uint64     // timers made so far, touched only on the loop
	// tell is told of callbacks that took longer than limit; nil: nobody is.
	limit time.Duration
	tell  func(took time.Duration)

	mu      sync.Mutex // guards the fields below
	mailbox []func()
	stopped bool

	wake    chan struct{} // holds a token when mailbox or stopped changed
	done    chan struct{} // closed when the loop's goroutine has ended
	helpers sync.WaitGroup
}

var _ Loop = (*Real)(nil)

// Start starts a loop whose randomness differs from run to run. Whoever starts
// it must Close it.
func Start(name string) *Real { return start(name, rand.Uint64(), rand.Uint64()) }

// StartSeeded starts a loop whose randomness follows from seed.
func StartSeeded(name string, seed uint64) *Real { return start(name, seed, 0) }

func start(name string, seed1, seed2 uint64) *Real {
	r := &Real{
		name: name,
		rand: rand.New(rand.NewPCG(seed1, seed2)),
		wake: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	go r.run() // Close waits for it through done
	return r
}

// Name is the loop's name, for logs.
func (r *Real) Name() string { return r.name }

// WarnAfter has tell called, on the loop, after each callback that took longer
// than limit: it held up all others, heartbeats among them. It is called before
// anything is posted.
func (r *Real) WarnAfter(limit time.Duration, tell func(took time.Duration)) {
	r.limit, r.tell = limit, tell
}

// call runs one callback.
func (r *Real) call(f func()) {
	if r.tell == nil {
		f()
		return
	}
	began := time.Now()
	f()
	if took := time.Since(began); took > r.limit {
		r.tell(took)
	}
}

// Post runs f on the loop after everything posted before; after Stop it does
// nothing.
func (r *Real) Post(f func()) {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return
	}
	r.mailbox = append(r.mailbox, f)
	r.mu.Unlock()
	r.signal()
}

// After runs f on the loop once d has passed. Two timers that are due together
// run in the order they were made.
func (r *Real) After(d time.Duration, f func()) Timer {
	r.made++
	t := &timer{loop: r, at: time.Now().Add(d), order: r.made, f: f}
	heap.Push(&r.due, t)
	return t
}

// Go runs work in a goroutine of its own and then on the loop. Close waits for
// work, so work that can take long must have a way to be cancelled, which
// belongs to whoever wrote it. After Stop neither of the two is run; if the
// loop stops while work runs, then is not run.
func (r *Real) Go(work func(), then func()) {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return
	}
	r.helpers.Add(1)
	r.mu.Unlock()
	go func() {
		defer r.helpers.Done()
		defer r.nameThePanic("work beside loop")
		work()
		r.Post(then)
	}()
}

// Now is the system's clock, with its monotonic part.
func (r *Real) Now() time.Time { return time.Now() }

// Rand is the loop's source of randomness.
func (r *Real) Rand() *rand.Rand { return r.rand }

// Stop ends the loop: the callback that runs now is the last one. It returns at
// once and may be called from anywhere, also on the loop, and more than once.
func (r *Real) Stop() {
	r.mu.Lock()
	r.stopped, r.mailbox = true, nil
	r.mu.Unlock()
	r.signal()
}

// Close stops the loop and waits until the callback that runs now and all work
// started by Go have returned. It must not be called on the loop.
func (r *Real) Close() {
	r.Stop()
	<-r.done
	r.helpers.Wait()
}

// CloseWithin is Close for a process that ends: it says so if callbacks or work
// have not returned in that time, and leaves them to the end of the process. Work
// that waits for a disk that hangs cannot be canceled.
func (r *Real) CloseWithin(limit time.Duration) error {
	r.Stop()
	ended := make(chan struct{})
	go func() { // ends when the work does
		r.Close()
		close(ended)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return fmt.Errorf("end the loop of the %s: work beside it has not ended within %s", r.name, limit)
	}
}

// Done is closed when the loop has run its last callback.
func (r *Real) Done() <-chan struct{} { return r.done }

func (r *Real) signal() {
	select {
	case r.wake <- struct{}{}:
	default: // a token is there already
	}
}

func (r *Real) run() {
	defer close(r.done)
	defer r.Stop() // a callback that ended its goroutine has ended the loop
	defer r.nameThePanic("loop")
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	var spare []func()
	for {
		batch, stopped := r.take(spare)
		if stopped {
			return
		}
		for i, f := range batch {
			if i > 0 && r.isStopped() {
				return
			}
			batch[i] = nil
			r.call(f)
		}
		spare = batch[:0]
		next, waits := r.runDue()
		if len(batch) > 0 {
			continue // letters may have come meanwhile
		}
		var alarmed <-chan time.Time
		if waits {
			alarm.Reset(next)
			alarmed = alarm.C
		}
		select {
		case <-r.wake:
		case <-alarmed:
		}
	}
}

// take empties the mailbox; spare becomes its new backing array, so that a busy
// loop does not allocate.
func (r *Real) take(spare []func()) (batch []func(), stopped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, r.mailbox = r.mailbox, spare
	return batch, r.stopped
}

func (r *Real) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// runDue runs the timers that are due, though not those they make themselves,
// and tells how long the next one has to wait, if there is one.
func (r *Real) runDue() (wait time.Duration, waits bool) {
	now := time.Now()
	for len(r.due) > 0 && !r.due[0].at.After(now) {
		r.ready = append(r.ready, heap.Pop(&r.due).(*timer))
	}
	for i, t := range r.ready {
		r.ready[i] = nil
		if f := t.f; f != nil && !r.isStopped() {
			t.f = nil
			r.call(f)
		}
	}
	r.ready = r.ready[:0]
	if len(r.due) == 0 {
		return 0, false
	}
	return max(0, time.Until(r.due[0].at)), true
}

func (r *Real) nameThePanic(where string) {
	if cause := recover(); cause != nil {
		panic(fmt.Sprintf("%s %s: %v", where, r.name, cause))
	}
}

// A timer waits in its loop's heap, is ready to run, or has run or been stopped:
// then f is nil.
type timer struct {
	loop  *Real
	at    time.Time
	order uint64 // breaks ties: timers made earlier run earlier
	index int    // in the heap; -1: not in it
	f     func()
}

// Stop prevents the callback, if it has not run.
func (t *timer) Stop() {
	t.f = nil
	if t.index >= 0 {
		heap.Remove(&t.loop.due, t.index)
	}
}

// timerHeap has the timer that is due first at the top.
type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.index = -1
	return t
}
