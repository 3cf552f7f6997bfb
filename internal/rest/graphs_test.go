package rest

import (
	"errors"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/ident"
)

// TestGraphs submits a job as a graph, and asks a coordinator of it.
func TestGraphs(t *testing.T) {
	w := newWorld()
	s := w.server(t)
	g := wordCount(ident.JobID{})
	got := ask(t, s, "POST", "/weir/jobs", string(g.Encode()))
	if got.Code != 202 || !strings.HasPrefix(got.Body.String(), `{"jobid":"`) || len(w.jobs.submitted) != 1 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	job := w.jobs.submitted[0].Job
	operator := strings.Repeat("ab", 16)
	path := "/weir/jobs/" + job.String() + "/operators/" + operator
	if got = ask(t, s, "POST", path, "\x00\xff"); got.Code != 200 || got.Body.String() != operator+" \x00\xff" || got.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d %q", got.Code, got.Body)
	}
	w.jobs.refusal = errors.New("no operator has one that answers")
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/weir/jobs", "{", 400, "Request did not match expected format a job graph."},
		{"/weir/jobs", string(w.jobs.submitted[0].Encode()), 400, "has already been submitted"},
		{"/weir/jobs", `{"artifact":{"sha256":"ab"}}`, 400, "It names a program"},
		{path, "", 409, "no operator has one that answers"},
		{"/weir/jobs/" + strings.Repeat("0", 32) + "/operators/" + operator, "", 404, "not found"},
		{"/weir/jobs/" + job.String() + "/operators/x", "", 400, "Cannot resolve path parameter (operatorid)"},
		{"/weir/jobs/x/operators/" + operator, "", 400, "Cannot resolve path parameter (jobid)"},
	} {
		if got := ask(t, s, "POST", c.path, c.body); got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.path, c.body, got.Code, got.Body, c.status, c.want)
		}
	}
	w = newWorld()
	w.config["web.timeout"] = "1"
	w.jobs.silent = true
	path = "/weir/jobs/" + running.String() + "/operators/" + operator
	if got := ask(t, w.server(t), "POST", path, "x"); got.Code != 204 || got.Body.Len() != 0 {
		t.Errorf("no answer in time: %d %s", got.Code, got.Body)
	}
	w = newWorld()
	w.config["web.submit.enable"] = "false"
	if got := ask(t, w.server(t), "POST", "/weir/jobs", string(g.Encode())); got.Code != 404 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
