package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/testkit/recorded"
)

// situations are the recorded ones and which job of a world is in the same.
var situations = []struct{ prefix, job string }{
	{"empty-", ""}, {"idle-", ""}, {"idle2-", ""},
	{"stream-running-", running.String()}, {"jar2-stream-running-", running.String()}, {"jar-backpressure-", running.String()},
	{"batch-finished-", batch.String()}, {"jar2-accum-finished-", finished.String()},
	{"failed-stream-", failed.String()}, {"failed-batch-", failed.String()}, {"jar-failed-", failed.String()},
	{"canceled-", cancelled.String()}, {"scheduled-", scheduled.String()},
	{"streamop-finished-", finished.String()}, {"webdisabled-", ""}, {"err-", ""},
	{"streamop-savepoint-", running.String()}, {"streamop-checkpoint-trigger-", running.String()}, {"streamop-stop", running.String()},
	{"streamop-yarn-stop", running.String()}, {"drain-", running.String()}, {"spcancel-", running.String()}, {"savepoint-disposal", ""},
	{"nockpt-savepoint", running.String()}, {"nockpt-checkpoint-trigger", running.String()},
}

// adaptiveSituations are those of a job whose parallelism follows the slots there are,
// which has a world of its own.
var adaptiveSituations = []string{"adaptive-waiting-", "adaptive-running-", "adaptive-rescaled-", "adaptive-resreq", "adaptive-rescales-", "rescales2-"}

// notServed are Flink's paths that this version answers as unknown.
var notServed = []string{
	"DELETE /datasets/:id", "GET /datasets/delete/:id",
	"POST /jars/:id/run-application", "GET /jobmanager/profiler", "POST /jobmanager/profiler",
	"PATCH /jobs/:id/clientHeartbeat",
	"GET /taskmanagers/:id/profiler", "GET /taskmanagers/:id/thread-dump",
}

// TestShapes asks what was asked of a genuine Flink, in the same situation,
// and compares status, fields, their order and types; of errors, the text.
func TestShapes(t *testing.T) {
	all := recorded.Load(t)
	compared, unserved := 0, map[string]bool{}
	every := situations
	for _, prefix := range adaptiveSituations {
		every = append(every, struct{ prefix, job string }{prefix, adaptive.String()})
	}
	for _, sit := range every {
		w := newWorld()
		if sit.prefix == "webdisabled-" {
			w.config["web.submit.enable"], w.config["web.cancel.enable"] = "false", "false"
		}
		if sit.job == adaptive.String() {
			w.jobs.views = []execgraph.View{adaptiveView(sit.prefix)}
			w.config["jobmanager.scheduler"] = "adaptive"
		}
		s, begun := w.server(t), triggers{}
		for _, r := range all {
			if !strings.HasPrefix(r.Name, sit.prefix) || r.Name == "empty-root" {
				continue
			}
			path := begun.aim(r.Target(things(sit.job)))
			s.operations.wait.Wait() // recorded clients asked until they had the result
			body, sendable := r.Body(t)
			pattern := r.Pattern()
			if !sendable || differs(r.Name) != "" {
				continue
			}
			got := ask(t, s, r.Request.Method, path, body)
			if slices.Contains(notServed, pattern) {
				unserved[pattern] = true
				if got.Code != 404 {
					t.Errorf("%s %s is listed as not served and answers %d", r.Name, path, got.Code)
				}
				continue
			}
			compared++
			begun.note(r, got.Body.String())
			told(t, r, path, got.Code, got.Body.String())
		}
	}
	t.Logf("%d recordings compared", compared)
	if compared < 500 {
		t.Errorf("only %d recordings were compared", compared)
	}
	for _, pattern := range notServed {
		if !unserved[pattern] {
			t.Logf("no recording asks for %s", pattern)
		}
	}
}

// triggers are the operations that recorded requests began, and what their ids
// are here.
type triggers map[string]string

// aim makes a request for a recorded operation one for ours.
func (g triggers) aim(path string) string {
	for recorded, ours := range g {
		path = strings.Replace(path, recorded, ours, 1)
	}
	return path
}

// note remembers the operation that was begun, if one was.
func (g triggers) note(r *recorded.Recording, body string) {
	if r.Request.Method != "POST" || r.Response.Kind != "json" {
		return
	}
	theirs, err := recorded.Parse(string(r.Response.Body))
	if err != nil || theirs.Fields["request-id"] == nil {
		return
	}
	if ours, err := recorded.Parse(body); err == nil && ours.Fields["request-id"] != nil {
		g[theirs.Fields["request-id"].Text] = ours.Fields["request-id"].Text
	}
}

// things are those of a world that recorded requests are aimed at.
func things(job string) recorded.Things {
	vertices := []ident.VertexID{vertexID(1), vertexID(2)}
	if job == adaptive.String() {
		vertices = adaptiveVertices()
	}
	return recorded.Things{Job: job, Vertices: []string{vertices[0].String(), vertices[1].String()}, TaskManager: manager}
}

// told complains of each difference.
func told(t *testing.T, r *recorded.Recording, asked string, status int, body string) {
	t.Helper()
	for _, difference := range r.Differences(status, body) {
		t.Errorf("%s: %s: %s", r.Name, r.Pattern(), difference)
	}
}

// different are recordings that Weir deliberately answers otherwise, and why.
var different = map[string]string{
	"err-head-overview":         "HEAD is answered as GET",
	"err-options-overview":      "OPTIONS tells the methods",
	"err-options-overview-cors": "OPTIONS tells the methods",
	"err-jobs-post-json":        "a plan for a JVM is refused whatever it is",
	"batch-finished-job":        "the plan of a sized batch job has no stream graph here",
	"failed-batch-job":          "the plan of a sized batch job has no stream graph here",

	"failed-batch-checkpoints":              "the failed job of a world is a streaming job",
	"failed-batch-checkpoints-config":       "the failed job of a world is a streaming job",
	"scheduled-vertex-unknown-flamegraph":   "recorded with flame graphs enabled",
	"canceled-v0-backpressure-1":            "figures of a task that has ended are not kept",
	"canceled-v1-backpressure-1":            "figures of a task that has ended are not kept",
	"jar2-accum-finished-v0-backpressure-1": "no answer there is an accident of Flink's",
	"jar-backpressure-delete-jar-in-use":    "of another test's upload",
	"err-jar-delete-garbage":                "of another test's upload",
	"err-jar-delete-other":                  "of another test's upload",

	"streamop-savepoint-status-on-other-job": "a world has one job that runs",
	"savepoint-disposal-status":              "there is no such savepoint in a world; TestDisposal has one",
	"err-savepoint-disposal-unknown-trigger": "Flink's text names an object by its address",
}

// differs says why a recording is not compared; "": it is.
func differs(name string) string {
	switch {
	case strings.Contains(name, "-logs-file-log"), strings.Contains(name, "-logs-file-out"), name == "empty-jobmanager-logs-file":
		return "names a log file of that machine"
	}
	return different[name]
}
