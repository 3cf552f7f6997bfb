package sqlclient

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/sqlgateway"
	"github.com/weirstream/weir/internal/sqlgateway/client"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/types"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// An engine answers the statements it was told of. It knows SET, RESET and that some
// statements say no more than OK.
type engine struct {
	answers map[string]answer

	mu       sync.Mutex
	settings map[string]string
}

// An answer is the result of a statement, its rows as they are shown.
type answer struct {
	columns []types.Field
	rows    string // one a line, + for kinds but +I, fields between |, and ~ for NULL
	query   bool
	job     string
	err     error
	endless chan<- struct{} // told when the rows are waited for, which never end; nil: they end
}

func (e *engine) Open(_ context.Context, o session.Options) (session.Session, error) {
	e.settings = map[string]string{}
	maps.Copy(e.settings, o.Settings)
	return e, nil
}

var setting = regexp.MustCompile(`(?i)^SET '?([^'= ]+)'? ?= ?'?([^';]+)'?;?$`)

func (e *engine) Execute(_ context.Context, statement string, _ map[string]string) (*session.Result, error) {
	text := bare(statement)
	if a, ok := e.answers[text]; ok {
		return a.result()
	}
	if len(text) > 200 {
		return e.answers[text[:32]].result()
	}
	if m := setting.FindStringSubmatch(text); m != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.settings[m[1]] = m[2]
		return answer{}.result()
	}
	switch verb, _, _ := strings.Cut(text, " "); verb {
	case "CREATE", "BEGIN", "RESET", "DROP", "USE", "INSERT":
		return answer{}.result()
	}
	return nil, fmt.Errorf("nobody answers %q", text)
}

func (e *engine) Configure(ctx context.Context, statement string) error {
	if strings.HasPrefix(statement, "SELECT") {
		return session.ErrNotConfiguring
	}
	_, err := e.Execute(ctx, statement, nil)
	return err
}

func (e *engine) Complete(context.Context, string, int) ([]string, error) { return nil, nil }

func (e *engine) Settings() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.settings)
}

func (e *engine) Close() error { return nil }

func (a answer) result() (*session.Result, error) {
	if a.err != nil {
		return nil, a.err
	}
	r := &session.Result{
		Schema: a.columns, Content: a.columns != nil, Query: a.query, Job: a.job,
		Show: func(_ types.Type, c *batch.Column, i int) string { return string(c.Bytes(i)) },
	}
	if a.columns == nil {
		r.Schema, a.rows = []types.Field{{Name: "result", Type: types.String()}}, "OK"
	}
	b := &batch.Columns{}
	for range r.Schema {
		b.Cols = append(b.Cols, batch.NewColumn(types.String()))
	}
	for line := range strings.SplitSeq(a.rows, "\n") {
		if line == "" {
			continue
		}
		kind := batch.Insert
		for k, name := range opNames {
			if rest, ok := strings.CutPrefix(line, name+" "); ok {
				kind, line = batch.RowKind(k), rest
			}
		}
		b.Kind = append(b.Kind, kind)
		b.N++
		fields := []string{line}
		if len(r.Schema) > 1 {
			fields = strings.Split(line, "|")
		}
		for i, f := range fields {
			if f == "~" {
				b.Cols[i].AppendNull()
			} else {
				b.Cols[i].AppendBytes([]byte(strings.ReplaceAll(f, "\\n", "\n")))
			}
		}
	}
	r.Rows = &someRows{batches: []*batch.Columns{b}, endless: a.endless}
	return r, nil
}

type someRows struct {
	batches []*batch.Columns
	endless chan<- struct{}
}

func (r *someRows) Next(ctx context.Context) (*batch.Columns, error) {
	switch {
	case len(r.batches) > 0:
		b := r.batches[0]
		r.batches = r.batches[1:]
		return b, nil
	case r.endless != nil:
		select {
		case r.endless <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, io.EOF
}

func (r *someRows) Close() error { return nil }

// at gives a client of an engine, and what it prints.
func at(t *testing.T, e *engine, settings map[string]string) (*Client, *bytes.Buffer) {
	t.Helper()
	cfg, err := config.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	server := sqlgateway.New(sqlgateway.Options{Config: cfg, Engine: e, Version: "2.3.0"})
	c, err := client.Embed(t.Context(), server, client.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	var out bytes.Buffer
	return &Client{Gateway: c, Out: &out}, &out
}

// columns makes a schema of names and types, in turn.
func columns(all ...any) []types.Field {
	var fields []types.Field
	for i := 0; i < len(all); i += 2 {
		fields = append(fields, types.Field{Name: all[i].(string), Type: all[i+1].(types.Type)})
	}
	return fields
}
