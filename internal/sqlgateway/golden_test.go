package sqlgateway

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/sqlgateway/wire"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/testkit/recorded"
	"github.com/weirstream/weir/types"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// serve makes a server over a scripted engine.
func serve(t *testing.T, e *scripted, settings map[string]string) *Server {
	t.Helper()
	cfg, err := config.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if e.answers == nil {
		e.answers = map[string]func(context.Context) (*session.Result, error){}
	}
	s := New(Options{Config: cfg, Engine: e, Version: "2.3.0"})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// call asks a server, and gives the status and the body.
func call(s http.Handler, method, target, body string) (int, string) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

var (
	varying    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|/result/\d+`)
	stackLines = regexp.MustCompile(`\n\t(?:at |\.\.\. \d+ more|Suppressed)[^\n]*`)
)

// plain takes out of a text of errors what differs from run to run, and stack traces.
func plain(text string) string {
	text = stackLines.ReplaceAllString(text, "")
	for strings.Contains(text, "\n\n") {
		text = strings.ReplaceAll(text, "\n\n", "\n")
	}
	return varying.ReplaceAllString(strings.ReplaceAll(text, "\nEnd of", "End of"), "*")
}

// errorTexts are the texts of a body that refuses.
func errorTexts(t *testing.T, body string) string {
	t.Helper()
	var b struct {
		Errors []string `json:"errors"`
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return strings.TrimRight(plain(strings.Join(b.Errors, "\n")), "\n")
}

// A told is what was recorded of one statement.
type told struct {
	name      string
	version   string
	statement string
	body      jsontext.Value
	answers   []string // bodies of answers with results
	failures  []string
	query     string
}

var operationPath = regexp.MustCompile(`^/(v\d)/sessions/[0-9a-f-]{36}/operations/([0-9a-f-]{36})/result/\d+$`)

// statements gathers the recordings of each statement that was fetched to its end or
// to its error.
func statements(t *testing.T) []*told {
	byHandle := map[string]*told{}
	var all []*told
	for _, r := range recorded.LoadGateway(t) {
		if strings.HasSuffix(r.Request.Path, "/statements") && r.Response.Status == 200 {
			var sent struct {
				Statement string `json:"statement"`
			}
			var got map[string]string
			if json.Unmarshal(r.Request.Body, &sent) != nil || json.Unmarshal(r.Response.Body, &got) != nil {
				t.Fatal(r.Name)
			}
			s := &told{name: r.Name, version: strings.Split(r.Request.Path, "/")[1], statement: sent.Statement, body: r.Request.Body}
			byHandle[got["operationHandle"]] = s
			all = append(all, s)
		}
		m := operationPath.FindStringSubmatch(r.Request.Path)
		if m == nil || byHandle[m[2]] == nil {
			continue
		}
		s := byHandle[m[2]]
		s.query = r.Request.Query
		switch body := string(r.Response.Body); {
		case r.Response.Status != 200:
			s.failures = append(s.failures, body)
		case !strings.Contains(body, `"NOT_READY"`):
			s.answers = append(s.answers, body)
		}
	}
	return all
}

type recordedPage struct {
	ResultType string `json:"resultType"`
	Query      bool   `json:"isQueryResult"`
	Job        string `json:"jobID"`
	Kind       string `json:"resultKind"`
	Results    struct {
		Columns []struct {
			Name    string         `json:"name"`
			Type    jsontext.Value `json:"logicalType"`
			Comment *string        `json:"comment"`
		} `json:"columns"`
		Format string        `json:"rowFormat"`
		Data   []recordedRow `json:"data"`
	} `json:"results"`
}

// outcome makes of what was recorded what an engine says; nil: it cannot be said in
// columns, or the recording stops before it.
func (s *told) outcome(t *testing.T) func(context.Context) (*session.Result, error) {
	t.Helper()
	var result *session.Result
	var rows []recordedRow
	end := false
	for _, body := range s.answers {
		var p recordedPage
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatal(s.name, err)
		}
		if result == nil {
			result = &session.Result{Content: p.Kind == "SUCCESS_WITH_CONTENT", Query: p.Query, Job: p.Job, Show: showBytes}
			for _, c := range p.Results.Columns {
				typ, err := wire.ParseType(c.Type)
				if err != nil {
					t.Fatal(s.name, err)
				}
				result.Schema = append(result.Schema, types.Field{Name: c.Name, Type: typ})
			}
		}
		rows = append(rows, p.Results.Data...)
		end = end || p.ResultType == "EOS"
	}
	switch {
	case result == nil && len(s.failures) == 1:
		err := chainOf(t, s.failures[0])
		if err == nil {
			return nil // it is the gateway's own
		}
		return func(context.Context) (*session.Result, error) { return nil, err }
	case result == nil || !end || len(s.failures) > 0:
		return nil
	}
	b := &batch.Columns{}
	if strings.Contains(s.query, "PLAIN") {
		b = texts(t, result.Schema, rows)
	} else {
		b = fromJSON(t, result.Schema, rows)
	}
	result.Rows = newRows(io.EOF, b)
	return func(context.Context) (*session.Result, error) { return result, nil }
}

var causeLine = regexp.MustCompile(`^((?:[a-zA-Z]\w*\.)+[A-Z][\w$]*)(?:: ((?s).*))?$`)

// chainOf makes an error of what was recorded as the cause of a failed operation.
func chainOf(t *testing.T, body string) error {
	t.Helper()
	_, causes, found := strings.Cut(errorTexts(t, body), "Failed to execute the operation *.\nCaused by: ")
	if !found {
		return nil
	}
	var err error
	parts := strings.Split(strings.TrimSuffix(causes, "End of exception on server side>"), "\nCaused by: ")
	for i := len(parts) - 1; i >= 0; i-- {
		m := causeLine.FindStringSubmatch(strings.TrimRight(parts[i], "\n"))
		if m == nil {
			return nil
		}
		err = &session.Error{Class: m[1], Text: m[2], Cause: err}
	}
	return err
}

// TestStatementsAreAnsweredAsRecorded runs every recorded statement over an engine that
// says what Flink's said, and compares every page and every error.
func TestStatementsAreAnsweredAsRecorded(t *testing.T) {
	e := &scripted{}
	s := serve(t, e, nil)
	sessions := map[string]string{}
	compared, failures := 0, 0
	for _, r := range statements(t) {
		answer := r.outcome(t)
		if answer == nil {
			continue
		}
		if sessions[r.version] == "" {
			_, body := call(s, "POST", "/"+r.version+"/sessions", "{}")
			sessions[r.version] = value(t, body, "sessionHandle")
		}
		e.mu.Lock()
		e.answers[r.statement] = answer
		e.mu.Unlock()
		root := "/" + r.version + "/sessions/" + sessions[r.version]
		_, body := call(s, "POST", root+"/statements", string(r.body))
		url := root + "/operations/" + value(t, body, "operationHandle") + "/result/0"
		if r.query != "" {
			url += "?" + r.query
		}
		pages, failure := fetchAll(t, s, url)
		if len(r.failures) > 0 {
			failures++
			want, got := errorTexts(t, r.failures[0]), errorTexts(t, failure)
			if tail := "End of exception on server side>"; strings.TrimSuffix(got, tail) != strings.TrimSuffix(want, tail) {
				t.Errorf("%s: error\n%s\nin the recording\n%s", r.name, got, want)
			}
			continue
		}
		compared++
		want := withRows(r.answers)
		if len(pages) != len(want) {
			t.Errorf("%s: %d pages, %d in the recording: %s %s", r.name, len(pages), len(want), pages, failure)
			continue
		}
		for i := range pages {
			if got := varying.ReplaceAllString(pages[i], "*"); got != varying.ReplaceAllString(want[i], "*") {
				t.Errorf("%s: page %d\n%s\nin the recording\n%s", r.name, i, got, want[i])
			}
		}
	}
	t.Logf("%d results and %d errors compared", compared, failures)
	if compared < 130 || failures < 40 {
		t.Error("too few")
	}
}

// withRows leaves out empty pages but the last, which tells of the end.
func withRows(answers []string) []string {
	var all []string
	for _, a := range answers {
		if strings.Contains(a, `"EOS"`) || !strings.Contains(a, `"data":[]`) {
			all = append(all, a)
		}
	}
	return all
}

// fetchAll follows a result to its end, or to its error.
func fetchAll(t *testing.T, s http.Handler, url string) (pages []string, failure string) {
	t.Helper()
	for range 1000 {
		status, body := call(s, "GET", url, "{}")
		if status != 200 {
			return pages, body
		}
		if !strings.Contains(body, `"NOT_READY"`) && (!strings.Contains(body, `"data":[]`) || strings.Contains(body, `"EOS"`)) {
			pages = append(pages, body)
		}
		if url = value(t, body, "nextResultUri"); url == "" {
			return pages, ""
		}
	}
	t.Fatal("no end of pages")
	return nil, ""
}

// value is a field of a body that is a text; empty: there is none.
func value(t *testing.T, body, name string) string {
	t.Helper()
	var all map[string]jsontext.Value
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var text string
	if all[name] != nil {
		if err := json.Unmarshal(all[name], &text); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// differs are recordings that are answered otherwise on purpose, and why.
var differs = map[string]string{
	"head":                     "HEAD is answered as GET",
	"options":                  "OPTIONS tells the methods",
	"complete-pos-range":       "what the caller did wrong is 400",
	"configure-session-insert": "the table is missing, which only an engine knows",
	"z-running-select-cancel":  "a query whose rows are still fetched is cancelled",
}

// TestRequestsAreAnsweredAsRecorded asks for everything but results what was asked of
// Flink, in the same order, and compares statuses, fields and texts of errors.
func TestRequestsAreAnsweredAsRecorded(t *testing.T) {
	e := &scripted{}
	s := serve(t, e, nil)
	ours := map[string]string{} // their handles to ours
	compared := 0
	for _, r := range recorded.LoadGateway(t) {
		if strings.Contains(r.Request.Path, "/jobs") || strings.HasPrefix(r.Name, "z") || strings.HasPrefix(r.Name, "c-") || strings.HasPrefix(r.Name, "c2-") {
			continue
		}
		openUnknown(t, s, ours, r)
		path := handles.ReplaceAllStringFunc(r.Request.Path, func(h string) string {
			if ours[h] != "" {
				return ours[h]
			}
			return h
		})
		if strings.Contains(path, "/result/") && r.Response.Status != 400 || strings.HasSuffix(path, "/status") && r.Response.Status == 200 || strings.HasSuffix(path, "/cancel") {
			continue // what becomes of statements has tests of its own
		}
		body, _ := r.Body(t)
		if r.Request.Query != "" {
			path += "?" + r.Request.Query
		}
		status, got := call(s, r.Request.Method, path, body)
		note(t, ours, string(r.Response.Body), got)
		if differs[r.Name] != "" || strings.HasPrefix(r.Name, "complete") && r.Response.Status == 200 {
			continue
		}
		compared++
		if status != r.Response.Status {
			if strings.Contains(string(r.Response.Body), "Failed to configure session") && status == 200 {
				continue // the scripted engine knows no tables
			}
			t.Errorf("%s: status %d, in the recording %d: %s", r.Name, status, r.Response.Status, got)
			continue
		}
		if status == 200 {
			if a, b := keys(t, got), keys(t, string(r.Response.Body)); a != b {
				t.Errorf("%s: fields %s, in the recording %s", r.Name, a, b)
			}
			continue
		}
		want, have := firstLines(errorTexts(t, string(r.Response.Body))), firstLines(errorTexts(t, got))
		if want != have {
			t.Errorf("%s: error\n%s\nin the recording\n%s", r.Name, have, want)
		}
	}
	t.Logf("%d answers compared", compared)
	if compared < 500 {
		t.Error("too few")
	}
}

var handles = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// openUnknown opens a session for one that was opened before the recordings.
func openUnknown(t *testing.T, s *Server, ours map[string]string, r *recorded.Recording) {
	t.Helper()
	parts := strings.Split(r.Request.Path, "/")
	if len(parts) > 3 && parts[2] == "sessions" && handles.MatchString(parts[3]) && ours[parts[3]] == "" && !strings.Contains(string(r.Response.Body), "Session '") {
		_, body := call(s, "POST", "/v4/sessions", "{}")
		ours[parts[3]] = value(t, body, "sessionHandle")
	}
}

// note remembers what our handles are for theirs.
func note(t *testing.T, ours map[string]string, theirs, got string) {
	t.Helper()
	for _, name := range []string{"sessionHandle", "operationHandle"} {
		if strings.Contains(theirs, name) && strings.Contains(got, name) {
			ours[value(t, theirs, name)] = value(t, got, name)
		}
	}
}

// keys are the names of a body's fields.
func keys(t *testing.T, body string) string {
	t.Helper()
	var all []string
	for name := range members(t, jsontext.Value(body)) {
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// firstLines leaves out of a text of errors the causes within Jackson, and what an engine
// says.
func firstLines(text string) string {
	if i := strings.Index(text, "\nCaused by: org.apache.flink.shaded"); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, "\nCaused by: The body"); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, "\nCaused by: pro"); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, "\nCaused by: position"); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, "Failed to execute the operation *."); i >= 0 && !strings.Contains(text, "Unsupported statement") {
		text = text[:i]
	}
	return strings.TrimSuffix(text, "End of exception on server side>")
}
