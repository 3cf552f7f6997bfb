package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A gateway answers paths with texts; the answers to one path follow each other.
type gateway struct {
	answers map[string][]string
	asked   []string
	on      map[string]func() // called when a path is asked for
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.Method + " " + r.URL.RequestURI()
	body, _ := io.ReadAll(r.Body)
	g.asked = append(g.asked, path+" "+string(body))
	if f := g.on[path]; f != nil {
		f()
	}
	left := g.answers[path]
	if len(left) == 0 {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errors":["Not found: `+path+`"]}`)
		return
	}
	if len(left) > 1 {
		g.answers[path] = left[1:]
	}
	text, failed := strings.CutPrefix(left[0], "500 ")
	if failed {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = io.WriteString(w, text)
}

const columns = `"results":{"columns":[{"name":"a","logicalType":{"type":"INTEGER","nullable":false},"comment":null}],"rowFormat":"PLAIN_TEXT","data":`

func script() *gateway {
	return &gateway{answers: map[string][]string{
		"GET /v1/api_versions":           {`{"versions":["V1","V2","V3"]}`},
		"POST /v3/sessions":              {`{"sessionHandle":"s"}`},
		"DELETE /v3/sessions/s":          {`{"status":"CLOSED"}`},
		"GET /v3/sessions/s":             {`{"properties":{"a":"b"}}`},
		"POST /v3/sessions/s/statements": {`{"operationHandle":"o"}`},
		"GET /v3/sessions/s/operations/o/result/0?rowFormat=PLAIN_TEXT": {
			`{"resultType":"NOT_READY","nextResultUri":"/v3/sessions/s/operations/o/result/0?rowFormat=PLAIN_TEXT"}`,
			`{"resultType":"PAYLOAD","isQueryResult":true,"jobID":"j","resultKind":"SUCCESS_WITH_CONTENT",` + columns +
				`[{"kind":"UPDATE_AFTER","fields":["1"]},{"kind":"INSERT","fields":[null]}]},"nextResultUri":"/v3/sessions/s/operations/o/result/1?rowFormat=PLAIN_TEXT"}`},
		"GET /v3/sessions/s/operations/o/result/1?rowFormat=PLAIN_TEXT": {
			`{"resultType":"EOS","isQueryResult":true,"jobID":"j","resultKind":"SUCCESS_WITH_CONTENT",` + columns + `[]}}`},
		"DELETE /v3/sessions/s/operations/o/close": {`{"status":"CLOSED"}`},
		"GET /v3/sessions/s/complete-statement":    {`{"candidates":["x","y"]}`},
		"POST /v3/sessions/s/configure-session":    {"{}"},
	}}
}

// TestAStatement follows a statement over the network and within the process.
func TestAStatement(t *testing.T) {
	for _, embedded := range []bool{true, false} {
		g := script()
		var c *Client
		var err error
		if embedded {
			c, err = Embed(t.Context(), g, Options{Name: "n"})
		} else {
			s := httptest.NewServer(g)
			defer s.Close()
			c, err = Dial(t.Context(), s.Listener.Addr().String(), Options{Name: "n"})
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Execute(t.Context(), "SELECT 1")
		if err != nil {
			t.Fatal(err)
		}
		if !r.Query || !r.Content || r.Job != "j" || len(r.Columns) != 1 || r.Columns[0].Type.String() != "INT NOT NULL" {
			t.Errorf("%+v", r)
		}
		rows, err := r.Next(t.Context())
		if err != nil || len(rows) != 2 || *rows[0].Fields[0] != "1" || rows[0].Kind != 2 || rows[1].Fields[0] != nil {
			t.Errorf("%+v %v", rows, err)
		}
		for err == nil {
			rows, err = r.Next(t.Context())
		}
		if !errors.Is(err, io.EOF) || len(rows) > 0 {
			t.Errorf("%+v %v", rows, err)
		}
		r.Close()
		if s, err := c.Settings(t.Context()); err != nil || s["a"] != "b" {
			t.Error(s, err)
		}
		if all, err := c.Complete(t.Context(), "😀", 4); err != nil || len(all) != 2 || !strings.Contains(g.asked[len(g.asked)-1], `"position":2`) {
			t.Error(all, err, g.asked)
		}
		if err := errors.Join(c.Configure(t.Context(), "SET"), c.Close(t.Context()), c.Close(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// TestAnAbandonedStatementIsClosed checks that the gateway is told of one whose result
// nobody waits for, whenever that is given up.
func TestAnAbandonedStatementIsClosed(t *testing.T) {
	const result = "GET /v3/sessions/s/operations/o/result/0?rowFormat=PLAIN_TEXT"
	for name, giveUp := range map[string]func(g *gateway, cancel func()){
		"while it runs":          func(_ *gateway, cancel func()) { time.AfterFunc(3*between, cancel) },
		"while it is begun":      func(g *gateway, cancel func()) { g.on = map[string]func(){"POST /v3/sessions/s/statements": cancel} },
		"while it is looked for": func(g *gateway, cancel func()) { g.on = map[string]func(){result: cancel} },
	} {
		synctest.Test(t, func(t *testing.T) {
			g := script()
			g.answers[result] = g.answers[result][:1]
			c, err := Embed(t.Context(), g, Options{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			giveUp(g, cancel)
			if _, err := c.Execute(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			if last := g.asked[len(g.asked)-1]; !strings.HasPrefix(last, "DELETE /v3/sessions/s/operations/o/close") {
				t.Errorf("%s: %s", name, last)
			}
			before := len(g.asked)
			if _, err := c.Execute(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) || len(g.asked) > before {
				t.Errorf("%s, then again: %v", name, err)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"errors":["Internal server error.","<Exception on server side:\na.B: x\n\tat a\nCaused by: c.D: y\nmore\n\tat b\n\t... 7 more\n\nEnd of exception on server side>"]}`: "c.D: y\nmore",
		`{"errors":["a.B: x\nCaused by: c.D: y"]}`: "c.D: y",
		`nothing`: "The gateway answered with status 500: nothing",
	} {
		if got := Root(failed(500, []byte(text))); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	g := script()
	g.answers["GET /v1/api_versions"] = []string{`{"versions":["V1","V9"]}`}
	if _, err := Embed(t.Context(), g, Options{}); err == nil || !strings.Contains(err.Error(), "V1, V9") {
		t.Error(err)
	}
	if _, err := Dial(t.Context(), "localhost:1", Options{}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}
