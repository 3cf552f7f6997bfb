package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// A stoppable runner has jobs that run until they are stopped, which takes a second.
type stoppable struct {
	from    []string // what the jobs began with
	stopped bool
}

func (r *stoppable) Submit(_ context.Context, c *exec.Compiled, _ []types.Field) (engine.Job, error) {
	r.from, r.stopped = append(r.from, c.Graph.Configuration[config.RecoveryPath.Key]), false
	return endlessJob(fmt.Sprint(len(r.from))), nil
}

func (r *stoppable) List(context.Context) ([]engine.JobInfo, error) {
	if r.stopped {
		return nil, nil
	}
	return []engine.JobInfo{{ID: fmt.Sprint(len(r.from)), State: "RUNNING"}}, nil
}

// Stop comes too late.
func (r *stoppable) Stop(context.Context, string) error {
	r.stopped = true
	return errors.New("it has ended")
}

func (r *stoppable) StopWithSavepoint(ctx context.Context, id, directory string, _ bool) (string, error) {
	select {
	case <-time.After(time.Second):
		r.stopped = true
		return directory + "/" + id, nil
	case <-ctx.Done():
		r.stopped = true // it goes on, as a cluster does whom nobody listens to
		return "", ctx.Err()
	}
}

type endlessJob string

func (j endlessJob) ID() string { return string(j) }
func (j endlessJob) Next(ctx context.Context) (*batch.Columns, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (j endlessJob) Wait(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
func (j endlessJob) Cancel() error                  { return nil }

// Whoever gives SUSPEND up while the savepoint is taken does not lose it: RESUME goes on from
// there. A table whose stream ends by itself as it is dropped is none the less.
func TestSuspendThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runner := &stoppable{}
		s, err := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Now: time.Now,
			Settings: map[string]string{"execution.checkpointing.savepoint-dir": "/s"}}).Open(t.Context(), session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, statement := range []string{"CREATE TABLE g (n INT) WITH ('connector'='datagen')",
			"CREATE MATERIALIZED TABLE m WITH ('connector'='blackhole') AS SELECT n FROM g", "ALTER MATERIALIZED TABLE m SUSPEND",
			"ALTER MATERIALIZED TABLE m RESUME", "ALTER MATERIALIZED TABLE m SUSPEND", "ALTER MATERIALIZED TABLE m RESUME"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			if _, err := s.Execute(ctx, statement, nil); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			cancel()
		}
		if got := fmt.Sprintf("%q", runner.from); got != `["" "/s/1" "/s/2"]` {
			t.Errorf("the streams began with %s", got)
		}
		if _, err := s.Execute(t.Context(), "DROP MATERIALIZED TABLE m", nil); err != nil {
			t.Error(err)
		}
	})
}
