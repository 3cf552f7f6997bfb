package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/testkit/recorded"
)

// TestBadInput sends what should not be sent: what it is, status, text; then
// the next good request works. An error is an object with only errors.
func TestBadInput(t *testing.T) {
	s := newWorld().server(t)
	jar := uploaded(t, s)
	job, vertex := "/jobs/"+running.String(), "/jobs/"+running.String()+"/vertices/"+vertexID(1).String()
	run := "/jars/" + jar + "/run"
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for _, c := range []struct {
		method, target, body string
		status               int
		text                 string
	}{
		{"GET", "/foo", "", 404, "Unable to load requested file /foo."},
		{"GET", "/v2/overview", "", 404, "Unable to load requested file /v2/overview."},
		{"GET", "/v1/v1/overview", "", 404, "Unable to load requested file"},
		{"GET", "/", "", 404, "Unable to load requested file /."},
		{"POST", "/foo", "{}", 404, "Not found: /foo"},
		{"DELETE", job, "", 404, "Not found: " + job},
		{"PUT", "/jobs", "", 404, "Not found: /jobs"},
		{"TRACE", "/overview", "", 404, "Not found: /overview"},
		{"BREW", "/overview", "", 404, "Not found: /overview"},
		{"GET", "/jars/upload", "", 404, "Unable to load requested file /jars/upload."},
		{"HEAD", job + "/yarn-cancel", "", 404, ""},
		{"GET", "/jobs/xyz", "", 400, `Cannot resolve path parameter (jobid) from value \"xyz\".`},
		{"GET", "/jobs/%00", "", 400, "Cannot resolve path parameter (jobid)"},
		{"GET", "/jobs/" + strings.Repeat("a", 5000), "", 400, "…"},
		{"GET", "/jobs/%ff%fe", "", 400, "Cannot resolve path parameter (jobid)"},
		{"GET", job + "/vertices/zz", "", 400, "Cannot resolve path parameter (vertexid)"},
		{"GET", vertex + "/subtasks/-1", "", 400, "Cannot resolve path parameter (subtaskindex)"},
		{"GET", vertex + "/subtasks/99999999999999999999", "", 400, "Cannot resolve path parameter (subtaskindex)"},
		{"GET", vertex + "/subtasks/7", "", 404, "Invalid subtask index for vertex"},
		{"GET", vertex + "/subtasks/0/attempts/7", "", 404, "Invalid attempt num 7"},
		{"GET", job + "/exceptions?maxExceptions=x", "", 400, "Cannot resolve query parameter (maxExceptions)"},
		{"GET", job + "/exceptions?maxExceptions=-1", "", 400, "maxExceptions is -1; it must be at least 0"},
		{"GET", job + "/exceptions?failureLabelFilter=x", "", 400, "Cannot resolve query parameter (failureLabelFilter)"},
		{"GET", "/overview?a=%zz", "", 400, "could not parse parameters"},
		{"PATCH", job + "?mode=frob", "", 400, `Cannot resolve query parameter (mode) from value \"frob\".`},
		{"PATCH", job + "?mode=stop", "", 308, `has been removed`},
		{"PATCH", "/jobs/" + id(99).String(), "", 404, "Job could not be found."},
		{"PATCH", "/jobs/" + failed.String(), "", 409, "already reached another terminal state (FAILED)"},
		{"GET", "/overview", `{"a":`, 400, "Request did not match expected format EmptyRequestBody."},
		{"GET", "/overview", `[]`, 400, "EmptyRequestBody"},
		{"GET", "/overview", `"x"`, 400, "EmptyRequestBody"},
		{"GET", "/overview", `{} {}`, 400, "EmptyRequestBody"},
		{"GET", "/overview", deep, 400, "EmptyRequestBody"},
		{"GET", "/overview", "\x00\xff", 400, "EmptyRequestBody"},
		{"POST", "/jobs", "\xac\xed\x00\x05", 400, "This cluster runs Go jobs; JVM job graphs cannot be executed."},
		{"GET", "/jobmanager/logs/nope.log", "", 404, "This file does not exist in JobManager log dir."},
		{"GET", "/jobmanager/logs/..%2fconf%2fconfig.yaml", "", 404, "Unable to load requested file"},
		{"GET", "/jobmanager/logs/..", "", 404, "This file does not exist in JobManager log dir."},
		{"GET", "/jobmanager/logs/.", "", 404, "This file does not exist in JobManager log dir."},
		{"GET", "/jobmanager/logs/%2e%2e", "", 404, "This file does not exist in JobManager log dir."},
		{"GET", "/taskmanagers/nobody", "", 404, "No TaskExecutor registered under nobody."},
		{"GET", "/taskmanagers/nobody/log", "", 404, "because it was unknown"},
		{"DELETE", "/jars/nope.jar", "", 400, "File nope.jar does not exist in"},
		{"DELETE", "/jars/..", "", 400, "File .. does not exist in"},
		{"POST", "/jars/nope.jar/run", "{}", 404, "Jar file"},
		{"POST", run, `{"x":`, 400, "JarRunRequestBody"},
		{"POST", run, `{"parallelism":"many"}`, 400, `parallelism is \"many\"; allowed is a whole number.`},
		{"POST", run, `{"parallelism":1.5}`, 400, "parallelism is 1.5; allowed is a whole number."},
		{"POST", run, `{"parallelism":99999999999}`, 400, "parallelism is 99999999999; allowed is a whole number."},
		{"POST", run, `{"parallelism":[1]}`, 400, "JarRunRequestBody"},
		{"POST", run, `{"parallelism": [1]}`, 400, "parallelism is [1]; allowed is a whole number."},
		{"POST", run, `{"allowNonRestoredState":"perhaps"}`, 400, "allowed is true or false."},
		{"POST", run, `{"programArgsList":["a", {"b":1}]}`, 400, "programArgsList.1 is {\\\"b\\\":1}; allowed is a text."},
		{"POST", run, `{"programArgsList":1}`, 400, "programArgsList is 1; allowed is a list, each of whose elements is a text."},
		{"POST", run, `{"flinkConfiguration":{"rest.port":1}}`, 400, "flinkConfiguration.rest.port is 1; allowed is a text."},
		{"POST", run, `{"parallelism":`, 400, "The body is no JSON: unexpected EOF after byte "},
		{"POST", run, `{"parallelism":0}`, 400, "Parallelism must be at least one"},
		{"POST", run, `{"programArgsList":"a"}`, 400, "JarRunRequestBody"},
		{"POST", run, `{"programArgsList":["a\u0000"]}`, 400, "holds a zero byte"},
		{"POST", run, `{"programArgs":"'a"}`, 400, "a quote is not closed"},
		{"POST", run, `{"jobId":"zz"}`, 400, "JarRunRequestBody"},
		{"POST", run, `{"jobId":7}`, 400, "JarRunRequestBody"},
		{"POST", run, `{"allowNonRestoredState":"perhaps"}`, 400, "allowed is true or false."},
		{"POST", run, `{"savepointPath":"relative"}`, 400, "execution.state-recovery.path"},
		{"POST", run, `{"claimMode":"LEGACY"}`, 400, "claimMode is LEGACY, in which nobody owns the savepoint; allowed are CLAIM, NO_CLAIM."},
		{"POST", run + "?allowNonRestoredState=perhaps", "", 400, "Cannot resolve query parameter (allowNonRestoredState)"},
		{"POST", run, `{"flinkConfiguration":{"paralelism.default":"1"}}`, 400, "parallelism.default"},
		{"POST", run, `{"flinkConfiguration":{"parallelism.default":"x"}}`, 400, "parallelism.default"},
		{"POST", run, `{"programArgsList":["panic"]}`, 400, "panic: boom"},
		{"POST", run, `{"programArgsList":["exit"]}`, 400, "bad args (exit status 3)"},
		{"POST", run, `{"programArgsList":["no job"]}`, 400, "No jobs included in application."},
	} {
		t.Run(fmt.Sprintf("%s %.60s %.40q", c.method, c.target, c.body), func(t *testing.T) {
			w := ask(t, s, c.method, c.target, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
				t.Errorf("%d %.400s, want %d %s", w.Code, w.Body, c.status, c.text)
			}
			n, err := recorded.Parse(w.Body.String())
			if err != nil || len(n.Keys) != 1 || n.Keys[0] != "errors" || len(n.Fields["errors"].Items) != 1 {
				t.Errorf("the body is no list of one error: %.200s", w.Body)
			}
			if w := ask(t, s, "GET", "/overview", ""); w.Code != 200 {
				t.Errorf("the next good request: %d %s", w.Code, w.Body)
			}
		})
	}
	if n := len(s.Jobs.(*jobs).submitted); n != 0 {
		t.Errorf("%d jobs were submitted", n)
	}
}

// TestTolerated sends what looks odd and is right.
func TestTolerated(t *testing.T) {
	s := newWorld().server(t)
	for _, c := range []struct {
		method, target, body string
		status               int
	}{
		{"GET", "/overview/", "", 200},
		{"GET", "//overview", "", 200},
		{"GET", "/v1//overview//", "", 200},
		{"GET", "/overview?foo=bar", "", 200},
		{"GET", "/overview", "{}", 200},
		{"GET", "/overview", " \n", 200},
		{"GET", "/overview", `{"a":1,"a":2}`, 200},
		{"HEAD", "/overview", "", 200},
		{"GET", "/jobs/" + strings.ToUpper(running.String()), "", 200},
		{"PATCH", "/jobs/" + running.String(), "", 202},
		{"PATCH", "/jobs/" + running.String() + "?mode=CANCEL", "{}", 202},
		{"PATCH", "/jobs/" + cancelled.String() + "?mode=cancel", "", 202},
		{"GET", "/jobs/" + running.String() + "/yarn-cancel", "", 202},
		{"POST", "/applications/" + running.String() + "/cancel", "", 202},
		{"GET", "/jobs/" + failed.String() + "/exceptions?maxExceptions=0", "", 200},
		{"GET", "/jobs/" + failed.String() + "/exceptions?failureLabelFilter=a:b", "", 200},
	} {
		if w := ask(t, s, c.method, c.target, c.body); w.Code != c.status || !strings.HasPrefix(w.Body.String(), "{") {
			t.Errorf("%s %s: %d %.200s", c.method, c.target, w.Code, w.Body)
		}
	}
	w := ask(t, s, "OPTIONS", "/jobs/"+running.String(), "")
	if w.Code != 204 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS, PATCH" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("OPTIONS: %d %v", w.Code, w.Header())
	}
	if w := ask(t, s, "OPTIONS", "/foo", ""); w.Code != 404 {
		t.Errorf("OPTIONS of an unknown path: %d", w.Code)
	}
}

// TestOwnFaults breaks what is behind the server. Nothing of it may end the
// process; that the JobManager ends is no fault.
func TestOwnFaults(t *testing.T) {
	w := newWorld()
	s := w.server(t)
	w.jobs.err = actor.ErrStopped
	if got := ask(t, s, "GET", "/jobs", ""); got.Code != 503 || !strings.Contains(got.Body.String(), "Service temporarily unavailable") {
		t.Errorf("ended: %d %s", got.Code, got.Body)
	}
	w.jobs.err = errors.New("out of order")
	if got := ask(t, s, "GET", "/jobs", ""); got.Code != 500 || got.Body.String() != `{"errors":["Internal server error.","out of order"]}` {
		t.Errorf("failed: %d %s", got.Code, got.Body)
	}
	w.jobs.err = nil
	s.routes = append(s.routes, get("/panic", func(*request) (answer, error) { panic("out of mind") }))
	if got := ask(t, s, "GET", "/panic", ""); got.Code != 500 || !strings.Contains(got.Body.String(), "Internal server error.") {
		t.Errorf("panicked: %d %s", got.Code, got.Body)
	}
	if got := ask(t, s, "GET", "/jobs", ""); got.Code != 200 {
		t.Errorf("after all: %d %s", got.Code, got.Body)
	}
}

// FuzzRequest looks for a request that is answered with 500 or with something
// else than JSON, text of a log, or nothing.
func FuzzRequest(f *testing.F) {
	s := newWorld().server(f)
	for _, r := range s.routes {
		f.Add(r.method, fill(r.pattern, running.String()), "")
	}
	f.Add("GET", "/jobs/%2e%2e/..//overview?mode=cancel&maxExceptions=9", `{"a":[1,"x",null]}`)
	f.Add("POST", "/jars/x/run?parallelism=-1&programArg=a,b&program-args='x", `{"parallelism":"1","jobId":"zz"}`)
	f.Add("PATCH", "/jobs/"+running.String()+"?mode=", "{")
	f.Fuzz(func(t *testing.T, method, target, body string) {
		r, err := http.NewRequest(method, "http://localhost/", strings.NewReader(body))
		if err != nil {
			return
		}
		u, err := r.URL.Parse(target)
		if err != nil {
			return
		}
		r.URL = u
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code == 500 {
			t.Errorf("%s %q %q: %s", method, target, body, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			if _, err := recorded.Parse(w.Body.String()); err != nil {
				t.Errorf("%s %q: %v", method, target, err)
			}
		}
	})
}
