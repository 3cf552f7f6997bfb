package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// Jobs is what a Runner may be besides: one that can be asked for the jobs where it runs
// its own, whoever has begun them. Its methods may be called from any goroutine.
type Jobs interface {
	// List gives all jobs that are known, running and ended.
	List(ctx context.Context) ([]JobInfo, error)
	// Stop cancels a job.
	Stop(ctx context.Context, id string) error
	// StopWithSavepoint ends a job by a savepoint, in the directory if it is not empty, and
	// gives where that is. With drain, windows and timers fire first.
	StopWithSavepoint(ctx context.Context, id, directory string, drain bool) (path string, err error)
}

// JobInfo is a job as it is listed.
type JobInfo struct {
	ID, Name, State string
	Start           time.Time
}

// jobs gives whom to ask for jobs.
func (st *statement) jobs() (Jobs, error) {
	if j, ok := st.o.Runner.(Jobs); ok {
		return j, nil
	}
	return nil, refused(session.ClassRefused, "%s: where this session's jobs run cannot be asked", firstWords(st.text))
}

// jobColumns are those of lists of jobs.
var jobColumns = []types.Field{column("job id", types.String()), column("job name", types.String()), column("status", types.String()),
	column("start time", types.TimestampLTZOf(6))}

// listing makes a result of jobs.
func listing(jobs []JobInfo) *session.Result {
	block := &batch.Columns{N: len(jobs)}
	for _, f := range jobColumns {
		block.Cols = append(block.Cols, batch.NewColumn(f.Type))
	}
	for _, j := range jobs {
		for i, text := range []string{j.ID, j.Name, j.State} {
			block.Cols[i].AppendBytes([]byte(text))
		}
		block.Cols[3].AppendMoment(j.Start.UnixMilli(), 0)
	}
	return &session.Result{Schema: jobColumns, Content: true, Rows: &made{block}}
}

// showJobs lists the jobs, those that were begun last first.
func (st *statement) showJobs() (*session.Result, error) {
	if st.planOnly {
		return listing(nil), nil
	}
	all, err := st.list()
	if err != nil {
		return nil, err
	}
	return listing(all), nil
}

func (st *statement) list() ([]JobInfo, error) {
	jobs, err := st.jobs()
	if err != nil {
		return nil, err
	}
	all, err := jobs.List(st.ctx)
	if err != nil {
		return nil, &session.Error{Class: session.ClassExecution, Text: "Failed to list the jobs in the cluster.", Cause: err}
	}
	return all, nil
}

// describeJob tells of one job.
func (st *statement) describeJob(d *ast.Describe) (*session.Result, error) {
	if st.planOnly {
		return listing(nil), nil
	}
	all, err := st.list()
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		if j.ID == d.Job.Value {
			return listing([]JobInfo{j}), nil
		}
	}
	return nil, refused(session.ClassExecution, "Described job %s does not exist in the cluster.", d.Job.Value)
}

// stopJob ends a job.
func (st *statement) stopJob(s *ast.StopJob) (*session.Result, error) {
	if st.planOnly {
		return done(), nil
	}
	jobs, err := st.jobs()
	if err != nil {
		return nil, err
	}
	id := s.Job.Value
	failed := func(err error) error {
		return &session.Error{Class: session.ClassExecution, Text: fmt.Sprintf("Could not stop job %s.", id), Cause: err}
	}
	if !s.Savepoint {
		if err := jobs.Stop(st.ctx, id); err != nil {
			return nil, failed(err)
		}
		return done(), nil
	}
	path, err := jobs.StopWithSavepoint(st.ctx, id, config.SavepointDirectory.In(st.config), s.Drain)
	if err != nil {
		return nil, failed(err)
	}
	return told([]types.Field{column("savepoint path", types.String())}, []any{path}), nil
}
