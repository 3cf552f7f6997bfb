package sqlrun

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/streamgraph"
)

// A loneMaster has one job, which ends when it is told how.
type loneMaster struct {
	Master
	ended     chan error
	cancelled int
	waits     int
	submits   error
	refuses   []error // a savepoint, the last one for good
}

func (m *loneMaster) Wait(ctx context.Context, _ ident.JobID) error {
	m.waits++
	select {
	case err := <-m.ended:
		m.ended <- err
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *loneMaster) Cancel(context.Context, ident.JobID) error {
	m.cancelled++
	return nil
}

// jobs gives a job on a cluster and one in this process, whose rows are asked for so and
// which end when end is called.
func jobs(ask func(ctx context.Context) (*batch.Columns, error)) map[string]struct {
	next   func(ctx context.Context) (*batch.Columns, error)
	end    func(error)
	cancel func()
} {
	m := &loneMaster{ended: make(chan error, 1)}
	far, here := &clusterJob{master: m}, &embeddedJob{ended: make(chan struct{})}
	far.rows, here.rows = newReader(toTheEnd(ask, far.unread)), newReader(toTheEnd(ask, here.unread))
	return map[string]struct {
		next   func(ctx context.Context) (*batch.Columns, error)
		end    func(error)
		cancel func()
	}{
		"on a cluster": {far.Next, func(err error) { m.ended <- err }, far.rows.cancel},
		"embedded":     {here.Next, func(err error) { here.err = err; close(here.ended) }, here.rows.cancel},
	}
}

// Whoever asks for the last rows may give up while the job ends, and hears of its end when
// they ask again.
func TestTheEndOfRowsAndOfTheJob(t *testing.T) {
	why := errors.New("why it failed")
	for _, c := range []struct{ rows, job, want error }{
		{io.EOF, nil, io.EOF}, {io.EOF, why, why}, {errors.New("it has ended"), why, why},
	} {
		synctest.Test(t, func(t *testing.T) {
			for name, j := range jobs(func(context.Context) (*batch.Columns, error) { return nil, c.rows }) {
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					if _, err := j.next(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s, while the job ends: %v", name, err)
					}
					cancel()
				}
				j.end(c.job)
				for range 2 {
					if _, err := j.next(t.Context()); !errors.Is(err, c.want) {
						t.Errorf("%s: %v, want %v", name, err, c.want)
					}
				}
				j.cancel()
			}
		})
	}
}

// A cluster that has not answered may run the job on: nobody waits for its end, and it is
// cancelled.
func TestAClusterThatDoesNotAnswer(t *testing.T) {
	m := &loneMaster{ended: make(chan error, 1)}
	lost := &unreachable{errors.New("connection reset"), "here"}
	j := &clusterJob{master: m}
	j.rows = newReader(toTheEnd(func(context.Context) (*batch.Columns, error) { return nil, lost }, j.unread))
	for range 2 {
		if _, err := j.Next(t.Context()); !errors.Is(err, lost) {
			t.Error(err)
		}
	}
	for range 2 {
		if err := j.Cancel(); err != nil {
			t.Error(err)
		}
	}
	if m.cancelled != 1 {
		t.Errorf("cancelled %d times", m.cancelled)
	}
}

// A job whose rows have ended is waited for as long as it takes; one whose rows cannot be read
// any more is not: it waits for its reader.
func TestRowsThatCannotBeReadAnyMore(t *testing.T) {
	lost, failed := errors.New("the connection was lost"), errors.New("the job has failed")
	for _, c := range []struct {
		name      string
		rows      error         // the end of them
		why       error         // the end of the job
		after     time.Duration // when it ends
		want      error
		cancelled int
	}{
		{"all were read", io.EOF, nil, time.Hour, io.EOF, 0},
		{"all were read, and then it failed", io.EOF, failed, time.Hour, failed, 0},
		{"it failed", errors.New("the job has ended"), failed, time.Second, failed, 0},
		{"it goes on", lost, nil, time.Hour, lost, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &loneMaster{ended: make(chan error, 1)}
				j := &clusterJob{master: m}
				j.rows = newReader(toTheEnd(func(context.Context) (*batch.Columns, error) { return nil, c.rows }, j.unread))
				timer := time.AfterFunc(c.after, func() { m.ended <- c.why })
				defer timer.Stop()
				err := context.DeadlineExceeded
				for errors.Is(err, context.DeadlineExceeded) { // the gateway waits for a moment, and comes again
					ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
					_, err = j.Next(ctx)
					cancel()
				}
				if !errors.Is(err, c.want) || m.waits != 1 {
					t.Errorf("got %v, want %v; the master was asked for the end %d times", err, c.want, m.waits)
				}
				if err := j.Cancel(); err != nil || m.cancelled != c.cancelled {
					t.Errorf("%d times cancelled, %v; want %d", m.cancelled, err, c.cancelled)
				}
			})
		})
	}
}

// Submit takes a second.
func (m *loneMaster) Submit(ctx context.Context, _ *jobgraph.Graph) error {
	select {
	case <-time.After(time.Second):
		return m.submits
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Who gives a job up while it is submitted leaves none behind.
func TestAJobThatIsGivenUpWhileItIsSubmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &loneMaster{}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		compiled := &exec.Compiled{Compiled: &streamgraph.Compiled{Graph: &jobgraph.Graph{}}}
		if _, err := NewCluster(m).Submit(ctx, compiled, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if m.cancelled != 1 {
			t.Errorf("cancelled %d times", m.cancelled)
		}
	})
}

// A job that may have been begun although its submission failed is cancelled.
func TestAJobThatMayHaveBeenBegun(t *testing.T) {
	for _, c := range []struct {
		err       error
		cancelled int
	}{
		{&client.Error{Status: 503, Errors: []string{"The cluster did not answer within 10m0s (web.timeout)."}}, 1},
		{&unreachable{errors.New("connection reset"), "here"}, 1},
		{&client.Error{Status: 400, Errors: []string{"Job has already been submitted."}}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &loneMaster{submits: c.err}
			compiled := &exec.Compiled{Compiled: &streamgraph.Compiled{Graph: &jobgraph.Graph{}}}
			if _, err := NewCluster(m).Submit(t.Context(), compiled, nil); !errors.Is(err, c.err) || m.cancelled != c.cancelled {
				t.Errorf("%v: %v, %d times cancelled", c.err, err, m.cancelled)
			}
		})
	}
}

// A relative path is below the working directory of a process, which on a cluster is that of
// a job and goes with it: what is written there would be lost.
func TestRelativePathsAreRefusedOnACluster(t *testing.T) {
	s, err := NewEngine(nil, NewCluster(&loneMaster{})).Open(t.Context(), session.Options{Settings: map[string]string{"execution.runtime-mode": "batch"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, format := range []string{"csv", "json", "parquet"} {
		if _, err := s.Execute(t.Context(), "CREATE TABLE "+format+"_table (a INT) WITH ('connector'='filesystem', 'path'='data/in', 'format'='"+format+"')", nil); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"INSERT INTO " + format + "_table VALUES (1)", "SELECT * FROM " + format + "_table"} {
			const want = `path "data/in" is relative: on a cluster every process has a working directory of its own; give an absolute path`
			if _, err := s.Execute(t.Context(), statement, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", statement, err, want)
			}
		}
	}
}

// StopWithSavepoint refuses a few times, since the job has just begun.
func (m *loneMaster) StopWithSavepoint(_ context.Context, _ ident.JobID, directory string, _ bool) (string, error) {
	if len(m.refuses) == 0 {
		return directory + "/savepoint", nil
	}
	err := m.refuses[0]
	if len(m.refuses) > 1 {
		m.refuses = m.refuses[1:]
	}
	return "", err
}

// A savepoint of a job that has just begun waits until its tasks run.
func TestASavepointOfAJobThatBegins(t *testing.T) {
	begins := &checkpoint.Error{Reason: checkpoint.TasksNotRunning, Detail: "The job is CREATED."}
	ended := &checkpoint.Error{Reason: checkpoint.TasksNotRunning, Detail: "All tasks of the job have already finished."}
	gone := errors.New("Could not find Flink job")
	for _, c := range []struct {
		refuses []error
		want    error
		within  time.Duration
	}{
		{[]error{begins, begins, gone}, gone, time.Second},
		{[]error{ended}, ended, 0},
		{[]error{begins}, begins, beginning + time.Second},
		{nil, nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := time.Now()
			at, err := NewCluster(&loneMaster{refuses: c.refuses}).StopWithSavepoint(t.Context(), strings.Repeat("a", 32), "/s", false)
			if !errors.Is(err, c.want) || (err == nil) != (at == "/s/savepoint") || time.Since(asked) > c.within {
				t.Errorf("%v: %q, %v after %v", c.refuses, at, err, time.Since(asked))
			}
		})
	}
}

// Stop has been heard.
func (m *loneMaster) Stop(context.Context, ident.JobID) error { return nil }

// A job that is stopped has ended then, unless it takes long.
func TestAJobThatIsStopped(t *testing.T) {
	for takes, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: cancelTimeout} {
		synctest.Test(t, func(t *testing.T) {
			m := &loneMaster{ended: make(chan error, 1)}
			timer := time.AfterFunc(takes, func() { m.ended <- errors.New("it was canceled") })
			defer timer.Stop()
			began := time.Now()
			if err := NewCluster(m).Stop(t.Context(), strings.Repeat("a", 32)); err != nil || time.Since(began) != want {
				t.Errorf("%v after %v, want none after %v", err, time.Since(began), want)
			}
		})
	}
}
