package operator

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"sync"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/coordinator/splits/message"
	"github.com/weirstream/weir/internal/invariant"
)

// finding runs a source's enumerator beside the task of its first subtask, and tells
// the coordinator what it finds.
type finding struct {
	c        *Context
	source   connector.Enumerated
	ctx      context.Context // ends with the task
	sequence int64
}

// SplitsSpec is the specification of the coordinator of a source that finds its splits
// itself.
func SplitsSpec(source connector.Enumerated) string {
	text, err := json.Marshal(message.Spec{Spread: source.Spread()})
	invariant.Check(err == nil, "a specification can be written as JSON: %v", err)
	return string(text)
}

// find begins to find splits; the task's end ends it.
func find(c *Context, source connector.Enumerated) {
	ctx, stop := context.WithCancel(context.Background())
	f := &finding{c: c, source: source, ctx: ctx}
	var running sync.WaitGroup
	c.OnClose(func(bool) {
		stop()
		running.Wait()
	})
	running.Go(func() {
		err := Guard(func() { Check(f.run()) })
		if err != nil && ctx.Err() == nil {
			c.Mail(func() { Abort(err) })
		}
	})
}

func (f *finding) run() (err error) {
	begun, err := f.tell(message.Request{Begin: true})
	if err != nil || begun.Done {
		return err
	}
	e, err := f.source.Enumerator(connector.EnumeratorContext{
		Job: f.c.JobID, Name: f.c.Operator, Parallelism: f.c.Parallelism, State: begun.State, Logger: f.c.Logger,
	})
	if err != nil {
		return fmt.Errorf("open the enumerator: %w", err)
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	for {
		d, err := e.Discover(f.ctx)
		if f.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("find splits: %w", err)
		}
		found := &message.Found{State: d.State, Done: d.Done}
		for _, s := range d.Splits {
			found.Splits = append(found.Splits, message.Split{ID: s.ID, Data: s.Data})
		}
		if _, err := f.tell(message.Request{Found: found}); err != nil || d.Done {
			return err
		}
	}
}

// tell sends a request and waits for the answer, or for the task's end.
func (f *finding) tell(r message.Request) (response message.Response, err error) {
	f.sequence++
	r.Sequence = f.sequence
	request, err := json.Marshal(r)
	if err != nil {
		return response, err
	}
	type answer struct {
		payload []byte
		err     error
	}
	answers := make(chan answer, 1)
	f.c.Ask(f.c.OperatorID, request, func(payload []byte, err error) { answers <- answer{payload, err} })
	select {
	case <-f.ctx.Done():
		return response, context.Cause(f.ctx)
	case a := <-answers:
		if a.err == nil {
			a.err = json.Unmarshal(a.payload, &response)
		}
		if a.err != nil {
			return response, fmt.Errorf("tell which splits there are: %w", a.err)
		}
		return response, nil
	}
}
