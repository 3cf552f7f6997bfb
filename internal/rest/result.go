package rest

import (
	"errors"
	"net/http"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// statusID is the state of something that is asked for until it is there.
type statusID struct {
	ID string `json:"id"`
}

// jobResult is how a job ended. Java clients read it token by token: it holds
// exactly Flink's fields, and what is ours stands beside it.
type jobResult struct {
	ID     ident.JobID `json:"id"`
	Name   string      `json:"name"`
	Status string      `json:"application-status"`
	// Serialized are results as Java objects, of which there are none here.
	Serialized  map[string]string `json:"accumulator-results"`
	Runtime     int64             `json:"net-runtime"`
	Cause       *throwable        `json:"failure-cause,omitempty"`
	Application ident.JobID       `json:"application-id"`
	Start       int64             `json:"start-time"`
	End         int64             `json:"end-time"`
}

// throwable is an error as clients of Flink read it: those in Java take only
// the serialized form.
type throwable struct {
	Class      string `json:"class"`
	Stack      string `json:"stack-trace"`
	Serialized []byte `json:"serialized-throwable"` // base64 in JSON
}

// result is what attached clients poll until the job has ended.
func (s *Server) result(r *request) (answer, error) {
	v, err := s.view(r)
	var missing *dispatcher.NotFoundError
	if errors.As(err, &missing) {
		return answer{}, fail(http.StatusNotFound, restException+noJobException+missing.Error(), noJobException+missing.Error())
	}
	if err != nil {
		return answer{}, err
	}
	if !v.State.GloballyTerminal() {
		return ok(struct {
			Status statusID `json:"status"`
		}{statusID{"IN_PROGRESS"}})
	}
	return ok(struct {
		Status statusID  `json:"status"`
		Result jobResult `json:"job-execution-result"`
		// Accumulators are ours: results as text.
		Accumulators []accumulator `json:"accumulators"`
	}{statusID{"COMPLETED"}, s.resultOf(&v), allAccumulators(&v)})
}

func (s *Server) resultOf(v *execgraph.View) jobResult {
	res := jobResult{
		ID: v.Job, Name: v.Name, Runtime: v.Duration(s.Now()).Milliseconds(), Application: v.Job, Start: millis(v.Start), End: millis(v.End),
	}
	switch v.State {
	case status.JobFinished:
		res.Status = "SUCCEEDED"
	case status.JobCanceled:
		res.Status = "CANCELED"
	case status.JobFailed:
		res.Status = "FAILED"
		cause := &status.Failure{Kind: status.FailureError, Message: "The cause of the failure is not known."}
		if len(v.Failures) > 0 && v.Failures[0].Failure != nil {
			cause = v.Failures[0].Failure
		}
		res.Cause = throwableOf(string(cause.Kind), cause.Error(), stackOf(cause))
	default:
		res.Status = "UNKNOWN"
	}
	return res
}
