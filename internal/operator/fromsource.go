package operator

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"time"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/splits/message"
	"github.com/weirstream/weir/internal/status"
)

// FromSource makes the source that reads from a connector.
func FromSource[T any](source connector.Source[T]) SourceFactory {
	return SourceFunc(func(c *Context, out any) Source {
		s := &splitReader{c: c, times: splitTimesKept{open: map[string]func() SplitTime{}}}
		o := Output[T](out)
		_, confirming := source.(connector.Confirming)
		restored := s.keep(confirming)
		s.times.expect(len(s.restored))
		context := connector.SourceContext{
			Job: c.JobID, Operator: c.OperatorID.String(), Name: c.Operator, Subtask: c.Subtask, Parallelism: c.Parallelism, Attempt: c.Attempt,
			Restored: restored, Done: c.Done(), Wake: c.Wake, Metrics: c.sourceMetrics(), Logger: c.Logger,
			Now: func() time.Time { return time.UnixMilli(c.Now()) },
			After: func(d time.Duration, f func() error) func() {
				return c.At(c.Now()+d.Milliseconds(), func() { Check(f()) })
			},
		}
		_, coordinated := source.(connector.Coordinated)
		enumerated, finds := source.(connector.Enumerated)
		if coordinated || finds {
			context.Request = s.request
		}
		reader, err := source.Open(context, splitOutput(s, o))
		Check(err)
		s.reader = reader
		for _, split := range s.restored {
			Check(reader.Add(split))
		}
		s.restored = nil
		for ; s.early > 0; s.early-- {
			s.ask()
		}
		if finds && c.Subtask == 0 {
			find(c, enumerated)
		}
		return s
	})
}

// splitOutput is where the reader emits. The event time of each split is its own where
// the next operator tells them apart, and what the source says of it where not.
func splitOutput[T any](s *splitReader, o *Receiver[T]) connector.Output[T] {
	out := connector.Output[T]{Emit: o.Push, Room: s.c.Signal.Block, Count: s.c.CountIn}
	if o.Splits != nil {
		out.Emit = o.Splits.Attach(s)
	}
	all := newSplitTimes(o.Watermark, o.Idle)
	out.Split = func(id string) connector.SplitOutput[T] {
		t := all.begin()
		to := connector.SplitOutput[T]{
			Emit:    o.Push,
			Advance: func(w int64) { all.advance(t, w) },
			Idle:    func() { all.fallIdle(t) },
			End:     func() { all.end(t) },
		}
		if o.Splits != nil {
			next := o.Splits.Begin(id, s.times.begin(id))
			s.times.open[id] = next.Time
			to.Emit = next.Push
			to.End = func() {
				delete(s.times.open, id)
				all.end(t)
				next.End()
			}
		}
		return to
	}
	return out
}

// splitReader drives the reader of one subtask.
type splitReader struct {
	c        *Context
	reader   connector.Reader // nil until it is open
	times    splitTimesKept
	pauses   map[string]int // by split: how many want no records of it
	restored [][]byte       // splits of a checkpoint, until then
	sequence int64          // of the last request
	early    int            // requests made while the reader was opened
}

// keep makes the splits part of checkpoints; restored says that the subtask goes on
// with one. A task with an operator that is told of complete checkpoints ends only
// after one.
func (s *splitReader) keep(confirming bool) (restored bool) {
	var complete func(checkpoint int64)
	if confirming {
		complete = func(checkpoint int64) {
			if l, ok := s.reader.(connector.Listening); ok {
				Check(l.Completed(checkpoint))
			}
		}
	}
	s.c.OnClose(func(bool) {
		if s.reader != nil {
			Check(s.reader.Close())
		}
	})
	s.c.Keep(s.c.OperatorID, Kept{
		Lists: []KeptList{{
			Name: "splits", Schema: "split",
			Save: func() [][]byte {
				splits, err := s.reader.Splits()
				Check(err)
				return splits
			},
			Load: func(elements [][]byte) error {
				restored = true
				s.restored = elements
				return nil
			},
		}, {
			Name: "times", Mode: Gathered, Schema: "json", Save: s.times.save, Load: s.times.load,
		}},
		Complete: complete,
	})
	return restored
}

// splitResponse is what coordinators answer: those of package splits a message.Response,
// others a split in a form of their own.
type splitResponse struct {
	Split jsontext.Value `json:"split"`
	Data  []byte         `json:"data"`
	Later bool           `json:"later"`
}

// request asks for a split.
func (s *splitReader) request() {
	if s.reader == nil {
		s.early++
		return
	}
	s.ask()
}

func (s *splitReader) ask() {
	s.sequence++
	request, err := json.Marshal(message.Request{Sequence: s.sequence, Parallelism: s.c.Parallelism})
	Check(err)
	s.c.Ask(s.c.OperatorID, request, s.receive)
}

// receive takes the coordinator's answer, on the task's goroutine.
func (s *splitReader) receive(answer []byte, err error) {
	var response splitResponse
	if err == nil {
		err = json.Unmarshal(answer, &response)
	}
	switch {
	case err != nil:
		Abort(fmt.Errorf("ask for the next split: %w", err))
	case response.Later:
		s.ask()
	case response.Data != nil:
		Check(s.reader.Add(response.Data))
	case len(response.Split) > 0:
		Check(s.reader.Add(response.Split))
	default:
		Check(s.reader.NoMore())
	}
}

// Poll lets the reader emit.
func (s *splitReader) Poll() Progress {
	progress, err := s.reader.Poll()
	Check(err)
	switch progress {
	case connector.More:
		return More
	case connector.Wait:
		return Wait
	case connector.Done:
		return Done
	}
	Abort(fmt.Errorf("the reader says that it has made progress %d, want connector.More, Wait or Done", progress))
	return Done
}

// Pause asks the reader for no more records of a split, or for them again.
func (s *splitReader) Pause(split string, paused bool) (can bool) {
	p, can := s.reader.(connector.Pausing)
	if !can {
		return false
	}
	if s.pauses == nil {
		s.pauses = map[string]int{}
	}
	before := s.pauses[split]
	if paused {
		s.pauses[split]++
	} else if s.pauses[split]--; s.pauses[split] <= 0 {
		delete(s.pauses, split)
	}
	if (before > 0) != (s.pauses[split] > 0) {
		Check(p.Pause(split, paused))
	}
	return true
}

// Record tells which record was being emitted when the task failed.
func (s *splitReader) Record() *status.Record {
	if l, ok := s.reader.(connector.Locating); ok {
		if origin, value, some := l.Locate(); some {
			return status.RecordOf(origin, value)
		}
	}
	return nil
}
