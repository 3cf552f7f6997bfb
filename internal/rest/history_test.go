package rest

import (
	"context"
	"encoding/json/jsontext"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/testkit/recorded"
)

// notArchived are the paths of a job that a history server does not have, and why.
var notArchived = map[string]string{
	"/jobs/:jobid/yarn-cancel":                                       "a job that has ended cannot be cancelled",
	"/jobs/:jobid/yarn-stop":                                         "a job that has ended cannot be stopped",
	"/jobs/:jobid/savepoints/:triggerid":                             "an operation is of a job that runs",
	"/jobs/:jobid/checkpoints/:triggerid":                            "an operation is of a job that runs",
	"/jobs/:jobid/resource-requirements":                             "the parallelism is changed of what runs",
	"/jobs/:jobid/rescaling/:triggerid":                              "it is refused always",
	"/jobs/:jobid/metrics":                                           "metrics are of what runs",
	"/jobs/:jobid/jobmanager/log-url":                                "the processes may be gone",
	"/jobs/:jobid/taskmanagers/:taskmanagerid/log-url":               "the processes may be gone",
	"/jobs/:jobid/vertices/:vertexid/metrics":                        "metrics are of what runs",
	"/jobs/:jobid/vertices/:vertexid/jm-operator-metrics":            "metrics are of what runs",
	"/jobs/:jobid/vertices/:vertexid/subtasks/metrics":               "metrics are of what runs",
	"/jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex/metrics": "metrics are of what runs",
	"/jobs/:jobid/vertices/:vertexid/backpressure":                   "back-pressure is of what runs",
	"/jobs/:jobid/vertices/:vertexid/flamegraph":                     "a flame graph is of what runs",
}

func TestEveryPathOfAJobIsArchived(t *testing.T) {
	for _, r := range newWorld().server(t).routes {
		pattern := "/" + strings.Join(r.pattern, "/")
		if r.method != "GET" || !strings.Contains(pattern, ":jobid") && !strings.Contains(pattern, ":applicationid") {
			continue
		}
		if archived, excused := slices.Contains(archivedPaths, pattern), notArchived[pattern] != ""; archived == excused {
			t.Errorf("%s: archived %v, excused %v", pattern, archived, excused)
		}
	}
}

// archives are those of the jobs of a world that have ended.
type archives struct {
	jobs  []ident.JobID // the last one first
	paths map[ident.JobID]map[string]jsontext.Value
}

func archivesOf(t *testing.T, w *world) *archives {
	t.Helper()
	a := &archives{paths: map[ident.JobID]map[string]jsontext.Value{}}
	for _, v := range w.jobs.views {
		if !v.State.GloballyTerminal() {
			continue
		}
		entries, err := Archive(w.server(t).Options, v)
		if err != nil {
			t.Fatal(err)
		}
		a.jobs, a.paths[v.Job] = append(a.jobs, v.Job), map[string]jsontext.Value{}
		for _, e := range entries {
			a.paths[v.Job][e.Path] = e.JSON
		}
	}
	return a
}

func (a *archives) Lists(_ context.Context, path string) []jsontext.Value {
	var all []jsontext.Value
	for _, id := range a.jobs {
		all = append(all, a.paths[id][path])
	}
	return all
}

func (a *archives) Find(_ context.Context, id ident.JobID, path string) (jsontext.Value, error) {
	if a.paths[id] == nil {
		return nil, &dispatcher.NotFoundError{Job: id}
	}
	return a.paths[id][path], nil
}

// TestHistoryAnswersAsTheClusterDid asks a cluster and the archives of its jobs
// for everything there is to see of the jobs that have ended.
func TestHistoryAnswersAsTheClusterDid(t *testing.T) {
	w := newWorld()
	live := w.server(t)
	past := NewHistory(live.Options, archivesOf(t, w))
	asked := 0
	for _, v := range w.jobs.views {
		if !v.State.GloballyTerminal() {
			continue
		}
		for _, pattern := range archivedPaths {
			for _, path := range expand(pattern, &v) {
				asked++
				want, got := ask(t, live, "GET", path, ""), ask(t, past, "GET", path, "")
				if got.Code != want.Code || got.Body.String() != want.Body.String() {
					t.Errorf("%s: %d %s\nthe cluster said %d %s", path, got.Code, got.Body, want.Code, want.Body)
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d paths were asked", asked)
	}
}

func TestHistoryLists(t *testing.T) {
	w := newWorld()
	s := NewHistory(w.server(t).Options, archivesOf(t, w))
	want := []ident.JobID{cancelled, failed, finished, batch}
	for path, field := range map[string]string{"/jobs": `"id":`, "/jobs/overview": `"jid":`, "/v1/applications/overview": `"id":`} {
		text := ask(t, s, "GET", path, "").Body.String()
		for _, id := range want {
			at := strings.Index(text, field+`"`+id.String()+`"`)
			if at < 0 {
				t.Fatalf("%s: job %s is missing, or out of order, in %s", path, id, text)
			}
			text = text[at:]
		}
		if strings.Contains(text, running.String()) {
			t.Errorf("%s: a job that runs is listed", path)
		}
	}
	for path, want := range map[string]string{
		"/config":   `"features":{"web-submit":false,"web-cancel":false,"web-rescale":false,"web-history":true}`,
		"/overview": `{"taskmanagers":0,"slots-total":0,"slots-available":0,"jobs-running":0,"jobs-finished":2,"jobs-cancelled":1,"jobs-failed":1,`,
	} {
		if got := ask(t, s, "GET", path, "").Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestHistoryRefuses asks for what no archive has.
func TestHistoryRefuses(t *testing.T) {
	w := newWorld()
	s := NewHistory(w.server(t).Options, archivesOf(t, w))
	job := "/jobs/" + finished.String()
	for _, c := range []struct {
		method, path string
		code         int
		want         string
	}{
		{"GET", "/jobs/" + running.String(), 404, "Could not find Flink job (" + running.String() + ")"},
		{"GET", "/applications/" + running.String(), 404, "Could not find Flink application (" + running.String() + ")"},
		{"GET", "/jobs/zz", 400, `Cannot resolve path parameter (jobid) from value \"zz\".`},
		{"GET", job + "/vertices/zz", 400, `Cannot resolve path parameter (vertexid)`},
		{"GET", job + "/vertices/" + vertexID(9).String(), 404, "JobVertex " + vertexID(9).String() + " not found"},
		{"GET", job + "/vertices/" + vertexID(1).String() + "/subtasks/x", 400, "subtaskindex"},
		{"GET", job + "/vertices/" + vertexID(1).String() + "/subtasks/99", 404, "Invalid subtask index for vertex " + vertexID(1).String()},
		{"GET", job + "/vertices/" + vertexID(1).String() + "/subtasks/0/attempts/7", 404, "Invalid attempt num 7"},
		{"GET", job + "/metrics", 404, "Unable to load requested file"},
		{"PATCH", job, 404, "Not found: " + job},
		{"POST", "/jars/upload", 404, "Not found: /jars/upload"},
		{"GET", "/taskmanagers", 404, "Unable to load requested file /taskmanagers."},
	} {
		got := ask(t, s, c.method, c.path, "")
		if got.Code != c.code || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, got.Code, got.Body, c.code, c.want)
		}
	}
	upper := "/jobs/" + strings.ToUpper(finished.String()) + "/vertices/" + strings.ToUpper(vertexID(1).String())
	if got := ask(t, s, "GET", upper, ""); got.Code != 200 {
		t.Errorf("%s: %d %s", upper, got.Code, got.Body)
	}
}

// TestHistoryShapes compares what is answered from archives with what a genuine
// cluster said of jobs in the same state.
func TestHistoryShapes(t *testing.T) {
	w := newWorld()
	s := NewHistory(w.server(t).Options, archivesOf(t, w))
	compared := 0
	for _, r := range recorded.Load(t) {
		for _, sit := range situations {
			if sit.job == "" || !strings.HasPrefix(r.Name, sit.prefix) || r.Request.Method != "GET" || differs(r.Name) != "" {
				continue
			}
			path := r.Target(things(sit.job))
			if !strings.Contains(path, sit.job) || strings.Contains(path, "?") || strings.HasSuffix(path, "/metrics") || sit.job == running.String() || sit.job == scheduled.String() {
				continue
			}
			got := ask(t, s, "GET", path, "")
			if got.Code == 404 && strings.Contains(got.Body.String(), "Unable to load requested file") {
				continue // excused by notArchived, or not served at all
			}
			compared++
			told(t, r, path, got.Code, got.Body.String())
		}
	}
	t.Logf("%d recordings compared", compared)
	if compared < 80 {
		t.Errorf("only %d recordings were compared", compared)
	}
}
