package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// errGone is why a job fails whose table was replaced, as another process tells it.
var errGone = errors.New(exec.Replaced(errors.New("open /t/a: no such file or directory")).Error())

// A replacing runner has jobs that fail because their table was replaced, before or after
// their first row, and then one that has one row.
type replacingRunner struct {
	failures  int
	given     bool // a row comes before the failure
	begun     int
	takes     time.Duration // to begin a job
	cancelled []string
}

func (r *replacingRunner) Submit(ctx context.Context, _ *exec.Compiled, _ []types.Field) (engine.Job, error) {
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.begun++
	j := &replacedJob{r: r, id: fmt.Sprint(r.begun), end: io.EOF}
	if j.rows = 1; r.begun <= r.failures {
		j.end = errGone
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

// Whoever waits for rows for a moment only, and asks again, gets those of a query that takes
// longer to begin again.
func TestAQueryThatBeginsAgainSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runner := &replacingRunner{failures: 2, takes: 5 * time.Second}
		result, err := opened(t, runner).Execute(t.Context(), "SELECT 7", nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for asked := 0; err != io.EOF && asked < 10; asked++ {
			var b *batch.Columns
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if b, err = result.Rows.Next(ctx); err == nil {
				rows += b.Len()
			}
			cancel()
		}
		if err != io.EOF || rows != 1 || runner.begun != 3 {
			t.Errorf("%d rows of %d jobs, %v", rows, runner.begun, err)
		}
	})
}

// A slowlyEnding runner has jobs that run until they are canceled, and then for a second.
type slowlyEnding struct{ running atomic.Int32 }

func (r *slowlyEnding) Submit(context.Context, *exec.Compiled, []types.Field) (engine.Job, error) {
	r.running.Add(1)
	return &endingJob{r: r, ended: make(chan struct{})}, nil
}

type endingJob struct {
	endlessJob
	r     *slowlyEnding
	once  sync.Once
	ended chan struct{}
}

func (j *endingJob) Wait(ctx context.Context) error {
	select {
	case <-j.ended:
		return errors.New("it was canceled")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *endingJob) Cancel() error {
	j.once.Do(func() {
		time.AfterFunc(time.Second, func() {
			j.r.running.Add(-1)
			close(j.ended)
		})
	})
	return nil
}

// Whoever is told that nothing writes a table any more finds it so: a job that is canceled may
// write to the end what it has begun to.
func TestCanceledWritersHaveEnded(t *testing.T) {
	const create = "CREATE MATERIALIZED TABLE m WITH ('connector'='filesystem', 'path'='/m', 'format'='csv') FRESHNESS = INTERVAL '1' DAY REFRESH_MODE = FULL AS SELECT 7 AS n"
	for name, statements := range map[string][]string{
		"suspended": {create, "ALTER MATERIALIZED TABLE m SUSPEND"},
		"dropped":   {create, "DROP MATERIALIZED TABLE m"},
		"altered":   {create, "ALTER MATERIALIZED TABLE m SUSPEND", "CREATE OR ALTER MATERIALIZED TABLE m AS SELECT 8 AS n"},
		"given up":  {"SET 'table.dml-sync'='true'", "CREATE TABLE t (n INT) WITH ('connector'='blackhole')", "INSERT INTO t VALUES (1)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			runner := &slowlyEnding{}
			s := opened(t, runner)
			for _, statement := range statements {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if _, err := s.Execute(ctx, statement, nil); err != nil && ctx.Err() == nil {
					t.Fatalf("%s: %s: %v", name, statement, err)
				}
				cancel()
				synctest.Wait()
			}
			if n := runner.running.Load(); n != 0 {
				t.Errorf("%s: %d jobs run", name, n)
			}
		})
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
