package jobmaster

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/jobmaster/slotpool"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// handover is how long the ResourceManager is given to replace slots that cannot
// return, before a job goes on without them.
const handover = 500 * time.Millisecond

// adaptive lets the parallelism of a job follow the slots there are: it is the
// owner of the core that decides about it. Its methods may be called of a nil one,
// that of a job whose parallelism is fixed.
//
//	slotpool ─Slots─▶ rescale ─Rescale─▶ schedule ─AskLayout─▶ rescale
//	    ─Prepare─▶ coordinators, checkpoint ─Restore─▶ rescale ─Run─▶ schedule
type adaptive struct {
	m    *Master
	core *rescale.Rescaler
	// letters are the events to be applied, oldest first.
	letters  []rescale.Event
	applying bool
	timer    actor.Timer // the next deadline; nil: none
	due      time.Time   // when timer fires
	// layout is what coordinators and checkpoints are made for; nil: they are those
	// of the program.
	layout    []int
	recovered bool // it was asked what the job begins with
	present   int  // slots, as last told
	stopping  bool // as last told
	starting  int  // tasks that have not run since the job last began
}

func (a *adaptive) apply(ev rescale.Event) {
	if a == nil {
		return
	}
	if on := a.m.checkpoints.ending(); on != a.stopping {
		a.stopping = on
		a.letters = append(a.letters, rescale.Stopping{On: on})
	}
	a.letters = append(a.letters, ev)
	if a.applying {
		return
	}
	a.applying = true
	for len(a.letters) > 0 {
		next := a.letters[0]
		a.letters = a.letters[1:]
		for _, effect := range a.core.Apply(next, a.m.loop.Now()) {
			a.perform(effect)
		}
	}
	a.applying = false
	a.arm()
}

// arm sets the timer for the core's deadline.
func (a *adaptive) arm() {
	due := a.core.Deadline()
	if due.Equal(a.due) {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if a.due = due; due.IsZero() {
		return
	}
	a.timer = a.m.loop.After(due.Sub(a.m.loop.Now()), func() {
		a.timer, a.due = nil, time.Time{}
		a.m.post(func() { a.apply(rescale.Tick{}) })
	})
}

func (a *adaptive) perform(effect rescale.Effect) {
	m := a.m
	switch f := effect.(type) {
	case rescale.Declare:
		m.applyPoolLater(slotpool.Keep{Slots: f.Slots})
	case rescale.Await:
		m.schedule(schedule.AwaitSlots{})
	case rescale.Prepare:
		a.prepare(f)
	case rescale.Run:
		a.run(f)
	case rescale.Rescale:
		if !m.checkpoints.taken() {
			m.log.Warn("the job is rescaled and takes no checkpoints: it begins with the last that was asked for, or from the beginning")
		}
		m.schedule(schedule.Rescale{Reason: f.Reason})
	case rescale.TakeCheckpoint:
		m.checkpoints.owner.Ask(checkpoint.Request{Kind: snapshot.Checkpoint}, func(answer checkpoint.Answer) {
			if answer.Err != nil {
				m.log.Info("no checkpoint for a rescale", "error", answer.Err)
			}
		})
	case rescale.Fail:
		m.schedule(schedule.FailJob{Cause: &status.Failure{Kind: status.FailureSlots, Fatal: true, Chain: []string{"NoResourceAvailableException"},
			Message: fmt.Sprintf("Not enough resources available for scheduling. (need at least %d slots, have %d, waited for %s)", f.Needed, f.Present, f.Waited)}})
	case rescale.Recorded:
		a.record(&f.Rescale)
	}
}

// record tells of a rescale that is over.
func (a *adaptive) record(r *execgraph.Rescale) {
	attrs := []any{"cause", r.Cause, "outcome", r.State, "reason", r.Reason, "parallelism", r.Changes()}
	if outage, stopped := r.Outage(); stopped {
		attrs = append(attrs, "outage", outage, "ending", r.Ended.Sub(r.Stopped), "placing", r.Placed.Sub(r.Ended), "deploying", r.End.Sub(r.Placed))
	}
	a.m.log.Info("rescale over", attrs...)
}

// prepare makes coordinators and checkpoints for a layout, and finds out what its
// tasks begin with.
func (a *adaptive) prepare(f rescale.Prepare) {
	m := a.m
	var layout []int
	for _, l := range f.Layouts {
		layout = append(layout, l.Parallelism)
	}
	if !slices.Equal(layout, a.layout) {
		a.layout = layout
		if err := m.remakeCoordinators(); err != nil {
			m.schedule(schedule.FailJob{Cause: failureOf(err)})
			return
		}
		m.checkpoints.apply(checkpoint.Rescaled{Graph: m.graph.Job.WithParallelism(layout)})
	}
	prepared := func() {
		m.startCoordinators()
		a.apply(rescale.Prepared{Serial: f.Serial})
	}
	if !a.recovered {
		a.recovered = true
		m.checkpoints.begin(prepared)
		return
	}
	m.checkpoints.restartAll(prepared)
}

// run lets the tasks of a layout run.
func (a *adaptive) run(f rescale.Run) {
	a.starting = 0
	for _, l := range f.Layouts {
		a.starting += l.Parallelism
	}
	if f.Restart == 0 {
		a.m.schedule(schedule.Start{Layouts: f.Layouts})
		a.m.post(a.m.hasStarted)
		return
	}
	a.m.schedule(schedule.LayOut{Restart: schedule.RestartID(f.Restart), Layouts: f.Layouts})
}

// parallelism is how parallel a vertex is made, as far as that is decided.
func (a *adaptive) parallelism(v *execgraph.JobVertex) int {
	if a == nil || a.layout == nil {
		return v.Job.Parallelism
	}
	return a.layout[v.Index]
}

// counted tells how many slots the pool has now.
func (a *adaptive) counted() {
	if a != nil && a.m.pool.Present() != a.present {
		a.present = a.m.pool.Present()
		a.apply(rescale.Slots{Present: a.present})
	}
}

// taskChanged tells when every task runs.
func (a *adaptive) taskChanged(to status.Execution) {
	if a == nil || to != status.Running {
		return
	}
	if a.starting--; a.starting == 0 {
		a.apply(rescale.AllRun{})
	}
}

func (a *adaptive) jobChanged(to status.Job) {
	switch {
	case a == nil:
	case to == status.JobRestarting:
		a.apply(rescale.Restarting{})
	case to.Terminal():
		a.apply(rescale.JobEnded{State: to})
	}
}

// view is what is shown; nil: the job's parallelism is fixed.
func (a *adaptive) view() *execgraph.AdaptiveView {
	if a == nil {
		return nil
	}
	return a.core.Rescales()
}

// Require sets how parallel the vertices of the job are to be, all of them, and
// calls then with what is wrong with that: a *rescale.RefusedError, or the reason why
// it cannot be set for this job.
func (m *Master) Require(wish map[ident.VertexID]execgraph.Bounds, then func(error)) {
	m.post(func() {
		switch {
		case m.graph.State().Terminal():
			then(&EndedError{Job: m.job, State: m.graph.State()})
			return
		case m.adaptive == nil && m.options.Graph.Batch:
			then(rescale.ErrBatch)
			return
		case m.adaptive == nil:
			then(rescale.ErrFixed)
			return
		case m.adaptive.view().Settings.Reactive:
			then(rescale.ErrReactive)
			return
		}
		bounds, wrong := rescale.Check(m.options.Graph, wish)
		if len(wrong) > 0 {
			then(&rescale.RefusedError{Reasons: wrong})
			return
		}
		m.log.Info("other parallelism wanted", "bounds", bounds)
		m.adaptive.apply(rescale.Require{Bounds: bounds})
		then(nil)
	})
}
