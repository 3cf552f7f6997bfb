package sqlrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/types"
)

// Embedded runs each job in a cluster of its own within this process.
type Embedded struct {
	ctx    context.Context
	cancel context.CancelFunc
	config *config.Config
	logger *slog.Logger
	jobs   sync.WaitGroup

	mu    sync.Mutex
	known []*embeddedJob // those that were begun last first
}

// maxEnded is how many jobs are listed that have ended.
const maxEnded = 100

// know notes a job that is begun.
func (r *Embedded) know(j *embeddedJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ended := []*embeddedJob{j}, 0
	for _, other := range r.known {
		if other.state() != status.JobRunning {
			ended++
		}
		if ended <= maxEnded || other.state() == status.JobRunning {
			known = append(known, other)
		}
	}
	r.known = known
}

// List gives the jobs that run and that have run last.
func (r *Embedded) List(context.Context) ([]engine.JobInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]engine.JobInfo, len(r.known))
	for i, j := range r.known {
		all[i] = j.info
		all[i].State = j.state().String()
	}
	return all, nil
}

// Stop cancels a job that runs.
func (r *Embedded) Stop(_ context.Context, id string) error {
	r.mu.Lock()
	i := slices.IndexFunc(r.known, func(j *embeddedJob) bool { return j.info.ID == id })
	if i < 0 {
		r.mu.Unlock()
		return fmt.Errorf("there is no job %s in this process", id)
	}
	j := r.known[i]
	r.mu.Unlock()
	if s := j.state(); s != status.JobRunning {
		return fmt.Errorf("job %s has ended as %s", id, s)
	}
	j.cancel()
	<-j.ended
	return nil
}

// StopWithSavepoint refuses: the jobs of this process take no savepoints.
func (r *Embedded) StopWithSavepoint(context.Context, string, string, bool) (string, error) {
	return "", errors.New("jobs that run in this process take no savepoints: `weir cluster start` starts a cluster, whose jobs do")
}

// NewEmbedded makes a runner. The configuration gives timeouts; nil: the defaults.
func NewEmbedded(c *config.Config, logger *slog.Logger) *Embedded {
	r := &Embedded{config: c, logger: logger}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Close cancels all jobs and waits for their end.
func (r *Embedded) Close() {
	r.cancel()
	r.jobs.Wait()
}

// Submit begins a job.
func (r *Embedded) Submit(ctx context.Context, c *exec.Compiled, schema []types.Field) (engine.Job, error) {
	c = identified(c)
	j := &embeddedJob{info: engine.JobInfo{ID: c.Graph.Job.String(), Name: c.Graph.Name, Start: time.Now()}, ended: make(chan struct{})}
	run, cancel := context.WithCancel(r.ctx)
	j.cancel = cancel
	r.know(j)
	begun := make(chan *embedded.Job, 1)
	r.jobs.Go(func() {
		defer close(j.ended)
		defer cancel()
		j.err = embedded.Run(run, embedded.Options{Compiled: c.Compiled, BufferTimeout: c.BufferTimeout, Config: r.config, Logger: r.logger,
			Begun: func(b *embedded.Job) { begun <- b }})
	})
	var b *embedded.Job
	select {
	case b = <-begun:
	case <-j.ended:
		select {
		case b = <-begun: // and has ended already
		default:
			return nil, told(j.err)
		}
	case <-ctx.Done():
		cancel()
		return nil, context.Cause(ctx)
	}
	if schema == nil {
		return j, nil
	}
	rows, err := exec.ResultOf(c.Graph, schema, b.Request)
	if err != nil {
		cancel()
		return nil, err
	}
	j.rows = readerOf(rows, j.unread)
	return j, nil
}

type embeddedJob struct {
	info   engine.JobInfo
	cancel context.CancelFunc
	ended  chan struct{}
	err    error   // once ended is closed
	rows   *reader // nil: it collects none
}

// ID is the job's.
func (j *embeddedJob) ID() string { return j.info.ID }

// state is the job's.
func (j *embeddedJob) state() status.Job {
	select {
	case <-j.ended:
	default:
		return status.JobRunning
	}
	switch {
	case j.err == nil:
		return status.JobFinished
	case errors.Is(j.err, context.Canceled):
		return status.JobCanceled
	}
	return status.JobFailed
}

// Next waits for rows.
func (j *embeddedJob) Next(ctx context.Context) (*batch.Columns, error) { return j.rows.next(ctx) }

// unread says why there are no more rows. It is what the job says when it has ended.
func (j *embeddedJob) unread(ctx context.Context, err error) error {
	waiting, cancel := ctx, func() {}
	if !errors.Is(err, io.EOF) {
		waiting, cancel = context.WithTimeout(ctx, unreadTimeout)
	}
	defer cancel()
	why := j.Wait(waiting)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case waiting.Err() != nil: // it goes on, and waits for a reader
		return errors.Join(err, j.Cancel())
	case why != nil:
		return why
	}
	return err
}

// Wait waits for the job's end.
func (j *embeddedJob) Wait(ctx context.Context) error {
	select {
	case <-j.ended:
		return told(j.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel ends the job.
func (j *embeddedJob) Cancel() error {
	if j.rows != nil {
		j.rows.cancel()
	}
	j.cancel()
	<-j.ended
	return nil
}
