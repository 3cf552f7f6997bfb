package checkpoint

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// A stage is how far a pending checkpoint is.
type stage uint8

const (
	drawing   stage = iota // waits for its id
	locating               // waits for a place
	asking                 // waits for the coordinators' states
	gathering              // waits for the tasks
	writing                // waits for its metadata
	storing                // waits for the store; is not aborted any more
)

// A pending checkpoint has been begun and is not over. It leaves the Coordinator
// once, completed or aborted.
//
// Invariant: acked and missing are disjoint; together they are the tasks of its
// plan.
type pending struct {
	request  *waiting
	serial   Serial
	stage    stage
	id       int64 // 0: none yet
	plan     *plan
	begun    time.Time
	deadline time.Time
	// dir is where its own files go; empty: into memory.
	dir fs.Location

	asked        []ident.OperatorID // coordinators that have not answered
	coordinators map[ident.OperatorID]snapshot.Handle
	missing      map[ident.AttemptID]bool
	acked        map[ident.AttemptID]*Ack // looked up, never ranged
	held         []fs.Location            // its references, with repetitions
	unaligned    bool                     // some task has written records in flight
	// metadata is what it consists of, once all have acknowledged.
	metadata *snapshot.Metadata
}

func (p *pending) kind() snapshot.Kind { return p.request.Kind }

// trigger begins a checkpoint.
func (c *Coordinator) trigger(w *waiting) {
	plan, err := c.tasks.plan(c.opts.AfterFinish)
	if err == nil && c.job != status.JobRunning {
		err = &Error{Reason: TasksNotRunning, Detail: fmt.Sprintf("The job is %s.", c.job)}
	}
	if err != nil {
		c.history.FailEarly()
		c.refuse(w, err)
		return
	}
	c.serial++
	c.triggering = &pending{
		request: w, serial: c.serial, plan: plan, deadline: c.now.Add(c.opts.Timeout), coordinators: map[ident.OperatorID]snapshot.Handle{},
		missing: map[ident.AttemptID]bool{}, acked: map[ident.AttemptID]*Ack{},
	}
	for _, a := range plan.acknowledge {
		c.triggering.missing[a] = true
	}
	c.due++
	c.emit(DrawID{Serial: c.serial, After: c.lastID})
}

func (c *Coordinator) idDrawn(ev IDDrawn) {
	c.due--
	p := c.triggering
	if p == nil || p.serial != ev.Serial {
		c.lastID = max(c.lastID, ev.Checkpoint)
		return // given up in the meantime; the id is not used
	}
	if ev.Err == nil && ev.Checkpoint <= c.lastID {
		ev.Err = fmt.Errorf("the id %d was drawn, which is not above %d", ev.Checkpoint, c.lastID)
	}
	if ev.Err != nil {
		c.abort(p, &Error{Reason: IOProblem, Cause: ev.Err}, nil)
		return
	}
	p.id, p.begun, p.deadline = ev.Checkpoint, c.now, c.now.Add(c.opts.Timeout)
	c.lastID = p.id
	c.pending = append(c.pending, p)
	c.history.Begin(p.id, p.kind(), p.request.Format, p.plan.parts, c.now)
	if p.kind().Savepoint() {
		p.stage = locating
		c.due++
		c.emit(Locate{Checkpoint: p.id, Target: p.request.Target})
		return
	}
	if dir := c.directory(); dir != "" {
		p.dir = dir.Join(fmt.Sprintf("chk-%d", p.id))
	}
	c.ask(p)
}

func (c *Coordinator) located(ev Located) {
	c.due--
	p := c.find(ev.Checkpoint)
	switch {
	case p == nil || p.stage != locating:
		if ev.Err == nil {
			c.discard(0, "", nil, ev.Dir) // given up in the meantime
		}
	case ev.Err != nil:
		c.abort(p, &Error{Reason: IOProblem, Cause: ev.Err}, nil)
	default:
		p.dir = ev.Dir
		c.ask(p)
	}
}

func (c *Coordinator) find(id int64) *pending {
	for _, p := range c.pending {
		if p.id == id {
			return p
		}
	}
	return nil
}

// ask turns to the coordinators, before any task is told.
func (c *Coordinator) ask(p *pending) {
	p.stage, p.asked = asking, slices.Clone(p.plan.operators)
	if len(p.asked) == 0 {
		c.begin(p)
		return
	}
	c.due += len(p.asked)
	c.emit(SnapshotCoordinators{Checkpoint: p.id, Operators: p.plan.operators})
}

func (c *Coordinator) coordinatorSnapshot(ev CoordinatorSnapshot) {
	c.due--
	p := c.find(ev.Checkpoint)
	if p == nil || p.stage != asking || !slices.Contains(p.asked, ev.Operator) {
		if ev.Err == nil && ev.State.Location != "" {
			c.discard(0, "", c.files.free([]fs.Location{ev.State.Location}), "")
		}
		return
	}
	if ev.Err != nil {
		c.abort(p, &Error{Reason: TriggerFailure, Cause: fmt.Errorf("coordinator of operator %s: %w", ev.Operator, ev.Err)}, nil)
		return
	}
	p.asked = slices.DeleteFunc(p.asked, func(o ident.OperatorID) bool { return o == ev.Operator })
	p.coordinators[ev.Operator] = ev.State
	c.hold(p, ev.State)
	if len(p.asked) == 0 {
		c.begin(p)
	}
}

// hold counts the pending checkpoint's reference to a file.
func (c *Coordinator) hold(p *pending, h snapshot.Handle) {
	if h.Location != "" {
		c.files.hold([]fs.Location{h.Location})
		p.held = append(p.held, h.Location)
	}
}

// begin tells the tasks.
func (c *Coordinator) begin(p *pending) {
	p.stage = gathering
	c.triggering = nil
	kind := p.kind()
	c.standstill = kind == snapshot.SyncSavepoint
	barrier := Barrier{
		Checkpoint: p.id, Millis: p.begun.UnixMilli(), Kind: kind, Format: p.request.Format, Dir: p.dir,
		Base: c.base(p), Drain: p.request.Stop == Drain,
		ExactlyOnce: c.opts.ExactlyOnce,
	}
	if dir := c.directory(); dir != "" && !kind.Savepoint() {
		barrier.Shared = dir.Join("shared")
	}
	if c.opts.Unaligned && c.opts.ExactlyOnce && c.opts.MaxConcurrent == 1 && !kind.Savepoint() {
		barrier.Unaligned, barrier.AlignedTimeoutMillis = true, c.opts.AlignedTimeout.Milliseconds()
	}
	c.emit(TriggerTasks{Barrier: barrier, Attempts: p.plan.trigger})
}

// base is the checkpoint that a pending one may build on, whose files it holds: the
// newest one, unless that is a person's; 0: none.
//
// The obvious way is to let each task build on the newest one it was told to be
// complete. But news may be lost, and a full checkpoint that has been taken since
// refers to nothing older, so that what the task builds on would be deleted.
func (c *Coordinator) base(p *pending) int64 {
	if p.kind().Savepoint() || p.request.Full || !c.opts.Incremental || len(c.completed) == 0 {
		return 0
	}
	newest := c.completed[len(c.completed)-1]
	if !newest.owned || newest.damage != nil {
		return 0
	}
	c.files.hold(newest.files)
	p.held = append(p.held, newest.files...)
	return newest.id
}

func (c *Coordinator) triggerFailed(ev TriggerFailed) {
	if p := c.find(ev.Checkpoint); p != nil && p.missing[ev.Attempt] && p.stage == gathering {
		c.abort(p, &Error{Reason: TriggerFailure, Cause: ev.Err}, nil)
	}
}

func (c *Coordinator) ack(ev Ack) {
	p := c.find(ev.Checkpoint)
	outcome := Success
	switch {
	case p == nil:
		outcome = Late
	case p.acked[ev.Attempt] != nil:
		outcome = Duplicate
	case p.stage != gathering || !p.missing[ev.Attempt]:
		outcome = Unknown
	}
	c.emit(Acknowledged{Checkpoint: ev.Checkpoint, Attempt: ev.Attempt, Outcome: outcome})
	var handles []snapshot.Handle
	for i := range ev.States {
		handles = slices.AppendSeq(handles, ev.States[i].State.Handles())
	}
	if outcome != Success {
		c.discard(0, "", c.files.free(locations(slices.Values(handles))), "")
		return
	}
	delete(p.missing, ev.Attempt)
	p.acked[ev.Attempt] = &ev
	p.unaligned = p.unaligned || ev.Figures.Unaligned
	for _, h := range handles {
		c.hold(p, h)
	}
	c.history.Ack(p.id, ev.Attempt.Vertex, ev.Attempt.Subtask, ev.Figures, c.now)
	if len(p.missing) == 0 {
		c.finalize(p)
	}
}

func (c *Coordinator) decline(ev Decline) {
	p := c.find(ev.Checkpoint)
	if p == nil || p.stage != gathering || !p.missing[ev.Attempt] {
		return
	}
	err := &Error{Reason: ev.Reason, Cause: ev.Err}
	c.abort(p, err, &ev.Attempt)
}

// abortUnacknowledged aborts what the attempt will not acknowledge any more.
func (c *Coordinator) abortUnacknowledged(a ident.AttemptID, err *Error) {
	for _, p := range slices.Clone(c.pending) {
		if p.missing[a] {
			c.abort(p, err, nil)
		}
	}
	if p := c.triggering; p != nil && p.missing[a] {
		c.abort(p, err, nil)
	}
}

// abortAll aborts what is pending and refuses what waits.
func (c *Coordinator) abortAll(err *Error) {
	if c.triggering != nil {
		c.abort(c.triggering, err, nil)
	}
	for _, p := range slices.Clone(c.pending) {
		c.abort(p, err, nil)
	}
	queue := c.queue
	c.queue = nil
	for _, w := range queue {
		c.refuse(w, err)
	}
}

// abort ends a checkpoint that will not be. blame is the task that failed it;
// nil: none did. One that is being stored goes on: it may be in the store.
func (c *Coordinator) abort(p *pending, err *Error, blame *ident.AttemptID) {
	if p.stage == storing {
		return
	}
	c.drop(p)
	if p.stage == writing {
		c.dying = append(c.dying, p) // its files go when the metadata is there, or not
	} else if p.id != 0 {
		c.discard(0, "", c.files.release(p.held), p.dir)
	}
	c.fail(p, err, blame)
}

// drop takes a checkpoint from those that are pending.
func (c *Coordinator) drop(p *pending) {
	if c.triggering == p {
		c.triggering = nil
	}
	c.pending = slices.DeleteFunc(c.pending, func(other *pending) bool { return other == p })
}

// fail tells all who took part that there will be no checkpoint.
func (c *Coordinator) fail(p *pending, err *Error, blame *ident.AttemptID) {
	if p.id == 0 {
		c.history.FailEarly()
	} else {
		c.history.Fail(p.id, err.Error(), c.now)
		level := slog.LevelInfo // the job changes, and the next one will do
		if err.Reason.Counted() || err.Cause != nil {
			level = slog.LevelWarn
		}
		c.report(level, "checkpoint failed", p.id, err)
	}
	told := p.stage >= gathering
	if p.stage >= asking {
		aborted := NotifyAborted{Checkpoint: p.id, Completed: c.newest(), Operators: p.plan.operators}
		if told {
			aborted.Attempts = p.plan.acknowledge
		}
		c.emit(aborted)
	}
	c.refuse(p.request, err)
	if told && p.kind() == snapshot.SyncSavepoint && !c.ended && err.Reason != CoordinatorSuspend && err.Reason != Failover && err.Reason != TaskFailure {
		// Its tasks stand still and wait for it.
		c.emit(FailJob{Cause: status.FailureOf(err).Wrapped("Stop with savepoint failed.")})
		return
	}
	c.count(p, err, blame)
}

// newest is the id of the newest completed checkpoint; 0: there is none.
func (c *Coordinator) newest() int64 {
	if len(c.completed) == 0 {
		return 0
	}
	return c.completed[len(c.completed)-1].id
}
