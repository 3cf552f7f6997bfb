package sqlrun

import (
	"context"
	"log/slog"
	"sync"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/types"
)

// Embedded runs each job in a cluster of its own within this process.
type Embedded struct {
	ctx    context.Context
	cancel context.CancelFunc
	config *config.Config
	logger *slog.Logger
	jobs   sync.WaitGroup
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
	j := &embeddedJob{id: c.Graph.Job.String(), ended: make(chan struct{})}
	run, cancel := context.WithCancel(r.ctx)
	j.cancel = cancel
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
	j.rows = newReader(rows.Next)
	return j, nil
}

type embeddedJob struct {
	id     string
	cancel context.CancelFunc
	ended  chan struct{}
	err    error   // once ended is closed
	rows   *reader // nil: it collects none
}

// ID is the job's.
func (j *embeddedJob) ID() string { return j.id }

// Next waits for rows.
func (j *embeddedJob) Next(ctx context.Context) (*batch.Columns, error) {
	b, err := j.rows.next(ctx)
	if err == nil || ctx.Err() != nil {
		return b, err
	}
	<-j.ended // why the rows have ended is why the job has
	if j.err != nil {
		return nil, told(j.err)
	}
	return nil, err
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
