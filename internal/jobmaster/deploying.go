package jobmaster

import (
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/status"
)

// deploying are the attempts that are to be submitted, in the order decided.
//
// A large job is deployed in pieces, between which the loop does what else there
// is to do: writing a hundred thousand deployments takes seconds, in which all
// heartbeats would wait. What was decided of an attempt meanwhile counts: one that
// has ended is left out, and one that is canceled has never run.
//
// Invariant: waits has the attempts of queue that nobody has canceled.
type deploying struct {
	queue []*execgraph.Execution
	waits map[*execgraph.Execution]bool
	due   bool // the next piece is under way
}

// deployLater adds an attempt; the first piece is submitted as soon as the event
// being applied is done.
func (m *Master) deployLater(e *execgraph.Execution) {
	d := &m.deploying
	d.queue = append(d.queue, e)
	d.waits[e] = true
	if !d.due {
		d.due = true
		m.post(m.deploySome)
	}
}

// deploySome submits a piece.
func (m *Master) deploySome() {
	d := &m.deploying
	piece := d.queue[:min(len(d.queue), m.options.DeployAtOnce)]
	d.queue = d.queue[len(piece):]
	for _, e := range piece {
		if !d.waits[e] {
			continue
		}
		delete(d.waits, e)
		if e.State() == status.Deploying {
			m.managers.submit(e)
		}
	}
	if d.due = len(d.queue) > 0; !d.due {
		d.queue = nil
		return
	}
	m.loop.Post(func() { m.post(m.deploySome) })
}

// cancelTask stops an attempt; one that nobody was told of has never run.
func (m *Master) cancelTask(e *execgraph.Execution) {
	if !m.deploying.waits[e] {
		m.managers.cancel(e)
		return
	}
	delete(m.deploying.waits, e)
	m.schedule(schedule.TaskReport{Attempt: e.ID, State: status.Canceled})
}
