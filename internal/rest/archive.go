package rest

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/resourcemanager"
)

// An Archived is one path of the API, and what was answered there about a job
// that has ended.
type Archived struct {
	Path string
	JSON jsontext.Value
}

// The lists of which an archive holds one entry each.
const (
	jobsOverviewPath = "/jobs/overview"
	applicationsPath = "/applications/overview"
)

// archivedPaths are the paths of one job that are archived. What a live cluster
// serves beside these is about the processes, or changes the job.
var archivedPaths = []string{
	"/jobs/:jobid", "/jobs/:jobid/status", "/jobs/:jobid/plan", "/jobs/:jobid/config", "/jobs/:jobid/exceptions",
	"/jobs/:jobid/execution-result", "/jobs/:jobid/accumulators", "/jobs/:jobid/checkpoints", "/jobs/:jobid/checkpoints/config",
	"/jobs/:jobid/jobmanager/config", "/jobs/:jobid/jobmanager/environment",
	archivedVertex, archivedVertex + "/subtasktimes", archivedVertex + "/taskmanagers", archivedVertex + "/accumulators",
	archivedVertex + "/watermarks", archivedVertex + "/subtasks/accumulators",
	archivedSubtask,
	archivedSubtask + "/attempts/:attempt", archivedSubtask + "/attempts/:attempt/accumulators",
	archivedCheckpoint, archivedCheckpoint + "/subtasks/:vertexid",
	archivedRescales + "/config", archivedRescales + "/overview", archivedRescales + "/history", archivedRescales + "/summary", archivedRescales + "/details/:rescaleuuid",
	"/applications/:applicationid", "/applications/:applicationid/exceptions", "/applications/:applicationid/jobmanager/config",
}

const (
	archivedVertex     = "/jobs/:jobid/vertices/:vertexid"
	archivedSubtask    = archivedVertex + "/subtasks/:subtaskindex"
	archivedCheckpoint = "/jobs/:jobid/checkpoints/details/:checkpointid"
	archivedRescales   = "/jobs/:jobid/rescales"
)

// Archive gives everything the API answers about a job that has ended, as v
// describes it: the same handlers are asked that serve a live cluster. Of o
// only Config, Version, Commit, Built, Now and Logger are used.
//
// A path that is refused has an object with only the field errors, as in the
// archives of Flink.
func Archive(o Options, v execgraph.View) ([]Archived, error) {
	o.Jobs, o.TaskManagers, o.Programs, o.Planner, o.Fallback = oneJob{v}, noTaskManagers{}, nil, nil, nil
	s := New(o)
	paths := []string{jobsOverviewPath, applicationsPath}
	for _, pattern := range archivedPaths {
		paths = append(paths, expand(pattern, &v)...)
	}
	all := make([]Archived, 0, len(paths))
	for _, path := range paths {
		text, err := s.answerTo(path, len(v.Failures))
		if err != nil {
			return nil, fmt.Errorf("archive %s of job %s: %w", path, v.Job, err)
		}
		all = append(all, Archived{path, text})
	}
	return all, nil
}

// answerTo asks the handler of a path. Of failures all are wanted.
func (s *Server) answerTo(path string, failures int) (jsontext.Value, error) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	route, params, _ := s.find(http.MethodGet, parts)
	if route == nil {
		return nil, errors.New("there is no such path")
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	query := url.Values{"maxExceptions": {strconv.Itoa(max(failures, defaultExceptions))}}
	a, err := route.handle(&request{Request: r, params: params, query: query, format: route.format})
	if err == nil {
		return encode(a.body)
	}
	if f := s.failureOf(r, err); f.status < http.StatusInternalServerError {
		return encode(errorBody{[]string{f.Error()}})
	}
	return nil, err
}

// expand puts everything the job has in the place of a pattern's parameters.
func expand(pattern string, v *execgraph.View) []string {
	base := strings.NewReplacer(":jobid", v.Job.String(), ":applicationid", v.Job.String()).Replace(pattern)
	var paths []string
	if strings.Contains(base, ":rescaleuuid") {
		if v.Adaptive != nil {
			for i := range v.Adaptive.Rescales {
				paths = append(paths, strings.Replace(base, ":rescaleuuid", v.Adaptive.Rescales[i].ID.String(), 1))
			}
		}
		return paths
	}
	if !strings.Contains(base, ":checkpointid") {
		return expandVertices(base, v)
	}
	for _, c := range checkpointsOf(v).All() {
		paths = append(paths, expandVertices(strings.Replace(base, ":checkpointid", strconv.FormatInt(c.ID, 10), 1), v)...)
	}
	return paths
}

func expandVertices(base string, v *execgraph.View) []string {
	if !strings.Contains(base, ":vertexid") {
		return []string{base}
	}
	var paths []string
	for _, vertex := range v.Vertices {
		path := strings.Replace(base, ":vertexid", vertex.ID.String(), 1)
		if !strings.Contains(path, ":subtaskindex") {
			paths = append(paths, path)
			continue
		}
		for i := range vertex.Subtasks {
			paths = append(paths, expandSubtask(strings.Replace(path, ":subtaskindex", strconv.Itoa(i), 1), &vertex.Subtasks[i])...)
		}
	}
	return paths
}

func expandSubtask(path string, s *execgraph.SubtaskView) []string {
	if !strings.Contains(path, ":attempt") {
		return []string{path}
	}
	var paths []string
	for _, a := range slices.Concat(s.Earlier, []execgraph.AttemptView{s.AttemptView}) {
		paths = append(paths, strings.Replace(path, ":attempt", strconv.Itoa(a.ID.Attempt), 1))
	}
	return paths
}

// oneJob is a Dispatcher that knows one job, which has ended.
type oneJob struct{ view execgraph.View }

func (j oneJob) Submit(context.Context, *jobgraph.Graph) error { return dispatcher.ErrClosing }

func (j oneJob) Cancel(context.Context, ident.JobID) error {
	return &dispatcher.TerminatedError{Job: j.view.Job, State: j.view.State}
}

func (j oneJob) Checkpoint(_ context.Context, id ident.JobID, _ bool) (int64, error) {
	return 0, &dispatcher.NotFoundError{Job: id}
}

func (j oneJob) Savepoint(_ context.Context, id ident.JobID, _ jobmaster.Savepoint) (fs.Location, error) {
	return "", &dispatcher.NotFoundError{Job: id}
}

func (j oneJob) Require(_ context.Context, id ident.JobID, _ map[ident.VertexID]execgraph.Bounds) error {
	return &dispatcher.NotFoundError{Job: id}
}

func (j oneJob) Job(_ context.Context, id ident.JobID) (execgraph.View, error) {
	if id != j.view.Job {
		return execgraph.View{}, &dispatcher.NotFoundError{Job: id}
	}
	return j.view, nil
}

func (j oneJob) Jobs(context.Context) ([]execgraph.View, error) { return []execgraph.View{j.view}, nil }

// noTaskManagers is a ResourceManager of none.
type noTaskManagers struct{}

func (noTaskManagers) TaskManagers(context.Context) ([]resourcemanager.View, error) { return nil, nil }
