package rest

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/testkit/recorded"
)

// self is the test binary, a real program.
func self(t testing.TB) []byte {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A file is one part of a form.
type file struct {
	field, name string
	content     []byte
}

func form(t testing.TB, files ...file) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range files {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name=%q`, f.field)
		if f.name != "" {
			disposition += fmt.Sprintf(`; filename=%q`, f.name)
		}
		h.Set("Content-Disposition", disposition)
		part, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

func send(s *Server, target, contentType string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// uploaded puts the test binary into the server and gives its id.
func uploaded(t testing.TB, s *Server) string {
	t.Helper()
	kind, body := form(t, file{"jarfile", "job", self(t)})
	w := send(s, "/jars/upload", kind, body)
	var answer struct {
		Filename string `json:"filename"`
		Status   string `json:"status"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 || answer.Status != "success" {
		t.Fatalf("upload: %d %s", w.Code, w.Body)
	}
	return filepath.Base(answer.Filename)
}

// TestPrograms uploads, lists, plans, runs and deletes a program.
func TestPrograms(t *testing.T) {
	world := newWorld()
	s := world.server(t)
	jar := uploaded(t, s)

	list := ask(t, s, "GET", "/jars", "").Body.String()
	if !strings.Contains(list, `"address":"http://example.com","files":[{"id":"`+jar+`","name":"job","uploaded":`) || !strings.Contains(list, `"entry":[{"name":"main","description":null}]`) {
		t.Errorf("list %s", list)
	}
	for _, method := range []string{"GET", "POST"} {
		w := ask(t, s, method, "/v1/jars/"+jar+"/plan?parallelism=3", "")
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"type":"STREAMING","nodes":[{"id":"cb000000000000000000000000000002"`) {
			t.Errorf("%s plan: %d %s", method, w.Code, w.Body)
		}
	}
	if len(world.jobs.submitted) > 0 {
		t.Error("a plan ran a job")
	}

	w := ask(t, s, "POST", "/jars/"+jar+"/run", `{"programArgsList":["a","b c"],"parallelism":3,"jobId":"ABCDEF0123456789abcdef0123456789","entryClass":"x.Main","unknown":[1]}`)
	if w.Code != 200 || w.Body.String() != `{"jobid":"abcdef0123456789abcdef0123456789","applicationId":"abcdef0123456789abcdef0123456789","ignored":{"entryClass":"a Go program has one entry point, its main function"}}` {
		t.Errorf("run: %d %s", w.Code, w.Body)
	}
	g := world.jobs.submitted[0]
	if !slices.Equal(g.Artifact.Arguments, []string{"a", "b c"}) || g.Configuration["parallelism.default"] != "3" || g.Artifact.SHA256 == "" {
		t.Errorf("submitted %+v", g)
	}
	again := ask(t, s, "POST", "/jars/"+jar+"/run", `{"jobId":"abcdef0123456789abcdef0123456789"}`)
	if text := again.Body.String(); again.Code != 400 || !strings.Contains(text, "DuplicateApplicationSubmissionException: Application has already been submitted.") || !strings.Contains(text, "Job has already been submitted") {
		t.Errorf("run again: %d %s", again.Code, again.Body)
	}

	if w := ask(t, s, "DELETE", "/jars/"+jar, ""); w.Code != 200 || w.Body.String() != "{}" {
		t.Errorf("delete: %d %s", w.Code, w.Body)
	}
	if w := ask(t, s, "GET", "/jars", ""); !strings.Contains(w.Body.String(), `"files":[]`) {
		t.Errorf("list after delete: %s", w.Body)
	}
}

// A program that is deleted while it is being run, as by whoever has uploaded it for a run of
// his own, is one that does not exist: `weir run` then uploads its own.
func TestProgramsThatAreDeletedMeanwhile(t *testing.T) {
	world := newWorld()
	s := world.server(t)
	jar := ""
	s.Publish = func(_ context.Context, p program.Program, _ string) error {
		if err := s.Programs.Delete(jar); err != nil {
			t.Error(err)
		}
		_, err := os.Stat(p.Path)
		return err
	}
	jar = uploaded(t, s)
	if w := ask(t, s, "POST", "/jars/"+jar+"/run", `{}`); w.Code != 404 || !strings.Contains(w.Body.String(), "does not exist") {
		t.Errorf("deleted before it is published: %d %s", w.Code, w.Body)
	}
	for _, verb := range []string{"run", "plan"} {
		jar = uploaded(t, s)
		here := filepath.Join(s.Programs.Dir(), jar)
		body := fmt.Sprintf(`{"programArgsList":["delete",%q]}`, here)
		if w := ask(t, s, "POST", "/jars/"+jar+"/"+verb, body); w.Code != 404 || !strings.Contains(w.Body.String(), "does not exist") {
			t.Errorf("deleted before it has described its job to %s: %d %s", verb, w.Code, w.Body)
		}
	}
	if len(world.jobs.submitted) > 0 {
		t.Errorf("submitted %v", world.jobs.submitted)
	}
}

// TestRunRequests reads what can be said about a run, in all the ways it can
// be said.
func TestRunRequests(t *testing.T) {
	for _, c := range []struct {
		query, body string
		args        []string
		settings    map[string]string
	}{
		{"", "", nil, nil},
		{"", "{}", nil, nil},
		{"", `{"parallelism":null,"programArgsList":null}`, nil, nil},
		{"programArg=--mode,x", "", []string{"--mode", "x"}, nil},
		{"program-args=--mode+%22x+y%22", "", []string{"--mode", "x y"}, nil},
		{"programArg=a,b", `{"programArgsList":["c"]}`, []string{"c"}, nil},
		{"program-args=a", `{"programArgs":"b 'c d' ''"}`, []string{"b", "c d", ""}, nil},
		{"parallelism=2", `{"parallelism":"4"}`, nil, map[string]string{"parallelism.default": "4"}},
		{"parallelism=2", "", nil, map[string]string{"parallelism.default": "2"}},
		{"parallelism=-1", "", nil, nil},
		{"", `{"flinkConfiguration":{"execution.runtime-mode":"BATCH","parallelism.default":"3"},"parallelism":5,"allowNonRestoredState":"true","claimMode":"CLAIM"}`,
			nil, map[string]string{"execution.runtime-mode": "BATCH", "parallelism.default": "5",
				"execution.state-recovery.claim-mode": "CLAIM", "execution.state-recovery.ignore-unclaimed-state": "true"}},
		{"savepointPath=/a&allowNonRestoredState=true", "", nil, map[string]string{"execution.state-recovery.path": "/a", "execution.state-recovery.ignore-unclaimed-state": "true"}},
		{"savepointPath=/a&allowNonRestoredState=true", `{"savepointPath":"/b","allowNonRestoredState":false,"restoreMode":"NO_CLAIM"}`, nil,
			map[string]string{"execution.state-recovery.path": "/b", "execution.state-recovery.claim-mode": "NO_CLAIM"}},
	} {
		query, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		r := &request{query: query, body: []byte(c.body), format: "JarRunRequestBody"}
		run, err := r.runRequest()
		if err != nil {
			t.Errorf("%s %s: %v", c.query, c.body, err)
			continue
		}
		if !slices.Equal(run.args, c.args) || !maps.Equal(run.settings, c.settings) {
			t.Errorf("%s %s: %q %v", c.query, c.body, run.args, run.settings)
		}
	}
}

// TestUploadForms sends forms that are not one file.
func TestUploadForms(t *testing.T) {
	elf := self(t)
	world := newWorld()
	s := world.server(t)
	kind, whole := form(t, file{"file_0", "job", elf})
	type sent struct {
		kind string
		body []byte
		want string
	}
	formed := func(want string, files ...file) sent {
		kind, body := form(t, files...)
		return sent{kind, body, want}
	}
	for name, c := range map[string]sent{
		"no part":       formed("Exactly 1 file must be sent, received 0."),
		"no file":       formed("Exactly 1 file must be sent, received 0.", file{"request", "", []byte("{}")}),
		"two files":     formed("Exactly 1 file must be sent, received 2.", file{"a", "job", elf}, file{"b", "job", elf}),
		"a jar":         formed("x.jar is a JVM program; Weir runs Go job binaries", file{"jarfile", "x.jar", []byte("PK\x05\x06" + strings.Repeat("\x00", 18))}),
		"no name":       formed("names no file", file{"jarfile", "a/..", elf}),
		"no form":       {"application/json", []byte("{}"), "Exactly 1 file must be sent, received 0."},
		"no type":       {"", nil, "Exactly 1 file must be sent, received 0."},
		"raw bytes":     {"application/octet-stream", []byte("abc"), "Request did not match expected format EmptyRequestBody."},
		"no boundary":   {"multipart/form-data", whole, "cannot be read"},
		"cut in a file": {kind, whole[:len(whole)/2], "cannot be read"},
		"cut in a head": {kind, whole[:40], "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := send(s, "/jars/upload", c.kind, c.body)
			if w.Code != 400 || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %.300s, want %s", w.Code, w.Body, c.want)
			}
			if all, err := world.store.List(); err != nil || len(all) > 0 {
				t.Errorf("kept %v, %v", all, err)
			}
			if entries, err := os.ReadDir(world.store.Dir()); err != nil || len(entries) > 0 {
				t.Errorf("left %v, %v", entries, err)
			}
		})
	}
	w := send(s, "/jars/upload", kind, whole)
	if w.Code != 200 {
		t.Errorf("the next good upload: %d %s", w.Code, w.Body)
	}
	kind, whole = form(t, file{"request", "", []byte("{}")}, file{"any", "../../x", elf})
	if w := send(s, "/jars/upload", kind, whole); w.Code != 200 || !strings.Contains(w.Body.String(), world.store.Dir()) || !strings.Contains(w.Body.String(), `_x"`) {
		t.Errorf("a name that leads elsewhere: %d %s", w.Code, w.Body)
	}
}

// TestTooLarge sends more than rest.server.max-content-length.
func TestTooLarge(t *testing.T) {
	world := newWorld()
	world.config["rest.server.max-content-length"] = "10000"
	s := world.server(t)
	kind, body := form(t, file{"jarfile", "job", self(t)})
	for name, hide := range map[string]bool{"length told": false, "length not told": true} {
		for _, target := range []string{"/jars/upload", "/jars/x/run", "/overview"} {
			r := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(body))
			if target == "/overview" {
				r.Method = http.MethodGet
			}
			r.Header.Set("Content-Type", kind)
			if hide {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge || w.Body.Len() > 0 {
				t.Errorf("%s, %s: %d %.200s", name, target, w.Code, w.Body)
			}
		}
	}
	if entries, err := os.ReadDir(world.store.Dir()); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

// TestProgramBodies compares the answers about programs with the recorded ones.
func TestProgramBodies(t *testing.T) {
	s := newWorld().server(t)
	jar := uploaded(t, s)
	kind, body := form(t)
	ours := map[string]string{
		"jar-list":              ask(t, s, "GET", "/jars", "").Body.String(),
		"jar-plan-post":         ask(t, s, "POST", "/jars/"+jar+"/plan", "").Body.String(),
		"jar-run-accum":         ask(t, s, "POST", "/jars/"+jar+"/run", "").Body.String(),
		"jar-run-throws":        ask(t, s, "POST", "/jars/"+jar+"/run", `{"programArgsList":["exit"]}`).Body.String(),
		"jar-run-nojob":         ask(t, s, "POST", "/jars/"+jar+"/run", `{"programArgsList":["no job"]}`).Body.String(),
		"jar-run-bad-json":      ask(t, s, "POST", "/jars/"+jar+"/run", `{"x":`).Body.String(),
		"jar-run-bad-jobid":     ask(t, s, "POST", "/jars/"+jar+"/run", `{"jobId":"zz"}`).Body.String(),
		"jar-run-bad-claim":     ask(t, s, "POST", "/jars/"+jar+"/run", `{"claimMode":"FOO"}`).Body.String(),
		"jar-plan-bad-parallel": ask(t, s, "GET", "/jars/"+jar+"/plan?parallelism=x", "").Body.String(),
		"jar-run-bad-parallel":  ask(t, s, "POST", "/jars/"+jar+"/run?parallelism=-5", "{}").Body.String(),
		"jar-run-missing-save":  ask(t, s, "POST", "/jars/"+jar+"/run", `{"savepointPath":"file:///nope"}`).Body.String(),
		"err-upload-no-part":    send(s, "/jars/upload", kind, body).Body.String(),
	}
	seen := map[string]bool{}
	for _, r := range recorded.Load(t) {
		for name, body := range ours {
			if strings.HasPrefix(r.Name, name) && !seen[name] {
				seen[name] = true
				told(t, r, name, r.Response.Status, body)
			}
		}
	}
	if missing := len(ours) - len(seen); missing != 0 {
		t.Errorf("%d recordings not found; seen %v", missing, reflect.ValueOf(seen).MapKeys())
	}
}

// What the cluster's configuration says of jobs holds where a job says nothing,
// under whichever of its names.
func TestTheClustersSettingsReachJobs(t *testing.T) {
	w := newWorld()
	w.config = map[string]string{
		"execution.buffer-timeout.interval": "7 ms", "execution.runtime-mode": "BATCH", "weir.user.colour": "red",
		"restart-strategy.type": "none", "rest.port": "1",
	}
	s := w.server(t)
	for body, want := range map[string]map[string]string{
		`{}`: {"execution.buffer-timeout.interval": "7 ms", "execution.runtime-mode": "BATCH", "weir.user.colour": "red"},
		`{"flinkConfiguration":{"execution.buffer-timeout":"9 ms","execution.runtime-mode":"STREAMING"}}`: {
			"execution.buffer-timeout": "9 ms", "execution.runtime-mode": "STREAMING", "weir.user.colour": "red"},
	} {
		r := &request{body: []byte(body), format: "JarRunRequestBody"}
		run, err := r.runRequest()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.settingsOf(run); !maps.Equal(got, want) {
			t.Errorf("%s: %v", body, got)
		}
	}
}
