package recorded

import (
	"encoding/json/jsontext"
	"strings"
	"testing"
)

// answered makes a recording of a GET.
func answered(path string, status int, body string) *Recording {
	r := &Recording{Name: "test"}
	r.Request.Method, r.Request.Path = "GET", path
	r.Response.Status, r.Response.Kind, r.Response.Body = status, "json", jsontext.Value(body)
	return r
}

func TestDifferences(t *testing.T) {
	const path = "/overview"
	for _, c := range []struct {
		recorded, ours string
		want           string // differences, joined; empty: none
	}{
		{`{"a":1}`, `{"a":2}`, ""},
		{`{"a":1}`, `{}`, "$.a: missing here"},
		{`{"a":1}`, `{"a":"1"}`, "$.a: int in the recording, string here"},
		{`{"a":1}`, `{"a":1.0}`, "$.a: int in the recording, float here"},
		{`{"a":1}`, `{"a":null}`, "$.a: int in the recording, null here"},
		{`{"a":null}`, `{"a":[1]}`, ""},
		{`{"a":"NaN"}`, `{"a":0.5}`, ""},
		{`{"a":"NaN"}`, `{"a":"x"}`, ""},
		{`{"a":1}`, `{"a":1,"b":2}`, "$.b: not in the recording, and not listed as ours"},
		{`{"a":1}`, `{"a":1,"weir-version":"x"}`, ""},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "$.b: stands at another place in the recording, which has [a b]; ours are [b a]"},
		{`{"timestamps":{"a":1,"b":2}}`, `{"timestamps":{"b":2,"a":1}}`, ""},
		{`{"timestamps":{"a":1,"b":2}}`, `{"timestamps":{"b":2}}`, "$.timestamps.a: missing here"},
		{`{"user-config":{"a":"x"}}`, `{"user-config":{"b":"y"}}`, ""},
		{`{"user-config":{"a":"x"}}`, `{"user-config":{"b":1}}`, "$.user-config.*: string in the recording, int here"},
		{`{"l":[{"a":1}]}`, `{"l":[]}`, "$.l: 1 items in the recording, none here"},
		{`{"l":[]}`, `{"l":[{"a":1}]}`, ""},
		{`{"l":[{"a":1},{"a":1,"b":{"c":1}}]}`, `{"l":[{"a":1,"b":{"c":2}},{"a":3}]}`, ""},
		{`{"l":[{"a":1},{"a":1,"b":{"c":1}}]}`, `{"l":[{"a":1,"b":{}}]}`, "$.l[].b: not in the recording, and not listed as ours"},
		{`{"errors":["no such job\n\tat X"]}`, `{"errors":["no such job"]}`, ""},
		{`{"errors":["no such job"]}`, `{"errors":["what?"]}`, `text "what?", in the recording "no such job"`},
	} {
		got := strings.Join(answered(path, 200, c.recorded).Differences(200, c.ours), "; ")
		if got != c.want {
			t.Errorf("%s in the recording, %s here: %q, want %q", c.recorded, c.ours, got, c.want)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct{ recorded, ours, differences int }{{200, 200, 0}, {200, 404, 1}, {404, 200, 1}, {500, 404, 0}, {500, 200, 1}} {
		if got := answered("/x", c.recorded, `{}`).Differences(c.ours, `{}`); len(got) != c.differences {
			t.Errorf("%d in the recording, %d here: %q", c.recorded, c.ours, got)
		}
	}
}

func TestTarget(t *testing.T) {
	const a, b = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	here := Things{Job: "JOB", Vertices: []string{"V0", "V1"}, TaskManager: "TM"}
	for _, c := range []struct{ name, path, query, want, pattern string }{
		{"x-v1-vertex", "/v1/jobs/" + a + "/vertices/" + b, "", "/v1/jobs/JOB/vertices/V1", "GET /jobs/:id/vertices/:id"},
		{"x-v7-subtasks-0", "/jobs/" + a + "/vertices/" + b + "/subtasks/0", "", "/jobs/JOB/vertices/V1/subtasks/0", "GET /jobs/:id/vertices/:id/subtasks/:id"},
		{"x-vertex-unknown", "/jobs/" + a + "/vertices/" + b, "", "/jobs/JOB/vertices/" + b, "GET /jobs/:id/vertices/:id"},
		{"x-app", "//applications/" + a + "/", "", "//applications/JOB/", "GET /applications/:id"},
		{"idle-m", "/taskmanagers/metrics", "get=a&taskmanagers=localhost:1-x", "/taskmanagers/metrics?get=a&taskmanagers=TM", "GET /taskmanagers/metrics"},
		{"err-m", "/taskmanagers/localhost:1-x", "", "/taskmanagers/localhost:1-x", "GET /taskmanagers/:id"},
	} {
		r := answered(c.path, 200, `{}`)
		r.Name, r.Request.Query = c.name, c.query
		if got := r.Target(here); got != c.want || r.Pattern() != c.pattern {
			t.Errorf("%s: %q (%s), want %q (%s)", c.name, got, r.Pattern(), c.want, c.pattern)
		}
	}
}
