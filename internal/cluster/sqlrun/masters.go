package sqlrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/status"
)

// Local is the master of the cluster whose JobManager this process is.
type Local struct{ *dispatcher.Dispatcher }

// Wait waits until a job has ended, and says why if it has not finished.
func (l Local) Wait(ctx context.Context, job ident.JobID) error {
	view, err := l.Dispatcher.Wait(ctx, job)
	switch {
	case err != nil:
		return err
	case view.State == status.JobFinished:
		return nil
	case view.State == status.JobFailed && len(view.Failures) > 0:
		root := view.Failures[0]
		for _, other := range root.Concurrent {
			if root.Failure.Kind == status.FailureConsumer && other.Failure.Kind != status.FailureConsumer {
				root = other
			}
		}
		return told(root.Failure)
	}
	return ended(job.String(), view.State.String())
}

// Cancel ends a job, unless it has ended.
func (l Local) Cancel(ctx context.Context, job ident.JobID) error {
	err := l.Dispatcher.Cancel(ctx, job)
	_, missing := errors.AsType[*dispatcher.NotFoundError](err)
	_, terminated := errors.AsType[*dispatcher.TerminatedError](err)
	_, ending := errors.AsType[*jobmaster.EndedError](err)
	if missing || terminated || ending {
		return nil
	}
	return err
}

// List gives all jobs, those that were begun last first.
func (l Local) List(ctx context.Context) ([]engine.JobInfo, error) {
	views, err := l.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]engine.JobInfo, len(views))
	for i, v := range views {
		all[i] = engine.JobInfo{ID: v.Job.String(), Name: v.Name, State: v.State.String(), Start: v.Start}
	}
	return byStart(all), nil
}

// Stop cancels a job.
func (l Local) Stop(ctx context.Context, job ident.JobID) error { return l.Dispatcher.Cancel(ctx, job) }

// StopWithSavepoint ends a job by a savepoint and gives where it is.
func (l Local) StopWithSavepoint(ctx context.Context, job ident.JobID, directory string, drain bool) (string, error) {
	if directory == "" {
		return "", fmt.Errorf("no savepoint was taken: %s is not set", config.SavepointDirectory.Key)
	}
	target, err := fs.Parse(directory)
	if err != nil {
		return "", fmt.Errorf("%s: %w", config.SavepointDirectory.Key, err)
	}
	stop := checkpoint.Suspend
	if drain {
		stop = checkpoint.Drain
	}
	at, err := l.Savepoint(ctx, job, jobmaster.Savepoint{Target: target, Stop: stop})
	return at.String(), err
}

// Remote is the master of a cluster that is reached by its REST API.
type Remote struct{ *client.Client }

// Submit submits a job.
func (r Remote) Submit(ctx context.Context, graph *jobgraph.Graph) error {
	_, err := r.SubmitGraph(ctx, graph.Encode())
	return reached(r.Client, err)
}

// Request asks an operator's coordinator.
func (r Remote) Request(ctx context.Context, job ident.JobID, operator ident.OperatorID, payload []byte) ([]byte, error) {
	answer, err := r.Ask(ctx, job.String(), operator.String(), payload)
	return answer, reached(r.Client, err)
}

// Cancel ends a job, unless it has ended.
func (r Remote) Cancel(ctx context.Context, job ident.JobID) error {
	err := r.Client.Cancel(ctx, job.String())
	if client.IsStatus(err, 404) || client.IsStatus(err, 409) {
		return nil
	}
	return reached(r.Client, err)
}

// List gives all jobs, those that were begun last first.
func (r Remote) List(ctx context.Context) ([]engine.JobInfo, error) {
	jobs, err := r.Jobs(ctx)
	if err != nil {
		return nil, reached(r.Client, err)
	}
	all := make([]engine.JobInfo, len(jobs))
	for i, j := range jobs {
		all[i] = engine.JobInfo{ID: j.ID, Name: j.Name, State: j.State, Start: time.UnixMilli(j.StartTime)}
	}
	return byStart(all), nil
}

// Stop cancels a job that runs.
func (r Remote) Stop(ctx context.Context, job ident.JobID) error {
	return reached(r.Client, r.Client.Cancel(ctx, job.String()))
}

// StopWithSavepoint ends a job by a savepoint and gives where it is.
func (r Remote) StopWithSavepoint(ctx context.Context, job ident.JobID, directory string, drain bool) (string, error) {
	at, err := r.Savepoint(ctx, job.String(), client.SavepointRequest{Directory: directory, Stop: true, Drain: drain})
	return at, reached(r.Client, err)
}

// Wait waits until a job has ended, and says why if it has not finished.
func (r Remote) Wait(ctx context.Context, job ident.JobID) error {
	state, err := r.Client.Wait(ctx, job.String(), func(string) {})
	switch {
	case err != nil:
		return reached(r.Client, err)
	case state == status.JobFinished.String():
		return nil
	}
	if all, err := r.Exceptions(ctx, job.String()); err == nil && len(all) > 0 && all[0].Cause != "" {
		f := &status.Failure{Message: all[0].Cause, Chain: slices.DeleteFunc(all[0].Chain, isDecision)}
		if record := all[0].Record; record != nil {
			f.Record = &status.Record{Origin: record.Origin, Value: record.Value}
		}
		return told(f)
	}
	return ended(job.String(), state)
}

// isDecision reports whether a text says what was done about a failure, as Flink puts it
// around the cause.
func isDecision(text string) bool { return strings.HasPrefix(text, "Recovery is suppressed by ") }

func ended(job, state string) error { return fmt.Errorf("job %s ended as %s", job, state) }

// An unreachable cluster has not answered: what was asked of it may be done or not.
type unreachable struct {
	err     error
	address string
}

// Error says what to do.
func (e *unreachable) Error() string {
	return fmt.Sprintf("%s; is a cluster running at %s? `weir cluster start` starts one", e.err, e.address)
}

// Unwrap gives what was seen of it.
func (e *unreachable) Unwrap() error { return e.err }

// uncertain reports whether what was asked of a cluster may have been done though it failed:
// there was no answer, or one that it takes too long.
func uncertain(err error) bool {
	_, lost := errors.AsType[*unreachable](err)
	answer, answered := errors.AsType[*client.Error](err)
	return lost || answered && answer.Status >= 500 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// reached tells an answer that refuses, or says what has failed, from none, which is an
// *unreachable.
func reached(c *client.Client, err error) error {
	_, refused := errors.AsType[*client.Error](err)
	_, failed := errors.AsType[*client.OperationError](err)
	if err == nil || refused || failed || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &unreachable{err, strings.TrimPrefix(c.Address(), "http://")}
}
