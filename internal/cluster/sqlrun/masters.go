package sqlrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
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

// reached adds to an error of who cannot be reached what to do.
func reached(c *client.Client, err error) error {
	var told *client.Error
	if err == nil || errors.As(err, &told) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w; is a cluster running at %s? `weir cluster start` starts one", err, strings.TrimPrefix(c.Address(), "http://"))
}
