package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// gone is why a job fails whose table was replaced, as another process tells it.
var gone = errors.New(exec.Replaced(errors.New("open /t/a: no such file or directory")).Error())

// A replacing runner has jobs that fail because their table was replaced, before or after
// their first row, and then one that has one row.
type replacingRunner struct {
	failures  int
	given     bool // a row comes before the failure
	begun     int
	cancelled []string
}

func (r *replacingRunner) Submit(context.Context, *exec.Compiled, []types.Field) (engine.Job, error) {
	r.begun++
	j := &replacedJob{r: r, id: fmt.Sprint(r.begun), end: io.EOF}
	if j.rows = 1; r.begun <= r.failures {
		j.end = gone
		if !r.given {
			j.rows = 0
		}
	}
	return j, nil
}

type replacedJob struct {
	r    *replacingRunner
	id   string
	rows int
	end  error
}

func (j *replacedJob) ID() string { return j.id }

func (j *replacedJob) Next(context.Context) (*batch.Columns, error) {
	if j.rows == 0 {
		return nil, j.end
	}
	j.rows--
	c := batch.NewColumn(types.Of(types.Int))
	batch.Append(c, int32(7))
	return &batch.Columns{N: 1, Cols: []*batch.Column{c}}, nil
}

func (j *replacedJob) Wait(context.Context) error {
	if j.end == io.EOF {
		return nil
	}
	return j.end
}

func (j *replacedJob) Cancel() error {
	j.r.cancelled = append(j.r.cancelled, j.id)
	return nil
}

func opened(t *testing.T, runner engine.Runner) session.Session {
	t.Helper()
	s, err := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Now: time.Now}).Open(t.Context(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A query whose table is replaced while it reads begins again, as long as nobody has seen a
// row of it, and not for ever.
func TestQueriesOfATableThatIsReplaced(t *testing.T) {
	for _, test := range []struct {
		failures    int
		given       bool
		rows, begun int
		fails       bool
	}{{0, false, 1, 1, false}, {1, false, 1, 2, false}, {4, false, 1, 5, false}, {5, false, 0, 5, true}, {1, true, 1, 1, true}} {
		runner := &replacingRunner{failures: test.failures, given: test.given}
		s := opened(t, runner)
		result, err := s.Execute(t.Context(), "SELECT 7", nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for {
			b, err := result.Rows.Next(t.Context())
			if err == nil {
				rows += b.Len()
				continue
			}
			if test.fails != (err != io.EOF) || test.fails && !strings.Contains(err.Error(), "so run the statement again") {
				t.Errorf("%+v: the end is %v", test, err)
			}
			break
		}
		if rows != test.rows || runner.begun != test.begun {
			t.Errorf("%+v: %d rows of %d jobs", test, rows, runner.begun)
		}
		if err := result.Rows.Close(); err != nil || len(runner.cancelled) != 1 || runner.cancelled[0] != fmt.Sprint(test.begun) {
			t.Errorf("%+v: %v, canceled are jobs %q", test, err, runner.cancelled)
		}
	}
}

// A refresh whose query reads a table that is replaced meanwhile is done again.
func TestRefreshOfATableThatIsReplaced(t *testing.T) {
	for failures, wanted := range map[int]string{0: "1", 2: "3"} {
		runner := &replacingRunner{failures: failures}
		s := opened(t, runner)
		for _, statement := range []string{"CREATE MATERIALIZED TABLE m WITH ('connector'='filesystem', 'path'='" + t.TempDir() + "', 'format'='csv') FRESHNESS = INTERVAL '1' DAY REFRESH_MODE = FULL AS SELECT 7 AS n", "ALTER MATERIALIZED TABLE m SUSPEND"} {
			if _, err := s.Execute(t.Context(), statement, nil); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		runner.begun = 0
		result, err := s.Execute(t.Context(), "ALTER MATERIALIZED TABLE m REFRESH", nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := result.Rows.Next(t.Context())
		if err != nil || string(b.Cols[0].Bytes(0)) != wanted {
			t.Errorf("%d failures: %v, want job %s", failures, err, wanted)
		}
	}
}
