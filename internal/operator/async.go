package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/codec"
)

// Async says how an asynchronous operator works.
type Async struct {
	// Ordered says that results keep the order of records. Otherwise they leave as
	// they come, but none passes a watermark.
	Ordered bool
	// Capacity is how many records may be held at once, and how many calls may run.
	Capacity int
	// Timeout is how long a record may take, with all attempts; 0: for ever.
	Timeout time.Duration
	// Retry, if not nil, gives the pause before the next attempt, after so many.
	Retry func(attempts int) (pause time.Duration, again bool)
}

// Caller is a user function that takes its time.
type Caller[T, R any] struct {
	Life[R]
	// Call gives the results for a record. It runs on goroutines of its own, several
	// at once; ctx ends with the record's time and with the task.
	Call func(ctx context.Context, v T) ([]R, error)
	// Timeout, if not nil, gives the results for a record whose time is over.
	Timeout func(v T) ([]R, error)
	// Again, if not nil, says whether what a call gave asks for another attempt;
	// otherwise an error does.
	Again func(results []R, err error) bool
}

// errTimeout is why the context of a call ends when the record's time is over.
var errTimeout = errors.New("the time for the call is over")

// A call is a record whose results have not been emitted.
//
// Only the task's goroutine touches it. A worker knows it by its record alone.
type call[T, R any] struct {
	Timed[T]
	in       *segment[T, R]
	deadline int64
	stop     context.CancelFunc // nil: it does not run yet
	results  []R
	done     bool // results are there
	emitted  bool
}

// A segment is the records between two watermarks.
//
// Invariant: open is how many of calls have not been emitted.
type segment[T, R any] struct {
	calls []*call[T, R] // in the order of the records
	done  []*call[T, R] // as they came; empty in an ordered operator
	open  int
	end   func() // what is passed on behind it; nil: it is the last
}

// asynchronous is the operator in one subtask. Calls run on at most Capacity workers;
// what they come to is given back through completed, and looked at by the task's
// goroutine, in a letter or, while it waits for room, in wait.
type asynchronous[T, R any] struct {
	*footing[R]
	Async
	p        Caller[T, R]
	segments []*segment[T, R] // at least one
	held     int              // records whose results have not been emitted
	running  int              // calls that workers have
	waiting  []*call[T, R]    // for a worker
	timed    []*call[T, R]    // in the order of their deadlines
	armed    bool             // the clock calls at the first deadline
	plan     *codec.Plan[Timed[T]]
	from     *codec.Reader[Timed[T]]
	restored []Timed[T] // to be called for first

	base    context.Context
	jobs    chan job[T, R] // has room for all that may run
	workers int
	wg      sync.WaitGroup
	ready   chan struct{} // capacity 1: something is completed

	mu        sync.Mutex
	completed []outcome[T, R]
}

// A job is a call as a worker has it.
type job[T, R any] struct {
	call *call[T, R]
	v    T
	ctx  context.Context
}

// An outcome is what came of a job.
type outcome[T, R any] struct {
	call    *call[T, R]
	results []R
	err     error
}

// CallAsync makes the operator of a function that takes its time, such as a request to
// another service, so that many records are on their way at once. The records it holds
// are part of checkpoints, and called for again when one is restored.
func CallAsync[T, R any](how Async, open func(m *Moment) (Caller[T, R], error)) Factory {
	return FactoryFunc(func(c *Context, out any) any {
		a := &asynchronous[T, R]{
			footing: newFooting[R](c, out), Async: how, segments: []*segment[T, R]{{}},
			jobs: make(chan job[T, R], how.Capacity), ready: make(chan struct{}, 1),
		}
		var err error
		a.p, err = open(&a.Moment)
		a.begin(a.p.Life, err)
		var cancel context.CancelFunc
		a.base, cancel = context.WithCancel(context.Background())
		a.OnClose(func(bool) {
			cancel()
			close(a.jobs)
			a.wg.Wait()
		})
		plan, refused := codec.For[Timed[T]]()
		if refused == nil {
			a.plan = plan
			Check(a.KeepList(KeptList{Name: "in flight", Schema: string(plan.Schema()), From: a.readFrom, Save: a.save, Load: a.load}))
		}
		a.prepare, a.refuse = a.drain, refused
		a.keep(nil)
		for _, v := range a.restored {
			a.add(v)
		}
		a.restored = nil
		return &Receiver[T]{
			Push:      a.push,
			Watermark: func(t int64) { a.behind(func() { a.watermark(t) }) },
			Idle:      func(idle bool) { a.behind(func() { a.out.Idle(idle) }) },
			Finish: func() {
				a.wait(func() bool { return a.held == 0 })
				a.finish()
			},
		}
	})
}

// push takes a record, when there is room.
func (a *asynchronous[T, R]) push(v T, ts int64) {
	if a.held >= a.Capacity {
		a.wait(func() bool { return a.held < a.Capacity })
	}
	a.add(Timed[T]{v, ts})
}

// add makes a call for a record.
func (a *asynchronous[T, R]) add(v Timed[T]) {
	s := a.segments[len(a.segments)-1]
	c := &call[T, R]{Timed: v, in: s}
	s.calls = append(s.calls, c)
	s.open++
	a.held++
	if a.Timeout > 0 {
		c.deadline = a.Now() + a.Timeout.Milliseconds()
		a.timed = append(a.timed, c)
		a.arm()
	}
	a.waiting = append(a.waiting, c)
	a.run()
}

// run gives calls that wait to workers.
func (a *asynchronous[T, R]) run() {
	for a.running < a.Capacity && len(a.waiting) > 0 {
		c := a.waiting[0]
		a.waiting = a.waiting[1:]
		if c.done {
			continue // its time was over before
		}
		j := job[T, R]{call: c, v: c.Value}
		if a.Timeout > 0 {
			j.ctx, c.stop = context.WithTimeoutCause(a.base, a.Timeout, errTimeout)
		} else {
			j.ctx, c.stop = context.WithCancel(a.base)
		}
		if a.running++; a.running > a.workers {
			a.workers++
			a.wg.Go(a.work)
		}
		a.jobs <- j
	}
}

// work is a worker.
func (a *asynchronous[T, R]) work() {
	for j := range a.jobs {
		a.attempt(j)
	}
}

// attempt makes a call until it need not be made again, and gives back what came of
// it, also when the function ends the goroutine.
func (a *asynchronous[T, R]) attempt(j job[T, R]) {
	o := outcome[T, R]{call: j.call, err: errors.New("a function ended its goroutine, as runtime.Goexit and FailNow of package testing do")}
	defer func() { a.give(o) }()
	for n := 1; ; n++ {
		panicked := Guard(func() { o.results, o.err = a.p.Call(j.ctx, j.v) })
		again := o.err != nil
		if panicked != nil {
			o.err, again = panicked, false
		} else if a.p.Again != nil {
			again = a.p.Again(o.results, o.err)
		}
		if (again || o.err != nil) && panicked == nil && errors.Is(context.Cause(j.ctx), errTimeout) {
			o.err = errTimeout
			return
		}
		if !again || a.Retry == nil {
			return
		}
		pause, more := a.Retry(n)
		if !more {
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-j.ctx.Done():
			timer.Stop()
			o.err = context.Cause(j.ctx)
			return
		}
	}
}

// give hands an outcome to the task.
func (a *asynchronous[T, R]) give(o outcome[T, R]) {
	a.mu.Lock()
	a.completed = append(a.completed, o)
	first := len(a.completed) == 1
	a.mu.Unlock()
	if !first {
		return
	}
	select {
	case a.ready <- struct{}{}:
	default:
	}
	a.Mail(a.drain)
}

// drain looks at what was completed, and emits what can be.
func (a *asynchronous[T, R]) drain() {
	a.mu.Lock()
	all := a.completed
	a.completed = nil
	a.mu.Unlock()
	for _, o := range all {
		a.running--
		o.call.stop()
		switch {
		case o.call.done:
		case errors.Is(o.err, errTimeout):
			a.over(o.call)
		case o.err != nil:
			a.failed(o.err)
		default:
			a.complete(o.call, o.results)
		}
	}
	a.run()
	a.release()
}

// over gives a call whose time is over its results.
func (a *asynchronous[T, R]) over(c *call[T, R]) {
	if a.p.Timeout == nil {
		a.failed(fmt.Errorf("no result within %s", a.Timeout))
	}
	results, err := a.p.Timeout(c.Value)
	if err != nil {
		a.failed(err)
	}
	a.complete(c, results)
}

// complete gives a call its results.
func (a *asynchronous[T, R]) complete(c *call[T, R], results []R) {
	if c.results, c.done = results, true; !a.Ordered {
		c.in.done = append(c.in.done, c)
	}
}

// release emits the results that nothing has to come before, and passes on what is
// behind a segment of which everything has been emitted.
func (a *asynchronous[T, R]) release() {
	for {
		s := a.segments[0]
		if a.Ordered {
			for len(s.calls) > 0 && s.calls[0].done {
				a.send(s.calls[0])
				s.calls = s.calls[1:]
			}
		} else {
			for len(s.done) > 0 {
				a.send(s.done[0])
				s.done = s.done[1:]
			}
			s.calls = settled(s.calls, s.open, func(c *call[T, R]) bool { return c.emitted })
		}
		if s.open > 0 || s.end == nil {
			return
		}
		a.segments = a.segments[1:]
		s.end()
	}
}

// send emits the results of a call.
func (a *asynchronous[T, R]) send(c *call[T, R]) {
	c.emitted = true
	c.in.open--
	a.held--
	a.Timestamp = c.At
	for _, r := range c.results {
		a.emit(r)
	}
	c.results = nil
}

// behind passes something on behind the results of all records that came before.
func (a *asynchronous[T, R]) behind(pass func()) {
	s := a.segments[len(a.segments)-1]
	if s.open == 0 && len(a.segments) == 1 {
		pass()
		return
	}
	s.end = pass
	a.segments = append(a.segments, &segment[T, R]{})
}

// settled takes calls that are over out of a list once most of it is, so that one that
// takes long does not keep those behind it in memory.
func settled[T, R any](all []*call[T, R], left int, over func(*call[T, R]) bool) []*call[T, R] {
	for len(all) > 0 && over(all[0]) {
		all = all[1:]
	}
	if len(all) > 2*left+64 {
		all = slices.DeleteFunc(all, over)
	}
	return all
}

// arm makes the clock call when the time of the next call is over.
func (a *asynchronous[T, R]) arm() {
	a.timed = settled(a.timed, a.held, func(c *call[T, R]) bool { return c.done })
	if a.armed || len(a.timed) == 0 {
		return
	}
	a.armed = true
	a.At(a.timed[0].deadline, func() {
		a.armed = false
		a.expire()
		a.release()
		a.arm()
	})
}

// expire gives up the calls whose time is over. Their workers are free when their
// functions have returned.
func (a *asynchronous[T, R]) expire() {
	for now := a.Now(); len(a.timed) > 0 && (a.timed[0].done || a.timed[0].deadline <= now); {
		c := a.timed[0]
		if a.timed = a.timed[1:]; c.done {
			continue
		}
		if c.stop != nil {
			c.stop()
		}
		a.over(c)
	}
}

// maxPause is how long the operator waits before it looks whether its task is to do
// something else.
const maxPause = 50 * time.Millisecond

// wait waits on the task's goroutine until there is enough. Letters of the task are not
// read meanwhile, since operators before this one are in the middle of a record.
func (a *asynchronous[T, R]) wait(enough func() bool) {
	a.drain()
	for !enough() {
		a.Signal.Attend()
		pause := maxPause
		if len(a.timed) > 0 {
			pause = min(pause, max(time.Millisecond, time.Duration(a.timed[0].deadline-a.Now())*time.Millisecond))
		}
		timer := time.NewTimer(pause)
		select {
		case <-a.ready:
		case <-a.Done():
		case <-timer.C:
		}
		timer.Stop()
		a.expire()
		a.drain()
	}
}

func (a *asynchronous[T, R]) readFrom(schema string) error {
	from, err := codec.NewReader(codec.Schema(schema), a.plan)
	if err == nil {
		a.from = from
	}
	return err
}

// save gives the records whose results have not been emitted, in their order.
func (a *asynchronous[T, R]) save() [][]byte {
	var all [][]byte
	for _, s := range a.segments {
		for _, c := range s.calls {
			if !c.emitted {
				e, err := a.plan.Append(nil, []Timed[T]{c.Timed})
				Check(err)
				all = append(all, e)
			}
		}
	}
	return all
}

func (a *asynchronous[T, R]) load(elements [][]byte) error {
	for i, e := range elements {
		vals, rest, err := a.from.Decode(a.restored, 1, e)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d bytes too many", len(rest))
		}
		if err != nil {
			return fmt.Errorf("record %d in flight: %w", i, err)
		}
		a.restored = vals
	}
	return nil
}
