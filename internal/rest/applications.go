package rest

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// In Flink an application is a main function that ran in the cluster, with its
// jobs. Here each job is an application of its own, with the same id.

func (s *Server) applicationRoutes() []route {
	return []route{
		get("/applications/overview", s.applications),
		get("/applications/:applicationid", s.application),
		get("/applications/:applicationid/exceptions", s.applicationExceptions),
		get("/applications/:applicationid/jobmanager/config", s.configuration),
		endpoint(http.MethodPost, "/applications/:applicationid/cancel", emptyBody, s.cancelApplication),
	}
}

// applicationState is the state of the application of a job.
func applicationState(s status.Job) string {
	switch s {
	case status.JobInitializing, status.JobCreated:
		return "CREATED"
	case status.JobCancelling:
		return "CANCELING"
	case status.JobFailing, status.JobFailed, status.JobCanceled, status.JobFinished:
		return s.String()
	}
	return "RUNNING"
}

func applicationName(v *execgraph.View) string { return "SingleJobApplication(" + v.Name + ")" }

func (s *Server) applications(r *request) (answer, error) {
	views, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	type one struct {
		ID       ident.JobID    `json:"id"`
		Name     string         `json:"name"`
		Start    int64          `json:"start-time"`
		End      int64          `json:"end-time"`
		Duration int64          `json:"duration"`
		Status   string         `json:"status"`
		Jobs     map[string]int `json:"jobs"`
	}
	all := []one{}
	for i := range views {
		v := &views[i]
		all = append(all, one{
			v.Job, applicationName(v), millis(v.Start), millis(v.End), v.Duration(now).Milliseconds(),
			applicationState(v.State), map[string]int{v.State.String(): 1},
		})
	}
	return ok(struct {
		Applications []one `json:"applications"`
	}{all})
}

// applicationID reads the path parameter applicationid.
func (r *request) applicationID() (ident.JobID, error) {
	id, err := ident.Parse(r.params["applicationid"])
	if err != nil {
		return ident.JobID{}, badParameter("path", "applicationid", r.params["applicationid"])
	}
	return ident.JobID{ID: id}, nil
}

// applicationOf asks for the job of the application the path names.
func (s *Server) applicationOf(r *request) (execgraph.View, error) {
	id, err := r.applicationID()
	if err != nil {
		return execgraph.View{}, err
	}
	v, err := s.Jobs.Job(r.Context(), id)
	return v, noApplication(id, err)
}

// noApplication says of an application what err says of its job.
func noApplication(id ident.JobID, err error) error {
	var missing *dispatcher.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	return fail(http.StatusNotFound, restException+"Application could not be found.",
		fmt.Sprintf("org.apache.flink.runtime.messages.FlinkApplicationNotFoundException: Could not find Flink application (%s)", id))
}

func (s *Server) application(r *request) (answer, error) {
	v, err := s.applicationOf(r)
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	stamps := map[string]int64{}
	for state, at := range map[string]time.Time{
		"CREATED": v.Start, "RUNNING": v.Since(status.JobRunning), "FAILING": v.Since(status.JobFailing), "FAILED": v.Since(status.JobFailed),
		"CANCELING": v.Since(status.JobCancelling), "CANCELED": v.Since(status.JobCanceled), "FINISHED": v.Since(status.JobFinished),
	} {
		stamps[state] = stamp(at)
	}
	return ok(struct {
		ID       ident.JobID      `json:"id"`
		Name     string           `json:"name"`
		Status   string           `json:"status"`
		Start    int64            `json:"start-time"`
		End      int64            `json:"end-time"`
		Duration int64            `json:"duration"`
		Stamps   map[string]int64 `json:"timestamps"`
		Jobs     []jobOverview    `json:"jobs"`
	}{
		v.Job, applicationName(&v), applicationState(v.State), millis(v.Start), millis(v.End), v.Duration(now).Milliseconds(),
		stamps, []jobOverview{overviewOf(&v, now)},
	})
}

// applicationExceptions lists what went wrong outside the jobs: nothing, since
// a program that fails before it has described a job makes no application.
func (s *Server) applicationExceptions(r *request) (answer, error) {
	if _, err := s.applicationOf(r); err != nil {
		return answer{}, err
	}
	type entries struct {
		Entries []empty `json:"entries"`
	}
	return ok(struct {
		History entries `json:"exceptionHistory"`
	}{})
}

func (s *Server) cancelApplication(r *request) (answer, error) {
	id, err := r.applicationID()
	if err != nil {
		return answer{}, err
	}
	a, err := s.cancelJob(r, id)
	return a, noApplication(id, err)
}
