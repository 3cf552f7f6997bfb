package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// stored checks, when all is quiet, that every job that runs has completed a
// checkpoint since (7), that the store of one that has ended is empty (17), and that
// there are no files but those of checkpoints that are in a store (12).
func (k *checks) stored() {
	s := &k.c.checkpoints
	for _, r := range s.runs {
		w := k.c.masterOf(r)
		if w == nil {
			continue // its master is gone, and the user has not had it submitted again
		}
		state := w.master.View().State
		if !state.Terminal() && r.done <= k.c.calmSince {
			k.broken("7", "job %s has completed checkpoint %d at %s and none since all is quiet", r.job.id, r.newest, r.done)
		}
		if !state.Terminal() {
			k.watchCommitted(r)
		}
		if state.GloballyTerminal() && !r.cleared {
			k.broken("17", "job %s is %s, and its store of checkpoints was not emptied", r.job.id, state)
		}
		if s.lasting && r.cleared && !s.shelf.stays(ledgerOf(r.job.id)) && len(s.shelf.below(ledgerOf(r.job.id))) > 0 {
			k.broken("17", "job %s is %s, and there are entries of its checkpoints", r.job.id, state)
		}
		if r.dir != "" && len(s.shelf.torn) == 0 && w.master.CheckpointsQuiet() {
			k.watchStrays(r, state)
		}
	}
}

// watchCommitted checks that whatever puts records out has committed a checkpoint
// since all is quiet (14).
func (k *checks) watchCommitted(r *run) {
	for v, vertex := range r.job.graph.Vertices {
		for s := range vertex.Parallelism {
			if o := r.outcome.sinks[place{v, s}]; len(vertex.Produces) == 0 && (o == nil || o.upTo <= r.before) {
				k.broken("14", "job %s: subtask %d of %s has committed nothing since all is quiet", r.job.id, s, vertex.Name)
			}
		}
	}
}

// masterOf is the JobMaster that a run has now; nil: none.
func (c *Cluster) masterOf(r *run) *watched {
	if c.master == nil || c.checkpoints.runOf(r.job.id) != r || r.job.at != c.master.proc.Life() {
		return nil
	}
	for _, w := range c.master.jobs {
		if w.graph == r.job.graph {
			return w
		}
	}
	return nil
}

// watchStrays looks for files that nobody needs. While a job runs, and of one whose
// checkpoints are retained, what the present master was never told of may be
// there.
func (k *checks) watchStrays(r *run, state status.Job) {
	s := &k.c.checkpoints
	entries, err := s.shelf.bare.List(context.Background(), r.dir)
	if err != nil {
		panic(err) // they are in memory
	}
	if slices.ContainsFunc(s.shelf.stay, func(at fs.Location) bool { _, mine := at.Under(ledgerOf(r.job.id)); return mine }) && state.Terminal() {
		return // what is still in the store keeps its files
	}
	needed := map[fs.Location]bool{}
	for id := range r.entered { // order: all are put into one set
		for _, at := range r.cuts[id].files {
			needed[at] = true
		}
		needed[r.checkpoint(id).Join(snapshot.MetadataName)] = true
	}
	for _, e := range entries {
		at := e.Location
		switch {
		case needed[at] || s.shelf.stays(at):
		case state.GloballyTerminal() && !r.retains(state):
			if e.Modified.Before(r.clearedAt) {
				k.broken("12", "%s is left, and job %s is %s", at, r.job.id, state)
			}
		case state.Terminal() || r.number(at) > r.newest:
		case r.heard[at] != k.c.master.proc.Life():
			k.met["files that nobody was told of"]++
		default:
			k.broken("12", "%s is left, and no checkpoint of job %s refers to it", at, r.job.id)
		}
	}
}

// checkpoint is the directory of a checkpoint.
func (r *run) checkpoint(id int64) fs.Location { return r.dir.Join(fmt.Sprintf("chk-%d", id)) }

// number is the checkpoint whose file it is.
func (r *run) number(at fs.Location) (id int64) {
	if _, err := fmt.Sscanf(at.Parent().Base(), "chk-%d", &id); err != nil {
		r.c.checks.broken("12", "%s lies in no directory of a checkpoint", at)
	}
	return id
}

// retains reports whether the last checkpoints are kept when the job ends so.
func (r *run) retains(state status.Job) bool {
	switch retention := r.job.graph.Configuration[config.CheckpointRetention.Key]; state {
	case status.JobCanceled:
		return retention == "RETAIN_ON_CANCELLATION"
	case status.JobFailed:
		return retention != "NO_EXTERNALIZED_CHECKPOINTS"
	}
	return false
}
