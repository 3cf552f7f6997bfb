package rest

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// Archives is what a history server asks of the archives of jobs, from any
// goroutine.
type Archives interface {
	// Lists gives what each archive has at a path that lists jobs or
	// applications, those that ended last first. An archive without the path
	// is left out.
	Lists(ctx context.Context, path string) []jsontext.Value
	// Find gives what the archive of a job has at a path; nil when it has
	// nothing there. It fails with a *dispatcher.NotFoundError when there is no
	// archive of the job.
	Find(ctx context.Context, job ident.JobID, path string) (jsontext.Value, error)
}

// NewHistory makes a server of the API that answers from archives: what it says
// of a job is what the cluster said when the job had ended. Of o only Config,
// Fallback, Version, Commit, Built, Now and Logger are used.
func NewHistory(o Options, archives Archives) *Server {
	o.Jobs, o.TaskManagers, o.Programs, o.Planner = nil, nil, nil, nil
	s := New(o)
	h := &history{server: s, archives: archives}
	s.routes = []route{
		get("/config", h.dashboard),
		get("/overview", h.overview),
		get("/jobs", h.jobs),
		get(jobsOverviewPath, func(r *request) (answer, error) { return h.list(r, jobsOverviewPath, "jobs") }),
		get(applicationsPath, func(r *request) (answer, error) { return h.list(r, applicationsPath, "applications") }),
	}
	for _, pattern := range archivedPaths {
		s.routes = append(s.routes, get(pattern, h.archived))
	}
	return s
}

// history answers from archives.
type history struct {
	server   *Server
	archives Archives
}

// dashboard is what the web interface asks first.
func (h *history) dashboard(r *request) (answer, error) {
	a, err := h.server.dashboard(r)
	if body, ok := a.body.(dashboardInfo); ok {
		body.Refresh = config.HistoryServerWebRefreshInterval.In(h.server.Config).Milliseconds()
		body.Features = features{History: true}
		a.body = body
	}
	return a, err
}

// entries gives the items of a list that every archive has its own of.
func (h *history) entries(r *request, path, field string) []jsontext.Value {
	all := []jsontext.Value{}
	for _, text := range h.archives.Lists(r.Context(), path) {
		var list map[string]jsontext.Value
		var items []jsontext.Value
		if json.Unmarshal(text, &list, jsontext.AllowDuplicateNames(true)) == nil && json.Unmarshal(list[field], &items) == nil {
			all = append(all, items...)
		}
	}
	return all
}

func (h *history) list(r *request, path, field string) (answer, error) {
	return ok(map[string][]jsontext.Value{field: h.entries(r, path, field)})
}

// archivedJob is what is read of a job in the list of jobs.
type archivedJob struct {
	ID    ident.JobID `json:"jid"`
	State string      `json:"state"`
}

func (h *history) known(r *request) []archivedJob {
	var all []archivedJob
	for _, text := range h.entries(r, jobsOverviewPath, "jobs") {
		var j archivedJob
		if json.Unmarshal(text, &j, jsontext.AllowDuplicateNames(true)) == nil {
			all = append(all, j)
		}
	}
	return all
}

func (h *history) jobs(r *request) (answer, error) {
	type one struct {
		ID     ident.JobID `json:"id"`
		Status string      `json:"status"`
	}
	all := []one{}
	for _, j := range h.known(r) {
		all = append(all, one{j.ID, j.State})
	}
	return ok(struct {
		Jobs []one `json:"jobs"`
	}{all})
}

// overview counts the archived jobs: there is no TaskManager here.
func (h *history) overview(r *request) (answer, error) {
	o := clusterOverview{Version: FlinkVersion, Commit: h.server.commit(), Weir: h.server.Version}
	for _, j := range h.known(r) {
		state, _ := status.ParseJob(j.State)
		o.count(state)
	}
	return ok(o)
}

// archived gives what the archive has at the path. A body that is only errors
// was refused when the job was archived, and is again.
func (h *history) archived(r *request) (answer, error) {
	id, err := r.archivedID()
	if err != nil {
		return answer{}, err
	}
	text, err := h.archives.Find(r.Context(), id, r.archivedPath(id))
	if _, application := r.params["applicationid"]; application {
		err = noApplication(id, err)
	}
	if err != nil {
		return answer{}, err
	}
	if text == nil {
		return answer{}, h.nothingAt(r, id)
	}
	if bytes.HasPrefix(text, []byte(`{"errors":`)) {
		var refused errorBody
		if json.Unmarshal(text, &refused, json.RejectUnknownMembers(true)) == nil {
			return answer{}, fail(http.StatusNotFound, strings.Join(refused.Errors, "\n"))
		}
	}
	return ok(text)
}

// archivedID reads the job or application that the path names.
func (r *request) archivedID() (ident.JobID, error) {
	if _, application := r.params["applicationid"]; application {
		return r.applicationID()
	}
	id, err := r.jobID()
	if err == nil && r.params["vertexid"] != "" {
		_, err = r.vertexID()
	}
	for _, name := range []string{"subtaskindex", "attempt"} {
		if err == nil && r.params[name] != "" {
			_, err = r.number(name)
		}
	}
	if err == nil && r.params["checkpointid"] != "" {
		_, err = r.checkpointID()
	}
	return id, err
}

// archivedPath is the path as archives have it, with identifiers in lower case.
func (r *request) archivedPath(id ident.JobID) string {
	parts, _ := segments(r.URL)
	for i := range parts {
		if i > 0 && (parts[i-1] == "vertices" || parts[i-1] == "subtasks" || i == 1) {
			parts[i] = strings.ToLower(parts[i])
		}
	}
	parts[1] = id.String()
	return "/" + strings.Join(parts, "/")
}

// nothingAt says what is missing of a job that has an archive, as the cluster
// would.
func (h *history) nothingAt(r *request, job ident.JobID) error {
	noFile := fail(http.StatusNotFound, "Unable to load requested file "+clip(r.URL.Path)+".")
	vertex, err := r.vertexID()
	if err != nil {
		return noFile
	}
	path := "/jobs/" + job.String() + "/vertices/" + vertex.String()
	has := func(path string) bool {
		text, err := h.archives.Find(r.Context(), job, path)
		return err == nil && text != nil
	}
	asked, subtask := r.archivedPath(job), r.params["subtaskindex"]
	switch {
	case !has(path) && (asked == path || asked == path+"/taskmanagers"):
		return noJobVertex(vertex)
	case !has(path):
		return noVertex(vertex)
	case subtask == "":
		return noFile
	case !has(path + "/subtasks/" + subtask):
		return fail(http.StatusNotFound, restException+fmt.Sprintf("Invalid subtask index for vertex %s", vertex))
	}
	return fail(http.StatusNotFound, restException+"Invalid attempt num "+clip(r.params["attempt"]))
}
