package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
)

// declared is a connector of tables that are planned for and never read.
type declared struct{ d connector.Declaration }

func (d declared) Declaration() connector.Declaration { return d.d }

func (d declared) Source(*plan.Scan, *expr.Session) (exec.End, error) {
	return exec.End{}, errors.New("nobody reads")
}

func (d declared) Sink(*plan.Write, *expr.Session) (exec.End, error) {
	return exec.End{}, errors.New("nobody writes")
}

// Scripts of testdata: "sql" carries out statements one after another, jobs only planned,
// and shows the last one's rows, or why it was refused.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		e := engine.New(engine.Options{Registry: builtin.Registry(),
			Connectors: exec.Connectors{
				"both": declared{connector.Declaration{Source: true, Sink: true, Partitions: true, Overwrite: true, Required: []string{"path"}, Optional: []string{"format", "csv.*"}}},
				"sink": declared{connector.Declaration{Sink: true}},
			},
			Settings: map[string]string{"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"},
			Now:      func() time.Time { return time.Unix(1_700_000_000, 0) }})
		s, err := e.Open(t.Context(), session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := ""
			for _, statement := range strings.Split(d.Input, ";\n") {
				if out, err = answer(t.Context(), s.(*engine.Session), statement); err != nil {
					return "error: " + err.Error() + "\n"
				}
			}
			return out
		})
	})
}

func answer(ctx context.Context, s *engine.Session, statement string) (string, error) {
	r, err := s.Check(ctx, statement)
	if err != nil {
		return "", err
	}
	defer r.Rows.Close()
	var out strings.Builder
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", err
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
