package rest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shared finds a folder of the reference material that lies beside the module.
// A checkout without it cannot be compared with anything.
func shared(t *testing.T, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
	found := filepath.Join(dir, "..", "shared", path)
	if _, err := os.Stat(found); err != nil {
		t.Skipf("the recordings of a genuine Flink are not here (%v): nothing to compare with", err)
	}
	return found
}

// A recording is one request to a genuine Flink and its answer.
type recording struct {
	Name    string `json:"name"`
	Request struct {
		Method string         `json:"method"`
		Path   string         `json:"path"`
		Query  string         `json:"query"`
		Body   jsontext.Value `json:"body"`
	} `json:"request"`
	Response struct {
		Status int            `json:"status"`
		Kind   string         `json:"body_kind"`
		Body   jsontext.Value `json:"body"`
	} `json:"response"`
}

func recordings(t *testing.T) []recording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared(t, "golden/rest"), "*.http.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := make([]recording, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &all[i], jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return all
}

// situations are the recorded ones and which job of a world is in the same.
var situations = []struct {
	prefix string
	job    string
}{
	{"empty-", ""}, {"idle-", ""}, {"idle2-", ""},
	{"stream-running-", running.String()}, {"jar2-stream-running-", running.String()}, {"jar-backpressure-", running.String()},
	{"batch-finished-", batch.String()}, {"jar2-accum-finished-", finished.String()},
	{"failed-stream-", failed.String()}, {"failed-batch-", failed.String()}, {"jar-failed-", failed.String()},
	{"canceled-", cancelled.String()}, {"scheduled-", scheduled.String()},
	{"streamop-finished-", finished.String()}, {"webdisabled-", ""}, {"err-", ""},
}

// notServed are Flink's paths that this version answers as unknown.
var notServed = []string{
	"DELETE /datasets/:id", "GET /datasets/delete/:id",
	"POST /jars/:id/run-application", "GET /jobmanager/profiler", "POST /jobmanager/profiler",
	"GET /jobs/:id/checkpoints/:id", "POST /jobs/:id/checkpoints", "PATCH /jobs/:id/clientHeartbeat",
	"GET /jobs/:id/rescales/config", "GET /jobs/:id/rescales/history", "GET /jobs/:id/rescales/overview", "GET /jobs/:id/rescales/summary",
	"PATCH /jobs/:id/rescaling", "GET /jobs/:id/rescaling/:id", "GET /jobs/:id/resource-requirements", "PUT /jobs/:id/resource-requirements",
	"GET /jobs/:id/savepoints/:id", "POST /jobs/:id/savepoints", "POST /jobs/:id/stop", "GET /jobs/:id/yarn-stop",
	"GET /jobs/:id/checkpoints/details/:id/subtasks/:id",
	"POST /savepoint-disposal", "GET /savepoint-disposal/:id",
	"GET /taskmanagers/:id/profiler", "GET /taskmanagers/:id/thread-dump",
}

var (
	anyID     = regexp.MustCompile(`^([0-9a-fA-F]{32}|zz|localhost:[0-9]+-.*|[0-9a-f-]{36}_.*|[A-Za-z]+\.jar|[0-9]+)$`)
	jobInPath = regexp.MustCompile(`/jobs/[0-9a-f]{32}`)
	vertexAt  = regexp.MustCompile(`/vertices/[0-9a-f]{32}`)
	appAt     = regexp.MustCompile(`/applications/[0-9a-f]{32}`)
	managerAt = regexp.MustCompile(`/taskmanagers/localhost:[^/?]+`)
	vertexNo  = regexp.MustCompile(`-v([0-9])-`)
)

// pathPattern puts :id in the place of what varies.
func pathPattern(method, path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/v1"), "/")
	for i, p := range parts {
		if anyID.MatchString(p) {
			parts[i] = ":id"
		}
	}
	return method + " " + strings.Join(parts, "/")
}

// target is the recorded request, aimed at the same things in a world.
func target(r recording, job string) string {
	path := r.Request.Path
	if job != "" && !strings.Contains(r.Name, "unknown") {
		path = vertexAt.ReplaceAllStringFunc(path, func(string) string {
			n := byte(1)
			if m := vertexNo.FindStringSubmatch(r.Name); m != nil {
				i, _ := strconv.Atoi(m[1])
				n = byte(min(i, 1) + 1)
			}
			return "/vertices/" + vertexID(n).String()
		})
	}
	if job != "" {
		path = appAt.ReplaceAllString(path, "/applications/"+job)
		path = jobInPath.ReplaceAllString(path, "/jobs/"+job)
	}
	if !strings.HasPrefix(r.Name, "err-") {
		path = managerAt.ReplaceAllString(path, "/taskmanagers/"+manager)
	}
	if r.Request.Query != "" {
		path += "?" + r.Request.Query
	}
	return path
}

// body is the recorded body as it was sent; false: it is only described.
func (r recording) body(t *testing.T) (string, bool) {
	switch r.Request.Body.Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(r.Request.Body, &text); err != nil {
			t.Fatal(err)
		}
		return text, !strings.HasPrefix(text, "multipart") && !strings.HasPrefix(text, "<")
	case 'n', 0:
		return "", true
	}
	return string(r.Request.Body), true
}

// TestShapes asks what was asked of a genuine Flink, in the same situation,
// and compares status, fields, their order and types; of errors, the text.
func TestShapes(t *testing.T) {
	all := recordings(t)
	compared, unserved := 0, map[string]bool{}
	for _, sit := range situations {
		w := newWorld()
		if sit.prefix == "webdisabled-" {
			w.config["web.submit.enable"], w.config["web.cancel.enable"] = "false", "false"
		}
		s := w.server(t)
		for _, r := range all {
			if !strings.HasPrefix(r.Name, sit.prefix) || r.Name == "empty-root" {
				continue
			}
			path := target(r, sit.job)
			body, sendable := r.body(t)
			pattern := pathPattern(r.Request.Method, r.Request.Path)
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
			compare(t, r, path, got.Code, got.Body.String())
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

func compare(t *testing.T, r recording, path string, status int, body string) {
	t.Helper()
	complain := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s %s: "+format, append([]any{r.Name, r.Request.Method, path}, args...)...)
	}
	switch recorded := r.Response.Status; {
	case recorded == 500 && status >= 400 && status < 500:
		return // better
	case recorded != status:
		complain("status %d, %d in the recording; ours: %.200s", status, recorded, body)
		return
	}
	if r.Response.Kind != "json" {
		return
	}
	ours, err := parse(body)
	if err != nil {
		complain("%v", err)
		return
	}
	recorded, err := parse(string(r.Response.Body))
	if err != nil {
		t.Fatal(r.Name, err)
	}
	shape(recorded, ours, "$", "", complain)
	if recorded.kind == "object" && recorded.fields["errors"] != nil {
		if len(ours.keys) != 1 {
			complain("an error has the fields %v, it must have only errors", ours.keys)
			return
		}
		want, got := firstLine(recorded), firstLine(ours)
		if want != got {
			complain("text %q, in the recording %q", got, want)
		}
		if cause := rootCause(recorded); cause != rootCause(ours) && strings.HasPrefix(cause, "org.apache.flink.runtime.") {
			complain("cause %q, in the recording %q", rootCause(ours), cause)
		}
	}
}

var varying = regexp.MustCompile(`localhost:\d+|/tmp/\S+|[0-9a-f]{32}|[0-9a-f-]{36}`)

func firstLine(n *node) string {
	if len(n.fields["errors"].items) == 0 {
		return ""
	}
	line, _, _ := strings.Cut(n.fields["errors"].items[0].text, "\n")
	return varying.ReplaceAllString(line, "*")
}

// rootCause is the last cause that is told.
func rootCause(n *node) string {
	cause := ""
	for _, item := range n.fields["errors"].items {
		for line := range strings.SplitSeq(item.text, "\n") {
			if text, ok := strings.CutPrefix(line, "Caused by: "); ok {
				cause = varying.ReplaceAllString(text, "*")
			}
		}
	}
	return cause
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
}

// differs says why a recording is not compared; "": it is.
func differs(name string) string {
	switch {
	case strings.Contains(name, "-logs-file-log"), strings.Contains(name, "-logs-file-out"), name == "empty-jobmanager-logs-file":
		return "names a log file of that machine"
	}
	return different[name]
}
