package rest

import (
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/ident"
)

// The metrics of this version are those in the descriptions of jobs and
// vertices, and a few of each job; there is no registry of others. The paths
// that list metrics are asked by every dashboard and answer, truthfully, with an
// empty list.

// aggregates are the ways to put several values of a metric together.
var aggregates = []string{"min", "max", "avg", "sum", "skew"}

// noAggregate answers a request for metrics over several jobs or TaskManagers.
func (s *Server) noAggregate(r *request) (answer, error) {
	for list := range strings.SplitSeq(r.query.Get("agg"), ",") {
		if list != "" && !slices.Contains(aggregates, strings.ToLower(list)) {
			return answer{}, badParameter("query", "agg", list)
		}
	}
	for id := range strings.SplitSeq(r.query.Get("jobs"), ",") {
		if _, err := ident.Parse(id); id != "" && err != nil {
			return answer{}, badParameter("query", "jobs", id)
		}
	}
	return none(r)
}

func (s *Server) noJobMetrics(r *request) (answer, error) {
	if _, err := r.jobID(); err != nil {
		return answer{}, err
	}
	return none(r)
}

func (s *Server) noVertexMetrics(r *request) (answer, error) {
	if _, err := r.vertexID(); err != nil {
		return answer{}, err
	}
	return s.noJobMetrics(r)
}

func (s *Server) noSubtaskMetrics(r *request) (answer, error) {
	if _, err := r.number("subtaskindex"); err != nil {
		return answer{}, err
	}
	return s.noVertexMetrics(r)
}

// watermarks lists the watermarks of a vertex; no task has one in this version.
func (s *Server) watermarks(r *request) (answer, error) {
	if _, err := s.vertexOf(r, noVertex); err != nil {
		return answer{}, err
	}
	return none(r)
}

// backPressure says, as Flink does without a sample, that there is none to see.
func (s *Server) backPressure(r *request) (answer, error) {
	if _, err := s.noVertexMetrics(r); err != nil {
		return answer{}, err
	}
	return ok(struct {
		Status string `json:"status"`
	}{"deprecated"})
}

// flameGraph says, as Flink does, that flame graphs are disabled.
func (s *Server) flameGraph(r *request) (answer, error) {
	if _, err := s.noVertexMetrics(r); err != nil {
		return answer{}, err
	}
	return ok(struct {
		End int64 `json:"endTimestamp"`
	}{-2})
}
