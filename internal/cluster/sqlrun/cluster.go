package sqlrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// A Master is what owns the jobs of a cluster. Its methods may be called from any
// goroutine.
type Master interface {
	Submit(ctx context.Context, graph *jobgraph.Graph) error
	// Request asks an operator's coordinator.
	Request(ctx context.Context, job ident.JobID, operator ident.OperatorID, payload []byte) ([]byte, error)
	Cancel(ctx context.Context, job ident.JobID) error
	// Wait waits until a job has ended, and says why if it has not finished.
	Wait(ctx context.Context, job ident.JobID) error
	// List gives all jobs, those that were begun last first.
	List(ctx context.Context) ([]engine.JobInfo, error)
	// Stop cancels a job that runs.
	Stop(ctx context.Context, job ident.JobID) error
	// StopWithSavepoint ends a job by a savepoint and gives where it is.
	StopWithSavepoint(ctx context.Context, job ident.JobID, directory string, drain bool) (string, error)
}

// Cluster runs jobs on a cluster of processes.
type Cluster struct{ master Master }

// NewCluster makes a runner.
func NewCluster(m Master) *Cluster { return &Cluster{m} }

// Submit begins a job, unless its tables mean nothing to the processes of a cluster: what is
// written below a relative path would be in the directory of a job's process, and go with it.
func (r *Cluster) Submit(ctx context.Context, c *exec.Compiled, schema []types.Field) (engine.Job, error) {
	if err := c.Check(true); err != nil {
		return nil, err
	}
	graph := identified(c).Graph
	j := &clusterJob{master: r.master, id: graph.Job}
	var rows *exec.Result
	if schema != nil {
		var err error
		if rows, err = exec.ResultOf(graph, schema, func(ctx context.Context, operator ident.OperatorID, payload []byte) ([]byte, error) {
			return r.master.Request(ctx, graph.Job, operator, payload)
		}); err != nil {
			return nil, err
		}
	}
	// Who gives up now must know whether there is a job that is to be cancelled.
	beyond, done := session.Beyond(ctx, cancelTimeout)
	defer done()
	if err := r.master.Submit(beyond, graph); err != nil {
		if uncertain(err) { // it may run, and nobody would read its rows
			_ = j.Cancel() // what has failed is told
		}
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), j.Cancel())
	}
	if rows != nil {
		j.rows = readerOf(rows, j.unread)
	}
	return j, nil
}

// List gives all jobs of the cluster, those that were begun last first.
func (r *Cluster) List(ctx context.Context) ([]engine.JobInfo, error) { return r.master.List(ctx) }

// Stop cancels a job and waits until it has ended, though not for ever: whoever has stopped
// one that writes may look at what it wrote, or take it away.
func (r *Cluster) Stop(ctx context.Context, id string) error {
	job, err := parseJob(id)
	if err != nil {
		return err
	}
	if err := r.master.Stop(ctx, job); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	_ = r.master.Wait(waiting, job) // it says that the job was canceled
	return nil
}

// beginning is how long the tasks of a job are waited for that are to take a savepoint.
const beginning = 30 * time.Second

// StopWithSavepoint ends a job by a savepoint and gives where it is. A job that has just
// begun takes none until all its tasks run; that is waited for.
func (r *Cluster) StopWithSavepoint(ctx context.Context, id, directory string, drain bool) (string, error) {
	job, err := parseJob(id)
	if err != nil {
		return "", err
	}
	asked := time.Now()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		at, err := r.master.StopWithSavepoint(ctx, job, directory, drain)
		if err == nil || !begins(err) || time.Since(asked) > beginning {
			return at, err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// begins reports whether a savepoint was refused because the tasks of its job do not run
// yet; that they have ended is refused with the same reason. From another process that is
// no more than a text.
func begins(err error) bool {
	text := err.Error()
	return strings.Contains(text, checkpoint.TasksNotRunning.Text()) && !strings.Contains(text, "already finished")
}

func parseJob(id string) (ident.JobID, error) {
	parsed, err := ident.Parse(id)
	if err != nil {
		return ident.JobID{}, fmt.Errorf("%q is no job id: %w", id, err)
	}
	return ident.JobID{ID: parsed}, nil
}

// byStart puts those that were begun last first.
func byStart(jobs []engine.JobInfo) []engine.JobInfo {
	slices.SortStableFunc(jobs, func(a, b engine.JobInfo) int { return b.Start.Compare(a.Start) })
	return jobs
}

// identified gives the job an id of its own if it has none; c stays as it is.
func identified(c *exec.Compiled) *exec.Compiled {
	if !c.Graph.Job.IsZero() {
		return c
	}
	compiled, graph := *c.Compiled, *c.Graph
	graph.Job.ID = ident.New(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	compiled.Graph = &graph
	return &exec.Compiled{Compiled: &compiled, BufferTimeout: c.BufferTimeout}
}

type clusterJob struct {
	master Master
	id     ident.JobID
	rows   *reader // nil: it collects none

	mu    sync.Mutex
	ended bool // the job has, or has been told to
}

// ID is the job's.
func (j *clusterJob) ID() string { return j.id.String() }

// Next waits for rows.
func (j *clusterJob) Next(ctx context.Context) (*batch.Columns, error) { return j.rows.next(ctx) }

// unread says why there are no more rows. It is what the job says when it has ended.
func (j *clusterJob) unread(ctx context.Context, err error) error {
	if _, lost := errors.AsType[*unreachable](err); lost {
		return err // the job may go on, and is to be cancelled
	}
	waiting, cancel := ctx, func() {}
	if errors.Is(err, io.EOF) {
		j.end()
	} else {
		waiting, cancel = context.WithTimeout(ctx, unreadTimeout)
	}
	defer cancel()
	why := j.master.Wait(waiting, j.id)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case waiting.Err() != nil: // it goes on, and waits for a reader
		return errors.Join(err, j.Cancel())
	}
	j.end()
	if why != nil {
		return why
	}
	return err
}

// unreadTimeout bounds how long a job whose rows cannot be read any more is waited for: if it
// has failed, it ends, and says why; else it would wait for its reader.
const unreadTimeout = 10 * time.Second

// end notes that the job needs no cancelling; it reports whether it did before.
func (j *clusterJob) end() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := !j.ended
	j.ended = true
	return before
}

// Wait waits for the job's end.
func (j *clusterJob) Wait(ctx context.Context) error {
	err := j.master.Wait(ctx, j.id)
	if ctx.Err() == nil {
		j.end()
	}
	return err
}

// cancelTimeout bounds how long a job is asked to end, and how long its end is waited for.
const cancelTimeout = 10 * time.Second

// Cancel ends the job. It returns when the cluster knows.
func (j *clusterJob) Cancel() error {
	if j.rows != nil {
		j.rows.cancel()
	}
	if !j.end() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cancelTimeout)
	defer cancel()
	if err := j.master.Cancel(ctx, j.id); err != nil {
		return fmt.Errorf("cancel job %s: %w", j.id, err)
	}
	return nil
}
