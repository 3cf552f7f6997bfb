package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// graphRoutes are Weir's own: jobs whose operators every worker knows, such as those of
// SQL, come as graphs, and what asks for their results reaches their coordinators.
func (s *Server) graphRoutes() []route {
	if s.Ask == nil || !config.WebSubmitEnable.In(s.Config) {
		return nil
	}
	return []route{
		endpoint(http.MethodPost, "/weir/jobs", "a job graph", s.submitGraph).reading(),
		endpoint(http.MethodPost, "/weir/jobs/:jobid/operators/:operatorid", "a request for a coordinator", s.askCoordinator).reading(),
	}
}

// submitGraph submits the job that the body is.
func (s *Server) submitGraph(r *request) (answer, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return answer{}, fmt.Errorf("read a job graph: %w", err)
	}
	graph, err := jobgraph.Decode(text)
	if err != nil {
		return answer{}, badBody(r.format, clip(err.Error()))
	}
	if graph.Artifact.SHA256 != "" {
		return answer{}, badBody(r.format, "It names a program; allowed is a job whose operators every worker knows. Programs are uploaded: /jars/upload.")
	}
	if graph.Job.IsZero() {
		graph.Job = s.NewJobID()
	}
	if err := s.Jobs.Submit(r.Context(), graph); err != nil {
		return answer{}, submitFailure(err)
	}
	return answer{status: http.StatusAccepted, body: graphAnswer{graph.Job.String()}}, nil
}

type graphAnswer struct {
	Job string `json:"jobid"`
}

// askCoordinator hands the body to an operator's coordinator, and back what it says. A
// coordinator may have nothing to say for as long as its job runs: then the answer has no
// content after web.timeout, and whoever asks does it again.
func (s *Server) askCoordinator(r *request) (answer, error) {
	job, err := r.jobID()
	if err != nil {
		return answer{}, err
	}
	operator, err := ident.Parse(r.params["operatorid"])
	if err != nil {
		return answer{}, badParameter("path", "operatorid", r.params["operatorid"])
	}
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		return answer{}, fmt.Errorf("read a request for a coordinator: %w", err)
	}
	told, err := s.Ask(r.Context(), job, ident.OperatorID{ID: operator}, payload)
	if errors.Is(err, errTimeout) {
		return answer{status: http.StatusNoContent, octets: []byte{}}, nil
	}
	if err != nil {
		return answer{}, coordinatorFailure(err)
	}
	return answer{status: http.StatusOK, octets: append([]byte{}, told...)}, nil
}

// coordinatorFailure tells what a coordinator refuses as a conflict with how the job is.
func coordinatorFailure(err error) error {
	var missing *dispatcher.NotFoundError
	if errors.As(err, &missing) || errors.Is(err, context.Canceled) || errors.Is(err, actor.ErrStopped) {
		return err
	}
	return fail(http.StatusConflict, clip(err.Error()))
}
