package operator

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/connector"
)

// The pauses before a commit is tried again, and how often it is in a row.
const (
	firstCommitPause = 100 * time.Millisecond
	lastCommitPause  = 10 * time.Second
	commitTries      = 20
)

// SinkTo makes the operator at the end of a stream that writes to a connector's
// sink in two phases.
func SinkTo[T any](sink connector.Sink[T]) Factory {
	return FactoryFunc(func(c *Context, _ any) any {
		var write func(T, int64) error
		s := newCommitting(c, func(c connector.SinkContext) (writing, connector.Committer, error) {
			w, committer, err := sink.Open(c)
			if w == nil {
				return nil, committer, err
			}
			write = w.Write
			return w, committer, err
		})
		take := write // which does not change any more
		return &Receiver[T]{
			Push: func(v T, ts int64) {
				if err := take(v, ts); err != nil {
					c.failed(err)
				}
			},
			Watermark: noWatermark,
			Idle:      noIdle,
			Finish:    s.finish,
		}
	})
}

// writing is what a connector.Writer does but for records, of whatever type.
type writing interface {
	Flush(end bool) error
	Prepare(checkpoint int64) (committables [][]byte, err error)
	State() ([][]byte, error)
	Close() error
}

// newCommitting makes what drives a writer and a committer, which open makes.
func newCommitting(c *Context, open func(connector.SinkContext) (writing, connector.Committer, error)) *committing {
	s := &committing{c: c, metrics: c.sinkMetrics(), ctx: taskContext{Context: context.Background(), done: c.Done()}}
	c.OnClose(s.close)
	c.Keep(c.OperatorID, Kept{
		Lists: []KeptList{
			{Name: "committables", Mode: Gathered, Schema: "json", Save: s.saveCommittables, Load: s.loadCommittables},
			{Name: "writers", Mode: Gathered, Schema: "json", Save: s.saveWriter, Load: s.loadWriters},
		},
		Prepare:  s.prepare,
		Complete: s.complete,
	})
	s.open(open)
	c.OnFlush(func() { s.check(s.writer.Flush(false)) })
	return s
}

// committing drives the writer and the committer of one subtask.
//
// Invariant: due and later together are what has been prepared and not committed,
// in the order of their checkpoints; those of due are complete.
type committing struct {
	c          *Context
	metrics    *connector.SinkMetrics
	ctx        context.Context
	writer     writing
	committer  connector.Committer
	due        []connector.Committable
	later      []connector.Committable
	restored   *connector.Restored
	checkpoint int64 // that was prepared last
	// tries are how often in a row a commit has failed; again is set while the next
	// one is waited for.
	tries int
	again bool
}

func (s *committing) check(err error) {
	if err != nil {
		s.c.failed(err)
	}
}

// open makes writer and committer, and commits what a checkpoint held.
func (s *committing) open(open func(connector.SinkContext) (writing, connector.Committer, error)) {
	c := s.c
	if s.restored != nil {
		s.restored.Pending = slices.Clone(s.due)
	}
	var err error
	s.writer, s.committer, err = open(connector.SinkContext{
		Job: c.JobID, Operator: c.OperatorID.String(), Name: c.Operator, Subtask: c.Subtask, Parallelism: c.Parallelism, Attempt: c.Attempt,
		Checkpoints: c.Checkpoints, Restored: s.restored, Done: c.Done(), Metrics: s.metrics, Logger: c.Logger,
		Now: func() time.Time { return time.UnixMilli(c.Now()) },
		After: func(d time.Duration, f func() error) func() {
			return c.At(c.Now()+d.Milliseconds(), func() { s.check(f()) })
		},
	})
	s.restored = nil
	if err != nil {
		c.failed(fmt.Errorf("open: %w", err))
	}
	s.commit()
}

// finish lets out what the writer holds: no record follows.
func (s *committing) finish() { s.check(s.writer.Flush(true)) }

// prepare takes what belongs to a checkpoint.
func (s *committing) prepare(checkpoint int64) {
	s.checkpoint = checkpoint
	all, err := s.writer.Prepare(checkpoint)
	s.check(err)
	for _, data := range all {
		s.later = append(s.later, connector.Committable{Data: data, Subtask: s.c.Subtask, Checkpoint: checkpoint})
	}
}

// complete commits what belongs to a checkpoint and those before it.
func (s *committing) complete(checkpoint int64) {
	n := 0
	for n < len(s.later) && s.later[n].Checkpoint <= checkpoint {
		n++
	}
	s.due = append(s.due, s.later[:n]...)
	s.later = slices.Clone(s.later[n:])
	if !s.again {
		s.commit()
	}
}

// commit commits what is due, or sets a time to try it again.
func (s *committing) commit() {
	pause := s.tryCommit()
	if pause == 0 {
		return
	}
	s.again = true
	s.c.At(s.c.Now()+pause.Milliseconds(), func() {
		s.again = false
		s.commit()
	})
}

// tryCommit commits what is due. If it may be tried again it says after what pause.
func (s *committing) tryCommit() (pause time.Duration) {
	for len(s.due) > 0 {
		done, err := s.committer.Commit(s.ctx, s.due)
		if err == nil && done <= 0 || done > len(s.due) {
			err = fmt.Errorf("the committer says that it has done %d of %d committables", done, len(s.due))
		}
		if done > 0 {
			s.due, s.tries = s.due[min(done, len(s.due)):], 0
		}
		if err == nil {
			continue
		}
		s.tries++
		s.metrics.Failed(1)
		if !connector.IsRetriable(err) || s.tries >= commitTries {
			s.c.failed(fmt.Errorf("commit what was written: %w", err))
		}
		pause = min(firstCommitPause<<(s.tries-1), lastCommitPause)
		s.c.Logger.Warn("what was written could not be committed", "error", err, "left", len(s.due), "try", s.tries, "again", pause)
		return pause
	}
	s.due = nil
	return 0
}

// close commits what no checkpoint will, in a task that has finished.
func (s *committing) close(failed bool) {
	if s.writer == nil {
		return
	}
	defer func() { s.check(s.writer.Close()) }()
	if failed {
		return
	}
	s.prepare(connector.AtEnd)
	s.due, s.later = append(s.due, s.later...), nil
	for pause := s.tryCommit(); pause > 0; pause = s.tryCommit() {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.c.Done():
			timer.Stop()
			Abort(errors.New("canceled while what was written could not be committed"))
		}
	}
}

// savedCommittable is a Committable in a checkpoint.
type savedCommittable struct {
	Subtask    int    `json:"subtask"`
	Checkpoint int64  `json:"checkpoint"`
	Data       []byte `json:"data"`
}

func (s *committing) saveCommittables() (all [][]byte) {
	for _, c := range append(slices.Clone(s.due), s.later...) {
		text, err := json.Marshal(savedCommittable{Subtask: c.Subtask, Checkpoint: c.Checkpoint, Data: c.Data})
		Check(err)
		all = append(all, text)
	}
	return all
}

// loadCommittables takes over what the earlier subtasks that this one owns had not
// committed: the checkpoint is complete, so it is due.
func (s *committing) loadCommittables(elements [][]byte) error {
	for _, text := range elements {
		var saved savedCommittable
		if err := json.Unmarshal(text, &saved); err != nil {
			return fmt.Errorf("read what a checkpoint has to commit: %w", err)
		}
		if s.owns(saved.Subtask) {
			s.due = append(s.due, connector.Committable{Data: saved.Data, Subtask: saved.Subtask, Checkpoint: saved.Checkpoint, Again: true})
		}
	}
	slices.SortStableFunc(s.due, func(a, b connector.Committable) int { return int(a.Checkpoint - b.Checkpoint) })
	return nil
}

// savedWriter is what a checkpoint holds of one subtask's writer. There is one even
// if the writer keeps nothing: it says that there was a checkpoint, and which.
type savedWriter struct {
	Subtask    int      `json:"subtask"`
	Checkpoint int64    `json:"checkpoint"`
	States     [][]byte `json:"states"`
}

func (s *committing) saveWriter() [][]byte {
	states, err := s.writer.State()
	s.check(err)
	text, err := json.Marshal(savedWriter{Subtask: s.c.Subtask, Checkpoint: s.checkpoint, States: states})
	Check(err)
	return [][]byte{text}
}

func (s *committing) loadWriters(elements [][]byte) error {
	for _, text := range elements {
		var saved savedWriter
		if err := json.Unmarshal(text, &saved); err != nil {
			return fmt.Errorf("read what a checkpoint has of a writer: %w", err)
		}
		if s.restored == nil {
			s.restored = &connector.Restored{}
		}
		s.restored.Checkpoint = max(s.restored.Checkpoint, saved.Checkpoint)
		if !s.owns(saved.Subtask) {
			continue
		}
		for _, data := range saved.States {
			s.restored.States = append(s.restored.States, connector.State{Subtask: saved.Subtask, Data: data})
		}
	}
	return nil
}

func (s *committing) owns(earlier int) bool { return earlier%s.c.Parallelism == s.c.Subtask }

// taskContext ends when its task is canceled.
type taskContext struct {
	context.Context
	done <-chan struct{}
}

func (c taskContext) Done() <-chan struct{} { return c.done }

func (c taskContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}
