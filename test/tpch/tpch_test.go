// Package tpch_test asks TPC-H's 22 queries of small tables of the same shape, and
// compares the answers with kept ones, which DuckDB has given, too.
package tpch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/bench/tpch"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// TestQueries asks all queries with one subtask to an operator and with two.
func TestQueries(t *testing.T) {
	dir := t.TempDir()
	if keep := os.Getenv("TPCH_TABLES"); keep != "" {
		dir = keep // to ask other programs the same
	}
	generate(t, dir)
	for _, parallelism := range []string{"1", "2"} {
		t.Run("parallelism="+parallelism, func(t *testing.T) {
			s := open(t, map[string]string{"execution.runtime-mode": "batch", "parallelism.default": parallelism,
				"execution.batch.adaptive.auto-parallelism.enabled": "false"})
			for _, table := range tpch.Tables {
				if _, err := s.Execute(t.Context(), strings.TrimSuffix(table.Create(dir), ";\n"), nil); err != nil {
					t.Fatal(err)
				}
			}
			datadriven.RunTest(t, "testdata/answers", func(t *testing.T, d *datadriven.TestData) string {
				var number int
				if _, err := fmt.Sscanf(d.Cmd, "q%d", &number); err != nil {
					d.Fatalf(t, "no query: %v", err)
				}
				return answer(t.Context(), s, strings.TrimSuffix(tpch.Query(number), ";\n"))
			})
		})
	}
}

func open(t *testing.T, settings map[string]string) session.Session {
	t.Helper()
	runner := sqlrun.NewEmbedded(nil, nil)
	t.Cleanup(runner.Close)
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Settings: settings, Now: time.Now})
	s, err := e.Open(t.Context(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answer shows the rows of a query, with a bar between columns.
func answer(ctx context.Context, s session.Session, query string) string {
	r, err := s.Execute(ctx, query, nil)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	defer r.Rows.Close()
	var out strings.Builder
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			return out.String() + "error: " + err.Error() + "\n"
		}
		b = b.Compact()
		for i := range b.N {
			var cells []string
			for k, c := range b.Cols {
				if c.IsNull(i) {
					cells = append(cells, "<NULL>")
				} else {
					cells = append(cells, r.Show(r.Schema[k].Type, c, i))
				}
			}
			out.WriteString(strings.Join(cells, " | ") + "\n")
		}
	}
}
