package sqlgateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// A story is a session of a scripted engine that a test talks to.
type story struct {
	t      *testing.T
	engine *scripted
	server *Server
	root   string
}

func begun(t *testing.T, settings map[string]string) *story {
	t.Helper()
	e := &scripted{}
	s := serve(t, e, settings)
	_, body := call(s, "POST", "/v4/sessions", `{"sessionName":"n","properties":{"a":1,"b":true,"c":"x"}}`)
	return &story{t, e, s, "/v4/sessions/" + value(t, body, "sessionHandle")}
}

// run begins a statement that the engine answers so, and gives its operation's path.
func (s *story) run(statement string, answer func(ctx context.Context) (*session.Result, error)) string {
	s.t.Helper()
	s.engine.mu.Lock()
	s.engine.answers[statement] = answer
	s.engine.mu.Unlock()
	status, body := call(s.server, "POST", s.root+"/statements", `{"statement":"`+statement+`"}`)
	if status != 200 {
		s.t.Fatalf("%s: %d %s", statement, status, body)
	}
	return s.root + "/operations/" + value(s.t, body, "operationHandle")
}

func (s *story) want(method, path string, status int, part string) string {
	s.t.Helper()
	got, body := call(s.server, method, path, "")
	if got != status || !strings.Contains(body, part) {
		s.t.Errorf("%s %s: %d %s, want %d %q", method, path, got, body, status, part)
	}
	return body
}

// integers is a batch of the numbers from first to last.
func integers(first, last int32) *batch.Columns {
	c := batch.NewColumn(types.Of(types.Int))
	for i := first; i <= last; i++ {
		batch.Append(c, i)
	}
	return &batch.Columns{N: c.Len, Cols: []*batch.Column{c}}
}

func query(rows session.Rows) func(context.Context) (*session.Result, error) {
	return func(context.Context) (*session.Result, error) {
		return &session.Result{
			Schema: []types.Field{{Name: "i", Type: types.Of(types.Int)}}, Content: true, Query: true, Job: strings.Repeat("0", 32), Rows: rows,
			Show: func(_ types.Type, c *batch.Column, i int) string { return fmt.Sprint(c.I32[i]) },
		}, nil
	}
}

// blocked is a statement that runs until it is given up.
func blocked(ctx context.Context) (*session.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestPagesHoldAtMostFiveThousandRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		o := s.run("SELECT", query(newRows(io.EOF, integers(1, 3000), integers(3001, 3001), integers(3002, 12000))))
		url, sizes := o+"/result/0", []int{}
		for url != "" {
			_, body := call(s.server, "GET", url, "")
			sizes = append(sizes, strings.Count(body, `"kind":`))
			if next := value(t, body, "nextResultUri"); next == "" {
				break
			} else {
				url = next
			}
		}
		if got := fmt.Sprint(sizes); got != "[5000 5000 2000 0]" {
			t.Errorf("pages of %s rows", got)
		}
		s.want("GET", o+"/result/3", 200, `"EOS"`)
		s.want("GET", o+"/result/2", 200, `"fields":[12000]`)
		s.want("GET", o+"/result/2?rowFormat=PLAIN_TEXT", 200, `"fields":["12000"]`)
		s.want("GET", o+"/result/1", 500, "Expecting token to be 3 or 2, but found 1.")
		s.want("GET", o+"/result/4", 500, "Expecting token to be 3 or 2, but found 4.")
		s.want("GET", o+"/result/x", 400, `Cannot resolve path parameter (token) from value \"x\".`)
		s.want("GET", o+"/result/2?rowFormat=FOO", 400, `Cannot resolve query parameter (rowFormat) from value \"FOO\".`)
		s.want("POST", o+"/cancel", 500, "Failed to convert the Operation Status from FINISHED to CANCELED")
		s.want("DELETE", o+"/close", 200, `{"status":"CLOSED"}`)
		s.want("GET", o+"/result/3", 500, "Can not find the submitted operation")
	})
}

func TestAStatementThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		o := s.run("INSERT", blocked)
		next := s.run("SHOW", query(newRows(io.EOF)))
		synctest.Wait()
		s.want("GET", o+"/status", 200, `{"status":"RUNNING"}`)
		s.want("GET", next+"/status", 200, `{"status":"PENDING"}`)
		s.want("GET", o+"/result/0", 200, `{"resultType":"NOT_READY","nextResultUri":"`+o+`/result/0?rowFormat=JSON"}`)
		s.want("POST", o+"/cancel", 200, `{"status":"CANCELED"}`)
		s.want("GET", o+"/status", 200, `{"status":"CANCELED"}`)
		s.want("GET", o+"/result/0", 500, "in CANCELED status.")
		s.want("POST", o+"/cancel", 500, "from CANCELED to CANCELED")
		synctest.Wait()
		s.want("GET", next+"/status", 200, `{"status":"FINISHED"}`)
		s.want("GET", next+"/result/0", 200, `"EOS"`)
	})
}

func TestAQueryWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		rows := newRows(nil, integers(1, 2))
		o := s.run("SELECT", query(rows))
		s.want("GET", o+"/result/0", 200, `"data":[{"kind":"INSERT","fields":[1]},{"kind":"INSERT","fields":[2]}]`)
		s.want("GET", o+"/result/1", 200, `"data":[]},"nextResultUri":"`+o+`/result/2?rowFormat=JSON"}`)
		s.want("GET", o+"/status", 200, `{"status":"FINISHED"}`)
		s.want("POST", o+"/cancel", 200, `{"status":"CANCELED"}`)
		<-rows.done // its job is cancelled
		rows = newRows(nil)
		o = s.run("SELECT", query(rows))
		s.want("GET", o+"/result/0", 200, `"data":[]`)
		s.want("DELETE", o+"/close", 200, `{"status":"CLOSED"}`)
		<-rows.done
		rows = newRows(nil)
		o = s.run("SELECT", query(rows))
		s.want("GET", o+"/result/0", 200, `"data":[]`)
		s.want("DELETE", s.root, 200, `{"status":"CLOSED"}`)
		<-rows.done
		if s.engine.closed.Load() != 1 {
			t.Error("the session is not closed")
		}
	})
}

func TestAQueryThatFailsWhileItIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		o := s.run("SELECT", query(newRows(&session.Error{Class: session.ClassNumber, Text: "For input string: 'x'."}, integers(1, 1))))
		s.want("GET", o+"/result/0", 200, `"fields":[1]`)
		for range 2 {
			s.want("GET", o+"/result/1", 500, `SqlExecutionException: Error while retrieving result.\n\tat weir\nCaused by: java.lang.NumberFormatException: For input string: 'x'.\n\tat weir\n`)
		}
		s.want("GET", o+"/result/0", 200, `"fields":[1]`)
		s.want("GET", o+"/status", 200, `{"status":"FINISHED"}`)
	})
}

// slowRows take until they are let go to be closed.
type slowRows struct{ session.Rows }

func (r slowRows) Close() error {
	<-r.Rows.(*someRows).done
	return nil
}

// The result of a statement that was given up meanwhile is closed, which may take its time;
// nobody who asks for the statement waits for that.
func TestAResultThatNobodyWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		rows := newRows(io.EOF)
		o := s.run("SELECT", func(ctx context.Context) (*session.Result, error) {
			<-ctx.Done()
			return query(slowRows{rows})(ctx)
		})
		synctest.Wait()
		s.want("POST", o+"/cancel", 200, `{"status":"CANCELED"}`)
		synctest.Wait() // it is being closed
		s.want("GET", o+"/status", 200, `{"status":"CANCELED"}`)
		rows.Close()
	})
}

// lateFailure waits in vain for rows, and has failed when it is waited for no longer.
type lateFailure struct{ failed bool }

func (r *lateFailure) Next(ctx context.Context) (*batch.Columns, error) {
	<-ctx.Done()
	if r.failed {
		return nil, ctx.Err()
	}
	r.failed = true
	return nil, errors.New("just then")
}

func (r *lateFailure) Close() error { return nil }

// A failure that comes when the time is up in which a page is made is not taken for its end.
func TestAFailureThatComesLateIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		o := s.run("SELECT", query(&lateFailure{}))
		for range 2 {
			s.want("GET", o+"/result/0", 500, "just then")
		}
	})
}

// The result of a statement that begins a job is the job's id, whatever the engine says.
func TestAnInsertGivesItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		rows := newRows(io.EOF, integers(-1, -1))
		o := s.run("INSERT", func(context.Context) (*session.Result, error) {
			return &session.Result{Schema: []types.Field{{Name: "t", Type: types.Of(types.Int)}}, Content: true, Job: strings.Repeat("a", 32), Rows: rows}, nil
		})
		for _, format := range []string{"JSON", "PLAIN_TEXT"} {
			s.want("GET", o+"/result/0?rowFormat="+format, 200, `"isQueryResult":false,"jobID":"`+strings.Repeat("a", 32)+`","resultKind":"SUCCESS_WITH_CONTENT","results":{"columns":[{"name":"job id",`)
			s.want("GET", o+"/result/0?rowFormat="+format, 200, `"fields":["`+strings.Repeat("a", 32)+`"]`)
		}
		s.want("GET", o+"/result/1", 200, `"EOS"`)
		s.want("DELETE", o+"/close", 200, "CLOSED")
		<-rows.done
	})
}

func TestIdleSessionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, map[string]string{"sql-gateway.session.idle-timeout": "1 min"})
		time.Sleep(50 * time.Second)
		s.want("POST", s.root+"/heartbeat", 200, "{}")
		time.Sleep(50 * time.Second)
		o := s.run("INSERT", blocked)
		time.Sleep(10 * time.Minute)
		s.want("GET", o+"/status", 200, `{"status":"RUNNING"}`)
		s.want("DELETE", o+"/close", 200, `{"status":"CLOSED"}`)
		time.Sleep(2 * time.Minute)
		s.want("GET", s.root, 500, "does not exist.")
		if s.engine.closed.Load() != 1 {
			t.Error("the session is not closed")
		}
	})
}

func TestSessionsAreCounted(t *testing.T) {
	s := begun(t, map[string]string{"sql-gateway.session.max-num": "1"})
	s.want("POST", "/v4/sessions", 500, "Failed to create session, the count of active sessions exceeds the max count: 1")
	s.want("DELETE", s.root, 200, `{"status":"CLOSED"}`)
	s.want("POST", "/v4/sessions", 200, "sessionHandle")
}

func TestASessionHasItsSettings(t *testing.T) {
	s := begun(t, nil)
	body := s.want("GET", s.root, 200, `{"properties":{"a":"1","b":"true","c":"x",`)
	if !strings.Contains(body, "sql-gateway-"+strings.TrimPrefix(s.root, "/v4/sessions/")) {
		t.Error(body)
	}
	if s.engine.opened[0].Name != "n" {
		t.Error(s.engine.opened)
	}
}

func TestWhatIsRefused(t *testing.T) {
	s := begun(t, nil)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/materialized-tables/a.b.c/refresh", `{"dynamicOptions":{"a":"b"}}`, 500, "dynamicOptions are not supported"},
		{"POST", "/scripts", "{}", 500, "Please specify script content or uri."},
		{"POST", "/scripts", `{"script":"SELECT 1"}`, 500, "Application Mode not supported"},
		{"POST", "/statements", `{"statement":"x","executionTimeout":1}`, 500, "doesn't support timeout mechanism now"},
		{"POST", "/statements", `[]`, 400, "Request did not match expected format ExecuteStatementRequestBody."},
		{"POST", "/statements", `{"statement":{}}`, 400, "statement is {; allowed is what fits string."},
		{"POST", "/statements", `{"statement":"\xff"}`, 400, "The body is no JSON"},
		{"GET", "/complete-statement", `{"statement":"SELECT 😀x","position":9}`, 200, `{"candidates":["SELECT 😀|x"]}`},
		{"GET", "/complete-statement", `{"statement":"SELECT","position":99}`, 400, "position is 99"},
		{"GET", "/complete-statement", `{"statement":"SELECT","position":-1}`, 400, "position is -1"},
		{"GET", "/complete-statement", "", 400, "position is missing"},
		{"OPTIONS", "/statements", "", 204, ""},
		{"PUT", "/statements", "", 404, "Not found: "},
	} {
		status, body := call(s.server, c.method, s.root+c.path, c.body)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s: %d %s, want %d %q", c.method, c.path, c.body, status, body, c.status, c.want)
		}
	}
	big := strings.Repeat("x", 120<<20)
	if status, _ := call(s.server, "POST", s.root+"/statements", `{"statement":"`+big+`"}`); status != 413 {
		t.Errorf("a body of 120 MB: %d", status)
	}
}

// What is asked of a session that is closed meanwhile is given up, though it goes on.
func TestASessionIsClosedWhileItCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begun(t, nil)
		begins, goOn := make(chan struct{}), make(chan struct{})
		s.engine.completing = func() {
			close(begins)
			<-goOn
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			status, body := call(s.server, "GET", s.root+"/complete-statement", `{"statement":"SELECT","position":3}`)
			if status != 500 || !strings.Contains(body, "The statement was given up.") {
				t.Errorf("%d %s", status, body)
			}
		}()
		<-begins
		go func() {
			<-ended
			close(goOn)
		}()
		s.want("DELETE", s.root, 200, `{"status":"CLOSED"}`) // once all that was begun has ended
	})
}

// A session that is opened while the gateway is closed does not stay open.
func TestASessionThatOpensTooLate(t *testing.T) {
	e := &scripted{opening: make(chan struct{})}
	c := &clients{engine: e, limit: 2, now: time.Now, open: map[string]*client{}}
	begun := make(chan error)
	go func() {
		_, err := c.begin(t.Context(), "", nil)
		begun <- err
	}()
	e.opening <- struct{}{} // it has its place
	c.closeAll()
	e.opening <- struct{}{}
	if err := <-begun; !errors.Is(err, errClosed) || e.closed.Load() != 1 {
		t.Errorf("%v, and %d sessions are closed", err, e.closed.Load())
	}
	if _, err := c.begin(t.Context(), "", nil); !errors.Is(err, errClosed) {
		t.Errorf("after that: %v", err)
	}
}

// An engine that fails to open a session leaves no place taken.
func TestASessionThatDoesNotOpen(t *testing.T) {
	c := &clients{engine: broken{}, limit: 1, now: time.Now, open: map[string]*client{}}
	for range 2 {
		if _, err := c.begin(t.Context(), "", nil); err == nil || err.Error() != "broken" {
			t.Error(err)
		}
	}
}

type broken struct{}

func (broken) Open(context.Context, session.Options) (session.Session, error) {
	return nil, errors.New("broken")
}

func TestServes(t *testing.T) {
	s := begun(t, nil)
	for path, want := range map[string]bool{
		"/v4/sessions": true, "/sessions/x/statements": true, "/v1/info": true, "/api_versions": true, "/v9/info": true,
		"/": false, "/jobs": false, "/v1/jobs": false, "/v1": false, "/x/sessions": false,
	} {
		if s.server.Serves(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
