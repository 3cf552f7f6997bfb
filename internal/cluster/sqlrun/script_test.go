package sqlrun_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.uber.org/goleak"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Scripts of testdata: "sql" runs a statement and shows its schema and its rows, or why
// it was refused.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		runner := sqlrun.NewEmbedded(nil, nil)
		defer runner.Close()
		e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Settings: map[string]string{
			"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"}, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
		s, err := e.Open(t.Context(), session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return answer(t.Context(), s, d.Input)
		})
	})
}

func answer(ctx context.Context, s session.Session, statement string) string {
	r, err := s.Execute(ctx, statement, nil)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Rows.Close()
	var out strings.Builder
	if r.Query {
		for i, f := range r.Schema {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(f.Name + " " + f.Type.String())
		}
		out.WriteString("\n")
	}
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			return out.String() + "error: " + err.Error()
		}
		b = b.Compact()
		for i := range b.N {
			for k, c := range b.Cols {
				if k > 0 {
					out.WriteString(" | ")
				}
				if c.IsNull(i) {
					out.WriteString("<NULL>")
				} else {
					out.WriteString(r.Show(r.Schema[k].Type, c, i))
				}
			}
			out.WriteString("\n")
		}
	}
}
