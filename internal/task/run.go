package task

import (
	"errors"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/status"
)

// flushPause is how long records wait for company when the input has run dry:
// a frame costs the same whether it holds one record or a thousand.
const flushPause = time.Millisecond

// maxInterval bounds the time between two ticks of a busy task, after which it
// looks whether it is canceled even if its function takes long.
const maxInterval = 100 * time.Millisecond

// Run executes the task on the calling goroutine until it has ended.
func (t *Task) Run() {
	t.report(status.Initializing, nil)
	began := time.Now()
	err := errEnded
	// Deferred, because a function may end the goroutine: testing's FailNow does.
	defer func() { t.end(err) }()
	if err = operator.Guard(func() { operator.Check(t.open()) }); err == nil {
		now := time.Now()
		t.metrics.initialization.Store(int64(now.Sub(began)))
		t.metrics.started.Store(now.UnixNano())
		t.report(status.Running, nil)
		err = errEnded
		err = operator.Guard(t.loop)
	}
}

// errEnded is the cause of a failure that is no panic.
var errEnded = errors.New("a function ended its goroutine, as runtime.Goexit and FailNow of package testing do")

// end closes what was opened and reports the terminal state. Closing tells the
// consumers, whose failure may cancel this task: only if it was canceled before,
// that is why it ends.
func (t *Task) end(err error) {
	canceled := errors.Is(err, shuffle.ErrCanceled) || t.isCanceled()
	var record *status.Record
	if source, ok := t.source.(operator.Locator); ok && err != nil {
		record = source.Record() // before it is closed
	}
	if t.metrics.started.Load() != 0 {
		t.metrics.ended.Store(time.Now().UnixNano())
	}
	if closing := t.close(err != nil); err == nil {
		err = closing
	}
	switch {
	case err == nil:
		t.report(status.Finished, nil)
	case canceled:
		t.report(status.Canceled, nil)
	default:
		f := failureOf(err)
		if f.Kind != status.FailureConsumer {
			f.Record = record
		}
		t.report(status.Failed, f)
	}
}

// failureOf makes the loss of a peer recognisable: it follows from the failure of
// another task and must not hide it. What a finished task had produced and cannot
// be read is told with whose it was: that one has to run again.
func failureOf(err error) *status.Failure {
	p, unread := errors.AsType[*shuffle.PartitionError](err)
	if unread && p.Error() == err.Error() {
		err = p.Err // the same text, but it can be told from its causes
	}
	f := operator.AsFailure(err)
	if unread && (errors.Is(err, shuffle.ErrPartitionCorrupt) || p.Whole && errors.Is(err, shuffle.ErrPartitionNotFound)) {
		f.Kind, f.Partition = status.FailurePartition, p.Partition.Producer.String()
		return f
	}
	for _, secondary := range []error{shuffle.ErrPeerLost, shuffle.ErrProducerFailed, shuffle.ErrPartitionNotFound} {
		if errors.Is(err, secondary) {
			f.Kind = status.FailureConsumer
		}
	}
	return f
}

func (t *Task) report(s status.Execution, f *status.Failure) { t.spec.Report(s, f) }

func (t *Task) isCanceled() bool {
	select {
	case <-t.canceled:
		return true
	default:
		return false
	}
}

// open makes partitions, gates and chain.
func (t *Task) open() error {
	var err error
	if t.partitions, err = t.spec.Partitions(t.canceled); err != nil {
		return err
	}
	if t.gates, err = t.spec.Gates(t.Wake, t.canceled); err != nil {
		return err
	}
	if t.skipped, err = t.restoredFinished(); err != nil {
		f := operator.AsFailure(err)
		f.Fatal = true
		return f
	}
	if t.skipped {
		t.skip()
	} else {
		t.build()
	}
	t.live.Store(&ends{t.gates, t.partitions})
	t.lastFlush = time.Now()
	t.startClock()
	return nil
}

// close runs the closers and ends gates and partitions. It gives the first
// error of a closer.
func (t *Task) close(failed bool) error {
	var first error
	if t.clock != nil {
		t.clock.Stop()
	}
	for e := range t.timers { // order: each is only stopped
		e.stop()
	}
	for i := len(t.closers) - 1; i >= 0; i-- {
		closer := t.closers[i]
		if err := operator.Guard(func() { closer(failed || first != nil) }); err != nil && first == nil {
			first = err
		}
	}
	if t.align != nil && t.align.flight != nil {
		t.align.giveUp(ErrNotRunning)
	}
	for _, g := range t.gates {
		g.Close()
	}
	for _, p := range t.partitions {
		if !failed && first == nil {
			first = p.Finish()
		}
		if failed || first != nil {
			p.Fail(errors.New("task " + t.name() + " did not finish"))
		}
	}
	t.publish()
	return first
}

// loop is the one loop of every task.
func (t *Task) loop() {
	t.replay()
	switch {
	case t.source != nil:
		if len(t.gates) > 0 { // what operators behind the source hold
			t.loopGates()
		}
		t.loopSource()
	case len(t.gates) > 0:
		t.loopGates()
	}
	t.finishAll()
	t.ended = true
	t.flush(time.Now())
	t.await()
}

// loopSource polls the source until it has ended.
func (t *Task) loopSource() {
	for {
		if !t.serve() {
			operator.Abort(shuffle.ErrCanceled)
		}
		if t.ending.over {
			return
		}
		if !t.roomy() {
			t.crowded()
			continue
		}
		if t.held() {
			t.idle()
			continue
		}
		switch t.source.Poll() {
		case operator.Done:
			return
		case operator.Wait:
			t.idle()
		case operator.More:
			t.flushIfDue()
		}
	}
}

// held reports whether somebody wants no records of the source just now.
func (t *Task) held() (held bool) {
	for _, h := range t.holds {
		held = h() || held
	}
	return held
}

// loopGates takes elements from the gates in turn until every one has ended.
func (t *Task) loopGates() {
	in := newInputs(t.gates)
	in.first = t.first()
	t.align = newAlignment(t)
	for in.open > 0 {
		if !t.serve() {
			operator.Abort(shuffle.ErrCanceled)
		}
		if !t.roomy() && !t.stands() {
			if !t.takeUrgent(in) {
				t.crowded()
			}
			continue
		}
		progress := false
		for i, g := range t.gates {
			if in.ended[i] || in.later(i) || t.stands() {
				continue
			}
			channel, e, ok, err := g.Poll()
			operator.Check(err)
			if !ok {
				continue
			}
			progress = true
			if t.skipped || t.ending.over {
				t.pastEnd(in, i, channel, e)
			} else {
				t.take(in, i, channel, e)
			}
		}
		if progress {
			t.flushIfDue()
		} else {
			t.idle()
		}
	}
}

// takeUrgent takes a barrier that has overtaken, from any gate.
func (t *Task) takeUrgent(in *inputs) bool {
	for i, g := range t.gates {
		if o, can := g.(shuffle.OvertakenGate); can && !in.ended[i] {
			if channel, e, ok := o.PollUrgent(); ok {
				t.take(in, i, channel, e)
				return true
			}
		}
	}
	return false
}

// first gives the gates that are read before the others; nil: none are.
func (t *Task) first() (first []bool) {
	for i, e := range t.spec.Chain.Inputs {
		if e.First && t.spec.Batch {
			if first == nil {
				first = make([]bool, len(t.spec.Chain.Inputs))
			}
			first[i] = true
		}
	}
	return first
}

// take processes one element of gate i.
func (t *Task) take(in *inputs, i, channel int, e element.Element) {
	switch e.Kind {
	case element.Data:
		t.align.record(i, channel, e.Batch)
		t.CountIn(e.Batch.Len())
		t.metrics.batchesIn.Add(1)
		t.heads[i].Batch(e.Batch)
		e.Batch.Release()
	case element.Watermark:
		t.advance(i, in.watermark(i, channel, e.Time))
	case element.Status:
		t.advance(i, in.idle(i, channel, e.Idle))
	case element.Barrier:
		t.align.barrier(i, channel, barrierOf(e))
	case element.EndOfData:
		// It only announces EndOfPartition, which ends the channel.
	case element.EndOfPartition:
		t.align.end(i, channel)
		t.advance(i, in.end(i, channel))
	}
}

// advance passes on what an element of gate i has changed: that the task is active
// again before its watermark, that it is idle after it.
func (t *Task) advance(i int, now turn) {
	if t.source != nil { // whose time is the task's
		return
	}
	if now.changed && !now.idle {
		t.heads[i].Idle(false)
	}
	if now.advanced {
		t.metrics.watermark.Store(now.watermark)
		t.heads[i].Watermark(now.watermark)
	}
	if now.changed && now.idle {
		t.heads[i].Idle(true)
	}
}

// serve runs the mail, and goes on with that alone while the task stands still. It is
// false when the task is canceled.
func (t *Task) serve() bool {
	for {
		for _, letter := range t.mail.take() {
			letter()
		}
		if t.isCanceled() || !t.stands() {
			return !t.isCanceled()
		}
		t.rest()
	}
}

// rest waits for something to do.
func (t *Task) rest() {
	t.metrics.idleFrom(time.Now())
	select {
	case <-t.wake:
	case <-t.canceled:
	}
	t.metrics.idleUntil(time.Now())
}

// idle lets buffered output leave and waits for something to do. The flush may
// block, which is not idleness.
func (t *Task) idle() {
	now := time.Now()
	if pause := t.lastFlush.Add(flushPause).Sub(now); pause > 0 {
		t.metrics.idleFrom(now)
		woken := t.sleep(pause)
		now = time.Now()
		t.metrics.idleUntil(now)
		if woken {
			return
		}
	}
	t.flush(now)
	t.rest()
}

// sleep waits at most d; it is true when there is something to do before.
func (t *Task) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.wake:
		return true
	case <-t.canceled:
		return true
	case <-timer.C:
		return false
	}
}

// attend does what the signal asked for, between two records.
func (t *Task) attend() {
	t.signal.Lower()
	if t.isCanceled() {
		t.signal.Raise() // for whoever recovers from this
		operator.Abort(shuffle.ErrCanceled)
	}
	if t.ticked.Load() {
		t.tick()
	}
}

// tick flushes when the buffer time-out has passed, and makes the clock run again.
func (t *Task) tick() {
	t.ticked.Store(false)
	t.ticking = false
	if now := time.Now(); t.spec.BufferTimeout >= 0 && now.Sub(t.lastFlush) >= t.spec.BufferTimeout {
		t.flush(now)
	} else {
		t.publish()
	}
	t.startClock()
}

// startClock makes the clock run while the task is busy. It is not stopped when
// the task runs out of work: then it ticks once for nothing.
func (t *Task) startClock() {
	if t.ticking {
		return
	}
	t.ticking = true
	if t.clock != nil {
		t.clock.Reset(t.interval())
		return
	}
	t.clock = time.AfterFunc(t.interval(), func() {
		t.ticked.Store(true)
		t.signal.Raise()
	})
}

// interval is the time between two ticks of a busy task.
func (t *Task) interval() time.Duration {
	if t.spec.BufferTimeout < 0 {
		return maxInterval
	}
	return max(flushPause, min(t.spec.BufferTimeout, maxInterval))
}

// flushIfDue flushes, between two batches, when the buffer time-out has passed.
func (t *Task) flushIfDue() {
	switch {
	case t.ticked.Load():
		t.tick()
	case t.spec.BufferTimeout == 0:
		t.flush(time.Now())
	}
	t.startClock()
}

func (t *Task) flush(now time.Time) {
	t.lastFlush = now
	for i := len(t.flushers) - 1; i >= 0; i-- { // the head first: it feeds the others
		t.flushers[i]()
	}
	t.publish()
}
