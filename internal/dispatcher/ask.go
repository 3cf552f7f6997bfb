package dispatcher

import (
	"context"
	"slices"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/status"
)

// The methods here are called from any goroutine but the loop's. Beside the
// errors they name, they return the context's cause when it ends first and
// actor.ErrStopped when the loop has ended.

// Submit takes a job and starts it; the graph is the Dispatcher's from then
// on. It fails with a *DuplicateError, a *SubmissionError or ErrClosing. That
// the job cannot be initialized is no such error: it is then FAILED.
func (d *Dispatcher) Submit(ctx context.Context, graph *jobgraph.Graph) error {
	refused, err := actor.Query(ctx, d.loop, func() error { return d.submit(graph) })
	return first(err, refused)
}

// Cancel asks a job to end as CANCELED and does not wait for that. It fails
// with a *NotFoundError, or a *TerminatedError if the job has ended otherwise.
func (d *Dispatcher) Cancel(ctx context.Context, id ident.JobID) error {
	refused, err := actor.Ask(ctx, d.loop, func(reply func(error)) { d.cancel(id, reply) })
	return first(err, refused)
}

// Checkpoint takes a checkpoint of a job that runs, one that refers to no older
// file if full is set, and gives its id once it is complete. It fails with a
// *NotFoundError, or with what the JobMaster says.
func (d *Dispatcher) Checkpoint(ctx context.Context, id ident.JobID, full bool) (int64, error) {
	r, err := actor.Ask(ctx, d.loop, func(reply func(taken[int64])) {
		master, err := d.master(id)
		if err != nil {
			reply(taken[int64]{err: err})
			return
		}
		master.TakeCheckpoint(full, func(id int64, err error) { reply(taken[int64]{id, err}) })
	})
	return r.what, first(err, r.err)
}

// Savepoint takes a savepoint of a job that runs and gives where it is, once it is
// complete and the job has ended, if it is to. It fails with a *NotFoundError, or
// with what the JobMaster says.
func (d *Dispatcher) Savepoint(ctx context.Context, id ident.JobID, s jobmaster.Savepoint) (fs.Location, error) {
	r, err := actor.Ask(ctx, d.loop, func(reply func(taken[fs.Location])) {
		master, err := d.master(id)
		if err != nil {
			reply(taken[fs.Location]{err: err})
			return
		}
		master.TakeSavepoint(s, func(at fs.Location, err error) { reply(taken[fs.Location]{at, err}) })
	})
	return r.what, first(err, r.err)
}

// Require sets how parallel the vertices of a job that runs are to be, all of them.
// It fails with a *NotFoundError, or with what the JobMaster says.
func (d *Dispatcher) Require(ctx context.Context, id ident.JobID, wish map[ident.VertexID]execgraph.Bounds) error {
	refused, err := actor.Ask(ctx, d.loop, func(reply func(error)) {
		master, err := d.master(id)
		if err != nil {
			reply(err)
			return
		}
		master.Require(wish, reply)
	})
	return first(err, refused)
}

// Request asks an operator's coordinator in a job that runs. It fails with a
// *NotFoundError, or with what the coordinator says.
func (d *Dispatcher) Request(ctx context.Context, id ident.JobID, operator ident.OperatorID, payload []byte) ([]byte, error) {
	r, err := actor.Ask(ctx, d.loop, func(reply func(taken[[]byte])) {
		master, err := d.master(id)
		if err != nil {
			reply(taken[[]byte]{err: err})
			return
		}
		master.Request(operator, payload, func(answer []byte, err error) { reply(taken[[]byte]{answer, err}) })
	})
	return r.what, first(err, r.err)
}

// taken is what became of a checkpoint or savepoint.
type taken[T any] struct {
	what T
	err  error
}

// Job describes a job, running or finished. It fails with a *NotFoundError.
func (d *Dispatcher) Job(ctx context.Context, id ident.JobID) (execgraph.View, error) {
	r, err := actor.Ask(ctx, d.loop, func(reply func(result)) { d.whole(id, reply) })
	return r.view, first(err, r.err)
}

// Jobs describes all jobs there are to see, the newest first. Those that ended
// long ago may be described without their subtasks and failures, which Job has.
func (d *Dispatcher) Jobs(ctx context.Context) ([]execgraph.View, error) {
	return actor.Query(ctx, d.loop, d.views)
}

// Counts says how many jobs there are to see in each state.
func (d *Dispatcher) Counts(ctx context.Context) (map[status.Job]int, error) {
	return actor.Query(ctx, d.loop, func() map[status.Job]int {
		counts := map[status.Job]int{}
		for _, v := range d.views() {
			counts[v.State]++
		}
		return counts
	})
}

// Wait waits for the end of a job and gives its last view, whose state is
// terminal. It fails with a *NotFoundError.
func (d *Dispatcher) Wait(ctx context.Context, id ident.JobID) (execgraph.View, error) {
	w := &waiter{}
	r, err := actor.Ask(ctx, d.loop, func(reply func(result)) {
		j := d.find(id)
		if j == nil {
			d.whole(id, reply)
			return
		}
		w.reply = reply
		j.waiters = append(j.waiters, w)
	})
	if err != nil {
		// Nobody listens any more: a client that polls must not leave one
		// waiter behind for each poll.
		d.loop.Post(func() {
			if j := d.find(id); j != nil {
				j.waiters = slices.DeleteFunc(j.waiters, func(other *waiter) bool { return other == w })
			}
		})
	}
	return r.view, first(err, r.err)
}

// Close takes no more jobs, suspends those that run and returns when all who
// have to do with them know. Those who wait get a SUSPENDED view.
func (d *Dispatcher) Close(ctx context.Context) error {
	_, err := actor.Ask(ctx, d.loop, func(reply func(struct{})) { d.close(func() { reply(struct{}{}) }) })
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
