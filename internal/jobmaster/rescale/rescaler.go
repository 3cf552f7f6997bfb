package rescale

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/jobgraph"
)

// Options are how a job follows the slots there are.
type Options struct {
	execgraph.AdaptiveSettings
	// Handover is how long the ResourceManager is given to replace slots that cannot
	// return, from their loss on, before the job goes on without them.
	Handover time.Duration
	// Checkpoints says that the job takes checkpoints, ActiveCheckpoint that one is
	// asked for when a rescale is wanted.
	Checkpoints, ActiveCheckpoint bool
	// NewID draws the ids of rescales and of bounds.
	NewID func() ident.ID
}

// A state is one of Flink's adaptive scheduler.
type state uint8

const (
	created state = iota
	waiting
	creating
	executing
	restarting
	over
)

func (s state) String() string {
	return [...]string{"Created", "WaitingForResources", "CreatingExecutionGraph", "Executing", "Restarting", "Finished"}[s]
}

// A Rescaler decides for one job. Only its owner's loop touches it.
type Rescaler struct {
	opts   Options
	shape  *shape
	bounds []execgraph.Bounds
	state  state
	// present is how many slots there are.
	present int
	// layout is what the job runs with, or ran with last; nil: it has not run.
	layout []int
	// next is the layout that is being prepared.
	next   []int
	serial int   // of the last Prepare
	resume int64 // the restart that waits; 0: the job begins for the first time

	wait     wait
	run      run
	down     time.Time // since when the job does not run that did; zero: it runs, or never has
	planned  bool      // the job is restarting for a rescale
	stopping bool      // a savepoint ends the job: it is not rescaled

	history history
	now     time.Time
	effects []Effect
}

// New makes the Rescaler of a job that is CREATED.
func New(g *jobgraph.Graph, o Options, now time.Time) *Rescaler {
	r := &Rescaler{opts: o, shape: shapeOf(g), bounds: Initial(g, o.Reactive), now: now}
	r.history.init(r)
	r.history.begin(execgraph.RescaleInitial)
	return r
}

// Apply advances the job by one event and returns what must now be done. It reads
// no clock and starts nothing.
func (r *Rescaler) Apply(ev Event, now time.Time) []Effect {
	r.now, r.effects = now, nil
	if r.state == over {
		return nil
	}
	switch ev := ev.(type) {
	case Start:
		r.declare()
		r.await()
	case Slots:
		r.slots(ev.Present)
	case SlotsLost:
		r.wait.lost = now
		if ev.MayReturn {
			r.wait.mayReturn += ev.Slots
		}
	case Require:
		r.require(ev.Bounds)
	case Restarting:
		r.restarting()
	case Ended:
		r.ended(ev.Restart)
	case Prepared:
		r.prepared(ev.Serial)
	case AllRun:
		if r.state == executing {
			r.down = time.Time{}
			r.history.complete()
		}
	case Checkpoint:
		r.checkpoint(ev.Complete)
	case Stopping:
		r.stopping = ev.On
	case JobEnded:
		r.history.end(execgraph.RescaleIgnored, "JOB_"+ev.State.String())
		r.enter(over)
	case Tick:
	default:
		invariant.Broken("unknown event %T", ev)
	}
	r.pass()
	return r.effects
}

// pass does what has fallen due.
func (r *Rescaler) pass() {
	switch r.state {
	case waiting:
		r.waitOn()
	case executing:
		r.runOn()
	}
}

// Deadline is when a Tick is wanted; zero: no need.
func (r *Rescaler) Deadline() time.Time {
	switch r.state {
	case waiting:
		return r.waitDue()
	case executing:
		return r.runDue()
	}
	return time.Time{}
}

// State is the state of Flink's adaptive scheduler that the job is in.
func (r *Rescaler) State() string { return r.state.String() }

// Bounds are those of the vertices, in their order, never changed.
func (r *Rescaler) Bounds() []execgraph.Bounds { return r.bounds }

// Rescales gives what is remembered.
func (r *Rescaler) Rescales() *execgraph.AdaptiveView { return r.history.view() }

func (r *Rescaler) emit(e Effect) { r.effects = append(r.effects, e) }

func (r *Rescaler) enter(s state) {
	r.state = s
	r.history.enter()
}

func (r *Rescaler) declare() {
	wanted, _ := r.shape.wanted(r.bounds)
	r.emit(Declare{Slots: wanted})
}

func (r *Rescaler) slots(present int) {
	more := present > r.present
	r.present = present
	if r.state == executing && more {
		r.changed(execgraph.RescaleNewSlots)
	}
}

// require takes over other bounds.
func (r *Rescaler) require(bounds []execgraph.Bounds) {
	r.bounds = slices.Clone(bounds)
	r.history.require()
	if r.state != created {
		r.declare()
	}
	if r.state == executing {
		r.changed(execgraph.RescaleRequirements)
	}
}

// restarting notes that tasks end. If that was not asked for, the job has failed.
func (r *Rescaler) restarting() {
	if r.state == restarting && r.planned && r.run.asked {
		r.run.asked = false
		return
	}
	if r.state == created {
		return
	}
	if r.state != restarting || r.planned {
		r.history.end(execgraph.RescaleFailed, "EXCEPTION_OCCURRED")
		r.history.begin(execgraph.RescaleFailover)
		r.stop()
	}
	r.planned = false
	if r.state != restarting {
		r.enter(restarting)
	}
}

// stop notes that the job does not run from now on, if it did.
func (r *Rescaler) stop() {
	if r.down.IsZero() {
		r.down = r.now
	}
	r.history.stopped()
}

// ended goes on once nothing of the job runs any more: at once if that was for a
// rescale that is still possible.
func (r *Rescaler) ended(restart int64) {
	planned := r.planned
	if r.state != restarting {
		r.restarting()
	}
	r.resume, r.planned = restart, false
	r.history.ended()
	if layout := r.target(); planned && layout != nil {
		r.prepare(layout)
		return
	}
	r.await()
}

// target is how parallel the job would be with the slots there are; nil: they are
// too few.
func (r *Rescaler) target() []int { return r.shape.allocate(r.bounds, r.present) }

// prepare begins to begin with a layout.
func (r *Rescaler) prepare(layout []int) {
	r.next = layout
	r.serial++
	r.wait.mayReturn = 0
	r.enter(creating)
	r.emit(Prepare{Serial: r.serial, Layouts: r.layouts(layout)})
}

// prepared lets the job run, unless slots were lost meanwhile.
func (r *Rescaler) prepared(serial int) {
	if r.state != creating || serial != r.serial {
		return
	}
	if sum(r.shape.used(r.next)) > r.present {
		r.await()
		return
	}
	r.history.placed(r.next)
	r.layout, r.next = r.next, nil
	r.begin()
	r.enter(executing)
	r.emit(Run{Restart: r.resume, Layouts: r.layouts(r.layout)})
	if target := r.target(); target != nil && !slices.Equal(target, r.layout) {
		r.changed(execgraph.RescaleNewSlots) // they came meanwhile
	}
}

// layouts says of a layout where it comes from.
func (r *Rescaler) layouts(layout []int) []execgraph.Layout {
	all := make([]execgraph.Layout, len(layout))
	for i, b := range r.shape.together(r.bounds) {
		all[i] = execgraph.Layout{Parallelism: layout[i], Why: fmt.Sprintf("as many as it wants (%d to %d), for which there are slots", b.Lower, b.Upper)}
		if layout[i] < b.Upper {
			all[i].Why = fmt.Sprintf("it wants %d to %d, and there are slots for %d: %d in all", b.Lower, b.Upper, layout[i], r.present)
		}
	}
	return all
}
