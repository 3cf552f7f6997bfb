package rest

import (
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

// undecidedView is a batch job that runs and whose second vertex has no subtasks
// yet.
func undecidedView() execgraph.View {
	v := viewOf(running, status.JobRunning, 5, status.Running)
	v.Plan.Batch = true
	v.Plan.Vertices[0].Produces[0].Type = jobgraph.Blocking
	for _, vertex := range v.Plan.Vertices {
		vertex.Parallelism = 0
	}
	v.Vertices[0].Why, v.Vertices[0].Splits = "30 B in 1 split to read", &execgraph.Splits{Count: 1, Bytes: 30}
	v.Vertices[1] = &execgraph.VertexView{ID: v.Vertices[1].ID, Name: v.Vertices[1].Name, MaxParallelism: 128, Status: status.Created}
	return v
}

// A vertex whose parallelism is not decided is shown with -1, and everything that
// can be asked of it has an answer.
func TestUndecidedParallelism(t *testing.T) {
	w := newWorld()
	w.jobs.views = []execgraph.View{undecidedView()}
	s := w.server(t)
	job := "/jobs/" + running.String()
	body := ask(t, s, "GET", job, "").Body.String()
	for _, want := range []string{
		`"schedulerType":"AdaptiveBatch"`, `"maxParallelism":128,"parallelism":-1,"status":"CREATED","start-time":-1`,
		`"parallelismReason":"30 B in 1 split to read","splits":{"count":1,"bytes":30}}`, `"parallelismReason":""}`,
		`"parallelism":2,"operator_strategy"`, `"parallelism":-1,"operator_strategy"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in %s", want, body)
		}
	}
	if body := ask(t, s, "GET", job+"/plan", "").Body.String(); !strings.Contains(body, `"parallelism":-1`) {
		t.Errorf("the plan: %s", body)
	}
	vertex := job + "/vertices/" + vertexID(2).String()
	for _, path := range []string{
		"", "/subtasktimes", "/taskmanagers", "/accumulators", "/subtasks/accumulators", "/watermarks", "/backpressure",
		"/metrics", "/subtasks/metrics", "/subtasks/0", "/subtasks/0/attempts/0", "/subtasks/0/metrics",
	} {
		w := ask(t, s, "GET", vertex+path, "")
		missing := strings.Contains(path, "/subtasks/0")
		if w.Code != 200 && !(missing && w.Code == 404) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
