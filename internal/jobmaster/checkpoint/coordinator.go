package checkpoint

import (
	"log/slog"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// A Coordinator decides about the checkpoints of one job. Only its owner's loop
// touches it.
//
// Invariant: triggering, if there is one, is in pending once it has an id. Each
// file is counted in files once for each completed checkpoint that consists of it,
// and for each pending one that a task has acknowledged with it or that builds on
// it.
type Coordinator struct {
	opts  Options
	graph *jobgraph.Graph
	tasks *tasks
	job   status.Job

	queue      queue
	triggering *pending   // is being triggered: tasks have not been told yet; nil: none
	pending    []*pending // have an id and are not over, in order of ids
	dying      []*pending // aborted while their metadata was written
	serial     Serial     // the last one given
	lastID     int64      // the greatest id seen; 0: none

	completed []*completed // to restore from, in order of ids
	uncertain []*completed // perhaps in the store
	files     files
	discards  []discard // not answered
	due       int       // answers that are due
	discarded DiscardID // the last one given
	failures  failures

	// running says that periodic checkpoints are taken: the job and all its tasks
	// run. next is when the next one is due; zero: never.
	running bool
	next    time.Time
	// completion is when a checkpoint was last completed; zero: never.
	completion time.Time
	// stopping is the savepoint after which the job ends; 0: none. While there is
	// one no periodic checkpoint is taken.
	stopping RequestID
	// standstill says that tasks were told of a savepoint after which they stand
	// still, to end: nothing else is triggered.
	standstill bool
	// ended says that the job is in a terminal state, cleared that its checkpoints
	// were dealt with as that one wants; not before it has recovered, and so knows of
	// all of them.
	ended, cleared, recovered bool

	recovery recovery
	// restart waits for a checkpoint that is being stored; nil: none does.
	restart *Restart

	history *record.Tracker

	now     time.Time
	effects []Effect
}

// New makes the coordinator of a job. Its first event is Recover.
func New(opts Options, graph *jobgraph.Graph) *Coordinator {
	invariant.Check(opts.MaxConcurrent >= 1 && opts.Retained >= 1 && opts.Tolerable >= 0 && opts.Timeout > 0,
		"checkpoint options %+v", opts)
	return &Coordinator{
		opts: opts, graph: graph, tasks: newTasks(graph), files: newFiles(), failures: failures{tolerable: opts.Tolerable},
		history: record.NewTracker(opts.History, opts.settings()),
	}
}

// Apply advances the coordinator by one event and returns what must now be done.
// It reads no clock and starts nothing; equal inputs give equal effects.
func (c *Coordinator) Apply(ev Event, now time.Time) []Effect {
	c.now, c.effects = now, nil
	switch ev := ev.(type) {
	case JobStatus:
		c.jobStatus(ev.State)
	case TaskStatus:
		c.taskStatus(ev)
	case Tick:
	case Request:
		c.request(ev)
	case IDDrawn:
		c.idDrawn(ev)
	case Located:
		c.located(ev)
	case CoordinatorSnapshot:
		c.coordinatorSnapshot(ev)
	case TriggerFailed:
		c.triggerFailed(ev)
	case Ack:
		c.ack(ev)
	case Decline:
		c.decline(ev)
	case MetadataWritten:
		c.metadataWritten(ev)
	case Stored:
		c.stored(ev)
	case Discarded:
		c.discardDone(ev)
	case Recover:
		c.recover(ev)
	case MetadataRead:
		c.metadataRead(ev)
	case Restart:
		c.restarting(ev)
	case Unreadable:
		c.unreadable(ev)
	case Rescaled:
		c.rescaled(ev.Graph)
	default:
		invariant.Broken("unknown event %T", ev)
	}
	c.expire()
	c.periodic()
	c.choose()
	c.finishRestart()
	return c.effects
}

func (c *Coordinator) emit(e Effect) { c.effects = append(c.effects, e) }

func (c *Coordinator) report(level slog.Level, message string, id int64, err error) {
	c.emit(Report{Level: level, Message: message, Checkpoint: id, Err: err})
}

// Deadline is when a Tick is wanted; zero: no need.
func (c *Coordinator) Deadline() time.Time {
	due := c.next
	for _, p := range c.expiring() {
		if due.IsZero() || p.deadline.Before(due) {
			due = p.deadline
		}
	}
	return due
}

// Quiet reports that no answer to an effect is due.
func (c *Coordinator) Quiet() bool { return c.due == 0 }

// Over reports that the job has ended for good, and that nothing is left to be done
// about its checkpoints.
func (c *Coordinator) Over() bool { return c.cleared && c.Quiet() }

// Stopping reports whether the job is to end after a savepoint.
func (c *Coordinator) Stopping() bool { return c.stopping != 0 }

// View gives what is remembered of the job's checkpoints.
func (c *Coordinator) View() *record.View { return c.history.View() }

// directory is where the job's checkpoints go; empty: into memory.
func (c *Coordinator) directory() fs.Location {
	if c.opts.Directory == "" {
		return ""
	}
	return c.opts.Directory.Join(c.graph.Job.String())
}

func (c *Coordinator) jobStatus(state status.Job) {
	c.job = state
	if state.Terminal() {
		c.end()
		return
	}
	c.follow()
}

func (c *Coordinator) taskStatus(ev TaskStatus) {
	if !c.tasks.update(ev.Attempt, ev.State) {
		return // of an attempt that does not count any more
	}
	switch ev.State {
	case status.Failed, status.Canceling, status.Canceled:
		c.abortUnacknowledged(ev.Attempt, &Error{Reason: TaskFailure, Cause: cause(ev.Cause)})
	case status.Finished:
		// What it had to say it says no more. The next plan has it among the
		// finished ones.
		c.abortUnacknowledged(ev.Attempt, &Error{Reason: DeclinedClosing})
	}
	c.follow()
}

func cause(f *status.Failure) error {
	if f == nil {
		return nil
	}
	return f
}

// follow starts and stops the periodic checkpoints: they are taken while the job
// runs and every task runs or has finished.
func (c *Coordinator) follow() {
	run := c.job == status.JobRunning && c.tasks.allRun()
	switch {
	case run && !c.running:
		c.running = true
		c.schedule(c.opts.FirstDelay)
	case !run && c.running:
		c.running, c.next = false, time.Time{}
		c.abortAll(&Error{Reason: CoordinatorSuspend})
	}
}

// schedule sets when the next periodic checkpoint is due.
func (c *Coordinator) schedule(after time.Duration) {
	c.next = time.Time{}
	if c.running && c.opts.Interval > 0 && c.stopping == 0 {
		c.next = c.now.Add(after)
	}
}

// periodic asks for a checkpoint when one is due. A moment that was missed is
// not made up for, and one periodic request waits at most: what it would save
// twice in a row is the same.
func (c *Coordinator) periodic() {
	if c.next.IsZero() || c.now.Before(c.next) {
		return
	}
	c.next = c.next.Add(c.opts.Interval)
	if !c.next.After(c.now) {
		c.next = c.now.Add(c.opts.Interval)
	}
	if !c.queue.holdsPeriodic() {
		c.enqueue(Request{})
	}
}

// expire aborts what has taken too long.
func (c *Coordinator) expire() {
	for _, p := range c.expiring() {
		if !c.now.Before(p.deadline) {
			c.abort(p, &Error{Reason: Expired}, nil)
		}
	}
}

// expiring are the checkpoints for which the timeout holds: also the one that has
// no id yet.
func (c *Coordinator) expiring() []*pending {
	var all []*pending
	if c.triggering != nil && c.triggering.id == 0 {
		all = append(all, c.triggering)
	}
	for _, p := range c.pending {
		if p.stage < writing {
			all = append(all, p)
		}
	}
	return all
}
