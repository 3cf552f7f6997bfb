package jobmaster

import (
	"fmt"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/status"
)

// A Savepoint is what a person asks for.
type Savepoint struct {
	// Target is the directory in which the savepoint's own one is made.
	Target fs.Location
	Format snapshot.Format
	// Stop says what becomes of the job after it.
	Stop checkpoint.Stop
}

// A NotStreamingError refuses checkpoints and savepoints of a batch job.
type NotStreamingError struct{ Job ident.JobID }

func (e *NotStreamingError) Error() string {
	return fmt.Sprintf("Job %s is not a streaming job.", e.Job)
}

// A StoppingError says that a job which was to end after a savepoint did not; the
// savepoint is there.
type StoppingError struct {
	Job       ident.JobID
	Savepoint fs.Location
}

// Error gives Flink's text.
func (e *StoppingError) Error() string {
	return fmt.Sprintf("A savepoint has been created at: %s, but the corresponding job %s failed during stopping. "+
		"The savepoint is consistent, but might have uncommitted transactions. "+
		"If you want to commit the transaction please restart a job from this savepoint.", e.Savepoint, e.Job)
}

// stopping is the savepoint after which the job is to end, from when it is complete.
type stopping struct {
	savepoint fs.Location
	then      func(fs.Location, error)
}

// TakeCheckpoint takes a checkpoint now, one that refers to no older file if full
// is set. then is called once, with its id, or with an *checkpoint.Error or a
// *NotStreamingError.
func (m *Master) TakeCheckpoint(full bool, then func(id int64, err error)) {
	m.post(func() {
		if m.checkpoints == nil {
			then(0, &NotStreamingError{m.job})
			return
		}
		m.log.Info("checkpoint asked for", "full", full)
		m.checkpoints.owner.Ask(checkpoint.Request{Full: full}, func(a checkpoint.Answer) { then(a.Checkpoint, a.Err) })
	})
}

// TakeSavepoint takes a savepoint. then is called once: with where it is, when it
// is complete, and if the job is to end by it, when the job is FINISHED; or with
// an *checkpoint.Error, a *NotStreamingError or a *StoppingError.
func (m *Master) TakeSavepoint(s Savepoint, then func(at fs.Location, err error)) {
	m.post(func() {
		if m.checkpoints == nil {
			then("", &NotStreamingError{m.job})
			return
		}
		m.log.Info("savepoint asked for", "target", s.Target, "format", s.Format, "stop", s.Stop)
		request := checkpoint.Request{Kind: snapshot.Savepoint, Format: s.Format, Target: s.Target, Stop: s.Stop}
		if s.Stop == checkpoint.Suspend || s.Stop == checkpoint.Drain {
			request.Kind = snapshot.SyncSavepoint
		}
		m.checkpoints.owner.Ask(request, func(a checkpoint.Answer) { m.saved(s, a, then) })
	})
}

// saved goes on after the answer to a savepoint.
func (m *Master) saved(s Savepoint, a checkpoint.Answer, then func(fs.Location, error)) {
	switch {
	case a.Err != nil:
		then("", a.Err)
	case s.Stop == checkpoint.KeepRunning:
		then(a.Location, nil)
	case s.Stop == checkpoint.Cancel:
		m.schedule(schedule.CancelJob{})
		then(a.Location, nil)
	case m.graph.State().Terminal():
		then(a.Location, m.stopped(a.Location))
	default:
		m.checkpoints.stopping = &stopping{a.Location, then}
	}
}

// stopped is the error of a job that has ended after a savepoint; nil: as it should.
func (m *Master) stopped(savepoint fs.Location) error {
	if m.graph.State() == status.JobFinished {
		return nil
	}
	return &StoppingError{m.job, savepoint}
}

// ended tells who stopped the job by a savepoint how it has ended.
func (c *checkpoints) ended() {
	if c == nil || c.stopping == nil {
		return
	}
	s := c.stopping
	c.stopping = nil
	s.then(s.savepoint, c.m.stopped(s.savepoint))
}

// notStopped tells who stopped the job by a savepoint that its tasks run again.
// Unless all of them do, some may have finished after the savepoint: then the whole
// job begins again with it.
func (c *checkpoints) notStopped(all bool) {
	s := c.stopping
	if s == nil {
		return
	}
	c.stopping = nil
	err := &StoppingError{c.m.job, s.savepoint}
	s.then("", err)
	if !all {
		c.m.schedule(schedule.FailJob{Cause: status.FailureOf(err)})
	}
}
