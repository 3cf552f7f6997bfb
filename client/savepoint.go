package client

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A SavepointRequest says how a savepoint is to be taken.
type SavepointRequest struct {
	// Directory is where the savepoint's own directory is made; empty: where the
	// cluster's configuration or the job's says.
	Directory string
	// Format is CANONICAL or NATIVE; empty: CANONICAL.
	Format string
	// Cancel: the job is canceled once the savepoint is complete.
	Cancel bool
	// Stop: the job ends by the savepoint. With Drain it first fires all windows and
	// timers; then it is not to be begun with it again.
	Stop, Drain bool
}

// An OperationError is why an operation failed that the cluster had begun.
type OperationError struct {
	Class string // as clients of Flink know it
	Trace string // what failed, then, each on a line of its own, what caused it
}

// Error gives what failed and its causes, without what only wraps them.
func (e *OperationError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.Trace), "\n")
	if len(lines) > 1 {
		cause := strings.TrimPrefix(lines[1], "Caused by: ")
		if strings.HasSuffix(lines[0], cause) {
			lines = append([]string{cause}, lines[2:]...)
		}
	}
	return strings.Join(lines, "\n")
}

// failure is an operation's cause of failure.
type failure struct {
	Class string `json:"class"`
	Trace string `json:"stack-trace"`
}

func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return &OperationError{f.Class, f.Trace}
}

// trigger begins an operation and gives its id.
func (c *Client) trigger(ctx context.Context, path string, body any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	var answer struct {
		Request string `json:"request-id"`
	}
	return answer.Request, c.call(ctx, http.MethodPost, path, bytes.NewReader(text), jsonType, &answer)
}

// operation polls an operation until it has ended, quickly at first.
func (c *Client) operation(ctx context.Context, path string, into any) error {
	for pause := 2 * time.Millisecond; ; pause = min(pause+pause/4+time.Millisecond, 100*time.Millisecond) {
		answer := struct {
			Status struct {
				ID string `json:"id"`
			} `json:"status"`
			Operation any `json:"operation"`
		}{Operation: into}
		if err := c.get(ctx, path, &answer); err != nil {
			return err
		}
		if answer.Status.ID == "COMPLETED" {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// TriggerSavepoint asks for a savepoint of a job and gives the operation's id.
func (c *Client) TriggerSavepoint(ctx context.Context, job string, r SavepointRequest) (trigger string, err error) {
	path := "/jobs/" + url.PathEscape(job)
	if r.Stop || r.Drain {
		return c.trigger(ctx, path+"/stop", struct {
			Directory string `json:"targetDirectory,omitempty"`
			Drain     bool   `json:"drain"`
			Format    string `json:"formatType,omitempty"`
		}{r.Directory, r.Drain, r.Format})
	}
	return c.trigger(ctx, path+"/savepoints", struct {
		Directory string `json:"target-directory,omitempty"`
		Cancel    bool   `json:"cancel-job"`
		Format    string `json:"formatType,omitempty"`
	}{r.Directory, r.Cancel, r.Format})
}

// Savepoint takes a savepoint of a job and gives where it is, once it is complete
// and the job has ended, if it is to. An *OperationError says why there is none.
func (c *Client) Savepoint(ctx context.Context, job string, r SavepointRequest) (location string, err error) {
	trigger, err := c.TriggerSavepoint(ctx, job, r)
	if err != nil {
		return "", err
	}
	var result struct {
		Location string   `json:"location"`
		Cause    *failure `json:"failure-cause"`
	}
	if err := c.operation(ctx, "/jobs/"+url.PathEscape(job)+"/savepoints/"+trigger, &result); err != nil {
		return "", err
	}
	return result.Location, result.Cause.err()
}

// Checkpoint takes a checkpoint of a job, one that refers to no older file if full is
// set, and gives its id. An *OperationError says why there is none.
func (c *Client) Checkpoint(ctx context.Context, job string, full bool) (id int64, err error) {
	path, kind := "/jobs/"+url.PathEscape(job)+"/checkpoints", "CONFIGURED"
	if full {
		kind = "FULL"
	}
	trigger, err := c.trigger(ctx, path, struct {
		Kind string `json:"checkpointType"`
	}{kind})
	if err != nil {
		return 0, err
	}
	var result struct {
		ID    int64    `json:"checkpointId"`
		Cause *failure `json:"failureCause"`
	}
	if err := c.operation(ctx, path+"/"+trigger, &result); err != nil {
		return 0, err
	}
	return result.ID, result.Cause.err()
}

// Dispose deletes the files of a savepoint. An *OperationError says why they are
// still there.
func (c *Client) Dispose(ctx context.Context, savepoint string) error {
	trigger, err := c.trigger(ctx, "/savepoint-disposal", struct {
		Path string `json:"savepoint-path"`
	}{savepoint})
	if err != nil {
		return err
	}
	var result struct {
		Cause *failure `json:"failure-cause"`
	}
	if err := c.operation(ctx, "/savepoint-disposal/"+trigger, &result); err != nil {
		return err
	}
	return result.Cause.err()
}
