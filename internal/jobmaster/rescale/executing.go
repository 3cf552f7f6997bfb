package rescale

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
)

// A phase is how far a running job is on its way to a rescale.
type phase uint8

const (
	cooldown phase = iota
	idling
	stabilizing
	stabilized
)

// run is what a job knows that runs.
type run struct {
	phase phase
	// since is when the phase was entered; change when the first change came that was
	// not looked at; evaluate when the change is looked at without a checkpoint. Zero:
	// never.
	since, change, evaluate time.Time
	// failures counts the checkpoints in a row that failed since the change,
	// checkpoint says that one was asked for.
	failures   int
	checkpoint bool
	asked      bool // Rescale was emitted, and its Restarting is due
}

// begin begins to run.
func (r *Rescaler) begin() { r.run = run{since: r.now} }

func (r *Rescaler) phase(p phase) {
	r.run.phase, r.run.since, r.run.evaluate = p, r.now, time.Time{}
	if p == idling {
		r.run.change, r.run.checkpoint, r.run.failures = time.Time{}, false, 0
	}
}

// differs reports whether the job would get another parallelism, all whether it
// would be all that it wants.
func (r *Rescaler) differs() (differs, all bool) {
	target := r.target()
	wanted, _ := r.shape.wanted(r.bounds)
	differs = target != nil && !slices.Equal(target, r.layout)
	return differs, differs && r.present >= wanted
}

// changed notes that slots or bounds are others than before.
func (r *Rescaler) changed(cause string) {
	differs, _ := r.differs()
	if !differs && cause == execgraph.RescaleNewSlots {
		return
	}
	r.history.begin(cause)
	if r.run.change.IsZero() {
		r.run.change = r.now
	}
	switch r.run.phase {
	case idling:
		r.stabilize()
	case stabilizing:
		r.evaluateLater()
	case stabilized:
		r.askCheckpoint(differs)
	}
}

func (r *Rescaler) stabilize() {
	r.phase(stabilizing)
	r.evaluateLater()
}

// evaluateLater looks at the change when a checkpoint was waited for long enough.
func (r *Rescaler) evaluateLater() {
	if r.run.evaluate.IsZero() {
		r.run.evaluate = r.now.Add(r.opts.MaxDelay)
	}
	_, all := r.differs()
	r.askCheckpoint(all)
}

func (r *Rescaler) askCheckpoint(useful bool) {
	if useful && !r.run.checkpoint && !r.stopping && r.opts.Checkpoints && r.opts.ActiveCheckpoint {
		r.run.checkpoint = true
		r.emit(TakeCheckpoint{})
	}
}

// runOn does what has fallen due.
func (r *Rescaler) runOn() {
	if r.stopping {
		return
	}
	due := func(at time.Time) bool { return !at.IsZero() && !r.now.Before(at) }
	if r.run.phase == cooldown && due(r.run.since.Add(r.opts.Cooldown)) {
		if r.run.change.IsZero() {
			r.phase(idling)
		} else {
			r.stabilize()
		}
	}
	if r.run.phase == stabilizing && due(r.run.evaluate) {
		r.run.evaluate = time.Time{}
		r.trigger()
	}
	if r.state == executing && r.run.phase == stabilizing && due(r.run.since.Add(r.opts.RescaleStabilization)) {
		r.phase(stabilized)
		differs, _ := r.differs()
		r.askCheckpoint(differs)
	}
	if r.state == executing && r.run.phase == stabilized && due(r.run.since.Add(r.opts.MaxDelay)) {
		r.trigger()
	}
}

func (r *Rescaler) runDue() time.Time {
	switch {
	case r.stopping:
		return time.Time{}
	case r.run.phase == cooldown:
		if !r.run.change.IsZero() {
			return r.run.since.Add(r.opts.Cooldown)
		}
	case r.run.phase == stabilizing:
		return earlier(r.run.evaluate, r.run.since.Add(r.opts.RescaleStabilization))
	case r.run.phase == stabilized:
		return r.run.since.Add(r.opts.MaxDelay)
	}
	return time.Time{}
}

// checkpoint takes a checkpoint, or enough failed ones, as the moment to rescale.
func (r *Rescaler) checkpoint(complete bool) {
	if r.state != executing || r.run.phase < stabilizing || r.stopping {
		return
	}
	if complete {
		r.run.failures, r.run.checkpoint = 0, false
		r.trigger()
		return
	}
	r.run.failures++
	if r.run.failures < r.opts.CheckpointFailures {
		again := r.run.checkpoint
		r.run.checkpoint = false
		r.askCheckpoint(again)
		return
	}
	r.run.failures, r.run.checkpoint = 0, false
	r.trigger()
}

// trigger rescales the job, if it can have all it wants, or if it was waited for
// that long enough.
func (r *Rescaler) trigger() {
	differs, all := r.differs()
	switch {
	case all || differs && r.run.phase == stabilized:
		r.rescale()
	case r.run.phase == stabilized, !differs && r.enough():
		r.history.end(execgraph.RescaleIgnored, "NO_RESOURCES_OR_PARALLELISMS_CHANGE")
		r.phase(idling)
	}
}

// enough reports whether the job has all the slots it wants.
func (r *Rescaler) enough() bool {
	wanted, _ := r.shape.wanted(r.bounds)
	return r.present >= wanted
}

// rescale ends the tasks.
func (r *Rescaler) rescale() {
	r.stop()
	r.history.rescaled()
	r.planned, r.run.asked = true, true
	r.enter(restarting)
	r.emit(Rescale{Reason: "it is rescaled: " + r.describe(r.target())})
}

// describe says what another layout changes.
func (r *Rescaler) describe(to []int) string {
	var all []string
	for i, v := range r.shape.vertices {
		if to[i] != r.layout[i] {
			all = append(all, fmt.Sprintf("%s %d → %d", v.Name, r.layout[i], to[i]))
		}
	}
	return strings.Join(all, ", ")
}
