package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// A job is what the user knows of one job id.
type job struct {
	id      ident.JobID
	graph   *jobgraph.Graph
	bounded bool
	needs   int // slots
	// at is the life of the master that took the job; 0: none has.
	at       int
	canceled int // the life of the master that was asked to cancel it, and did not refuse
	// checkpointed jobs go on at the next master, if their checkpoints outlive one;
	// gone says that such a one has ended for good.
	checkpointed, gone bool
}

func (c *Cluster) isBounded(id string) bool {
	for _, j := range c.jobs {
		if j.id.String() == id {
			return j.bounded
		}
	}
	return false
}

// totalSlots counts the slots of all machines.
func (c *Cluster) totalSlots() int {
	n := 0
	for _, m := range c.machines {
		n += m.slots
	}
	return n
}

// plan schedules what the user does in the first act.
func (c *Cluster) plan() {
	r, s := c.rand, &c.settings
	room := c.totalSlots()
	for range s.jobs {
		most := room
		if !s.calm {
			most = 1 + r.IntN(c.totalSlots()+2) // sometimes more than there are
		}
		if s.restarts.persistence == endless {
			most = min(most, room)
		}
		if most < 1 {
			break
		}
		j := c.newJob(r.IntN(2) == 0, most)
		room -= j.needs
		at := 3*time.Second + time.Duration(r.Int64N(int64(s.faultTime)))
		c.world.At(at, "submit", func() { c.submit(j, 20) })
		if r.IntN(5) < 2 {
			c.world.At(at+c.span(time.Millisecond, time.Minute), "cancel", func() { c.cancel(j, 5) })
		}
		if r.IntN(3) == 0 {
			c.world.At(at+c.span(time.Millisecond, 2*time.Minute), "submit again", func() { c.submit(j, 5) })
		}
	}
}

func (c *Cluster) newJob(bounded bool, slots int) *job {
	id := ident.JobID{ID: ident.New(c.rand)}
	j := &job{id: id, bounded: bounded, graph: randomGraph(c.rand, id, bounded, slots)}
	j.graph.Configuration = c.settings.restarts.configuration()
	c.ills.source(j.graph)
	c.checkpoints.of(j)
	if bounded && c.settings.restarts.blocking {
		stages(c.settings.restarts.rand, j.graph)
		leaveOpen(j.graph)
	}
	j.needs = slotsNeeded(j.graph)
	c.jobs = append(c.jobs, j)
	return j
}

// ready gives the master, if it answers now; else then is tried again later.
func (c *Cluster) ready(tries int, then func(tries int)) *master {
	m := c.master
	if m != nil && m.proc.FrozenFor() == 0 {
		return m
	}
	if tries > 0 {
		c.world.At(time.Second, "retry", func() { then(tries - 1) })
	}
	return nil
}

// submit hands the job to the Dispatcher, who must take it unless it has an
// earlier one of that id.
func (c *Cluster) submit(j *job, tries int) {
	if c.leaving || j.gone {
		return // what was to be submitted again is not any more
	}
	m := c.ready(tries, func(left int) { c.submit(j, left) })
	if m == nil {
		return
	}
	var err error
	m.loop.Directly(func() { err = m.dispatcher.Submit(context.Background(), j.graph) })
	var duplicate *dispatcher.DuplicateError
	switch known := j.at == m.proc.Life(); {
	case err == nil && !known:
		if j.at != 0 {
			c.checks.met["jobs at their next master"]++
		}
		j.at, j.canceled = m.proc.Life(), 0
		c.world.Note("user", fmt.Sprintf("submitted job %.4s, %d slots", j.id, j.needs))
	case errors.Is(err, dispatcher.ErrClosing):
	case errors.As(err, &duplicate) && known:
		c.checks.met["duplicate submissions"]++
	default:
		c.checks.broken("dispatcher", "job %s, taken by this master before: %v; submit says: %v", j.id, known, err)
	}
}

// submitLost submits most of what the last master took with it, some of it
// before the TaskManagers know that it is gone.
func (c *Cluster) submitLost() {
	longest := 30 * time.Second
	if c.spells.hurry {
		c.spells.hurry, longest = false, time.Second
	}
	for _, j := range c.jobs {
		if j.at != 0 && c.rand.IntN(4) > 0 {
			c.world.At(c.span(time.Millisecond, longest), "submit again", func() { c.submit(j, 5) })
		}
	}
}

// cancel asks for the end of a job.
func (c *Cluster) cancel(j *job, tries int) {
	m := c.ready(tries, func(left int) { c.cancel(j, left) })
	if m == nil {
		return
	}
	was := c.stateOf(j)
	var err error
	m.loop.Directly(func() { err = m.dispatcher.Cancel(context.Background(), j.id) })
	if known := j.at == m.proc.Life(); known && err == nil {
		c.checks.met["canceled while "+was.String()]++
	}
	var unknown *dispatcher.NotFoundError
	switch known := j.at == m.proc.Life(); {
	case err == nil && known:
		c.world.Note("user", fmt.Sprintf("canceled job %.4s", j.id))
		j.canceled = j.at
	case errors.As(err, &unknown) && !known:
	case err != nil && known && c.stateOf(j).Terminal():
	default:
		c.checks.broken("dispatcher", "job %s, taken by this master before: %v; cancel says: %v", j.id, known, err)
	}
}

// stateOf is the state of a job at the present master; SUSPENDED if it does not
// know the job.
func (c *Cluster) stateOf(j *job) status.Job {
	if c.master != nil && j.at == c.master.proc.Life() {
		for _, w := range c.master.jobs {
			if w.graph == j.graph {
				return w.master.View().State
			}
		}
	}
	return status.JobSuspended
}
