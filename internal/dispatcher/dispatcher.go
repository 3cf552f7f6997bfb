package dispatcher

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/status"
)

// JobMaster is what the Dispatcher asks of the owner of one job, a
// *jobmaster.Master. It lives on the Dispatcher's loop, and so do all calls.
type JobMaster interface {
	// Start begins the job. What comes of it is told to ended, once.
	Start()
	// Cancel brings a job that has not ended to CANCELED and calls then with
	// nil; or with the reason why it will end otherwise.
	Cancel(then func(error))
	// TakeCheckpoint takes a checkpoint and calls then with its id, or why there is
	// none.
	TakeCheckpoint(full bool, then func(int64, error))
	// TakeSavepoint takes a savepoint, after which the job may end, and calls then
	// with where it is, or why there is none.
	TakeSavepoint(s jobmaster.Savepoint, then func(fs.Location, error))
	// Require sets how parallel all vertices are to be, and calls then with the reason
	// why they will not be.
	Require(wish map[ident.VertexID]execgraph.Bounds, then func(error))
	// Request hands a request to an operator's coordinator and calls then with its answer.
	Request(operator ident.OperatorID, payload []byte, then func([]byte, error))
	// View is the job as it is now.
	View() execgraph.View
	// Close makes a job that has not ended SUSPENDED, and calls then once all
	// who have to do with the job know that it is over here.
	Close(then func())
}

// Factory makes the JobMaster of a job and does not start it. ended is called
// on the loop, exactly once, when the job has reached a terminal state; it may
// be called from within Start, Cancel and Close.
type Factory func(graph *jobgraph.Graph, ended func(execgraph.View)) (JobMaster, error)

// Options are what a Dispatcher is made of.
type Options struct {
	Loop         actor.Loop
	NewJobMaster Factory
	// ReleaseArtifact is called on the loop when the last job that needs the
	// artifact, named by its SHA-256, has ended for good, and calls then on the
	// loop when the artifact is gone: until then nobody is told that it is retained.
	// Nil: nobody keeps artifacts.
	ReleaseArtifact func(sha256 string, then func())
	// Archive writes down a job that has ended for good and calls then when it
	// is done or has failed, which is its own to report. It is called on the
	// loop, on which then must be called, and must not block. The process does
	// not end before then. Nil: nothing is written.
	Archive  func(v execgraph.View, then func())
	Finished StoreOptions
	Logger   *slog.Logger
}

// Dispatcher owns the jobs of a process.
//
// Invariant: a job is in running or in finished, never in both; an id in
// terminated has been in running and will not be again.
type Dispatcher struct {
	options    Options
	loop       actor.Loop
	log        *slog.Logger
	running    []*job // in the order submitted
	finished   *store
	terminated map[ident.JobID]struct{}
	artifacts  map[string]int // how many running jobs and Retains need each
	leaving    map[string]*leaving
	parting    int // JobMasters that still say goodbye, and archives being written
	closing    bool
	closed     []func() // told when nothing runs and nobody parts any more
}

// job is one submitted job that has not ended.
type job struct {
	graph   *jobgraph.Graph
	master  JobMaster // nil while it is being made
	since   time.Time
	parting bool // the JobMaster was asked to close
	waiters []*waiter
}

// waiter is one Wait.
type waiter struct{ reply func(result) }

type result struct {
	view execgraph.View
	err  error
}

// New makes a Dispatcher.
func New(o Options) *Dispatcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Dispatcher{
		options: o, loop: o.Loop, log: o.Logger, finished: newStore(o.Finished),
		terminated: map[ident.JobID]struct{}{}, artifacts: map[string]int{}, leaving: map[string]*leaving{},
	}
}

// submit takes a job and starts it.
func (d *Dispatcher) submit(graph *jobgraph.Graph) error {
	id := graph.Job
	if d.closing {
		return ErrClosing
	}
	if _, ended := d.terminated[id]; ended {
		return &DuplicateError{Job: id, Terminated: true}
	}
	if d.find(id) != nil {
		return &DuplicateError{Job: id}
	}
	if err := check(graph); err != nil {
		return &SubmissionError{Job: id, Reason: err.Error()}
	}
	j := &job{graph: graph, since: d.loop.Now()}
	d.running = append(d.running, j)
	if sha := graph.Artifact.SHA256; sha != "" {
		d.artifacts[sha]++
	}
	d.log.Info("job submitted", "job", id, "name", graph.Name)
	master, err := d.options.NewJobMaster(graph, func(v execgraph.View) { d.ended(j, v) })
	if err != nil {
		d.log.Warn("job cannot be initialized", "job", id, "error", err)
		d.ended(j, j.stillborn(status.FailureOf(fmt.Errorf("initialize job %s: %w", id, err)), d.loop.Now()))
		return nil
	}
	j.master = master
	master.Start()
	return nil
}

// check refuses a graph that no JobMaster could run.
func check(g *jobgraph.Graph) error {
	if g.Job.IsZero() {
		return fmt.Errorf("the job graph has no job id")
	}
	if len(g.Vertices) == 0 {
		return fmt.Errorf("the job graph is empty: it has no vertices")
	}
	seen := map[ident.VertexID]bool{}
	for _, v := range g.Vertices {
		switch {
		case seen[v.ID]:
			return fmt.Errorf("two vertices have the id %s; the second is %q", v.ID, v.Name)
		case v.Parallelism < 0:
			return fmt.Errorf("vertex %q has parallelism %d, it must be at least 1, or 0 to be decided while the job runs", v.Name, v.Parallelism)
		case v.MaxParallelism < max(1, v.Parallelism):
			return fmt.Errorf("vertex %q has parallelism %d, above its max parallelism %d", v.Name, v.Parallelism, v.MaxParallelism)
		}
		seen[v.ID] = true
		for _, e := range v.Inputs {
			if !seen[e.Source] {
				return fmt.Errorf("vertex %q reads from %s, which does not stand before it", v.Name, e.Source)
			}
		}
	}
	return nil
}

// cancel asks the job to end as CANCELED; reply gets what becomes of that.
func (d *Dispatcher) cancel(id ident.JobID, reply func(error)) {
	if j := d.find(id); j != nil && j.master != nil {
		d.log.Info("job is being cancelled", "job", id)
		j.master.Cancel(reply)
		return
	}
	view, err := d.view(id)
	if err == nil && view.State != status.JobCanceled {
		err = &TerminatedError{Job: id, State: view.State}
	}
	reply(err)
}

// master gives the owner of a job that runs; one that has ended is not found.
func (d *Dispatcher) master(id ident.JobID) (JobMaster, error) {
	if j := d.find(id); j != nil && j.master != nil {
		return j.master, nil
	}
	return nil, &NotFoundError{Job: id}
}

// ended moves a job from running to finished and tells those who wait.
func (d *Dispatcher) ended(j *job, v execgraph.View) {
	i := slices.Index(d.running, j)
	if i < 0 {
		return
	}
	d.running = slices.Delete(d.running, i, i+1)
	d.log.Info("job ended", "job", v.Job, "to", v.State)
	switch {
	case v.State.GloballyTerminal():
		d.terminated[v.Job] = struct{}{}
		d.keep(v)
		d.archive(v)
		d.release(j.graph.Artifact.SHA256)
	case d.closing:
		// Until the process is gone, who asks is told that it is suspended, and
		// not that there is no such job.
		d.finished.put(v)
	}
	for _, w := range j.waiters {
		w.reply(result{view: v})
	}
	j.waiters = nil
	d.part(j)
	d.tellClosed()
}

// part closes the JobMaster of a job, which suspends one that has not ended, and
// waits until its peers know.
func (d *Dispatcher) part(j *job) {
	if j.master == nil || j.parting {
		return
	}
	j.parting = true
	d.parting++
	j.master.Close(func() {
		d.parting--
		d.tellClosed()
	})
}

// keep puts the view of a job that has ended into the store until it expires.
func (d *Dispatcher) keep(v execgraph.View) {
	d.finished.put(v)
	if life := d.finished.options.Expiration; life > 0 {
		d.loop.After(life, func() { d.finished.drop(v.Job) })
	}
}

// archive has a job that has ended written down.
func (d *Dispatcher) archive(v execgraph.View) {
	if d.options.Archive == nil {
		return
	}
	d.parting++
	d.options.Archive(v, func() {
		d.parting--
		d.tellClosed()
	})
}

// tellClosed ends close once nothing is left of any job.
func (d *Dispatcher) tellClosed() {
	if !d.closing || len(d.running) > 0 || d.parting > 0 {
		return
	}
	for _, f := range d.closed {
		f()
	}
	d.closed = nil
}

// close suspends every job and calls then when nothing is left of any.
func (d *Dispatcher) close(then func()) {
	d.closing = true
	d.closed = append(d.closed, then)
	for _, j := range slices.Clone(d.running) {
		d.part(j)
	}
	d.tellClosed()
}

func (d *Dispatcher) find(id ident.JobID) *job {
	for _, j := range d.running {
		if j.graph.Job == id {
			return j
		}
	}
	return nil
}

// whole describes one job with all there is to know, running or finished.
func (d *Dispatcher) whole(id ident.JobID, reply func(result)) {
	v, err := d.view(id)
	if _, finished := d.finished.get(id); err != nil || !finished {
		reply(result{v, err})
		return
	}
	d.finished.whole(id, func(v execgraph.View, err error) {
		if _, still := d.finished.get(id); err != nil && !still {
			err = &NotFoundError{Job: id} // it has expired meanwhile
		}
		reply(result{v, err})
	})
}

// view describes one job, running or finished. Of a finished one it may be a
// summary.
func (d *Dispatcher) view(id ident.JobID) (execgraph.View, error) {
	if j := d.find(id); j != nil {
		return j.view(), nil
	}
	if v, ok := d.finished.get(id); ok {
		return v, nil
	}
	return execgraph.View{}, &NotFoundError{Job: id}
}

// views describes all jobs, the newest first.
func (d *Dispatcher) views() []execgraph.View {
	all := make([]execgraph.View, 0, len(d.running)+d.finished.len())
	for _, j := range slices.Backward(d.running) {
		all = append(all, j.view())
	}
	all = d.finished.appendTo(all)
	slices.SortStableFunc(all, func(x, y execgraph.View) int { return y.Start.Compare(x.Start) })
	return all
}

func (j *job) view() execgraph.View {
	if j.master == nil {
		return j.sparse(status.JobInitializing)
	}
	return j.master.View()
}

// sparse is the view of a job without an ExecutionGraph.
func (j *job) sparse(state status.Job) execgraph.View {
	v := execgraph.View{Job: j.graph.Job, Name: j.graph.Name, State: state, Start: j.since, Plan: j.graph}
	v.Stamps[status.JobInitializing] = j.since
	return v
}

// stillborn is the view of a job that could not be initialized.
func (j *job) stillborn(cause *status.Failure, now time.Time) execgraph.View {
	v := j.sparse(status.JobFailed)
	v.Stamps[status.JobFailed], v.End = now, now
	v.Failures = []execgraph.FailureEntry{{Failure: cause, Time: now}}
	return v
}
