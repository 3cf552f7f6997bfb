package cluster

import (
	"encoding/json/v2"
	"errors"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/coordinator/files/split"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// A portionReader asks a coordinator for splits as the reader of files does: it
// has always one that it has not begun, or has asked for one.
type portionReader struct {
	s        *stream
	operator ident.OperatorID
	sequence int64
	asked    bool // an answer is owed
	none     bool // are left
	// waiting are checkpoints that are begun when the answer is there.
	waiting []*barrier
}

// more asks for a split, if one is wanted.
func (p *portionReader) more() {
	unread := 0
	for _, one := range p.s.portions {
		if !one.done {
			unread++
		}
	}
	if p.asked || p.none || unread > 1 {
		return
	}
	p.asked = true
	p.sequence++
	payload, err := json.Marshal(split.Request{Sequence: p.sequence})
	if err != nil {
		panic(err)
	}
	p.ask(&pb.OperatorRequest{Attempt: p.s.task.attempt.String(), Operator: p.operator.String(), Payload: payload, Number: p.sequence, Settled: p.sequence})
}

// ask makes a request, and makes it again until it is answered.
func (p *portionReader) ask(request *pb.OperatorRequest) {
	t := p.s.task
	w := t.worker
	gateway.WorkerRequest.Call(w.proc.System(), w.loop, w.taskExecutor(), ident.LeaderID{}, request, 0, func(answer *pb.OperatorResponse, err error) {
		if t.ended {
			return
		}
		if errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrDisconnected) {
			w.c.checks.met["splits asked for again"]++
			p.s.after(100*time.Millisecond, 2*time.Second, func() { p.ask(request) })
			return
		}
		var response split.Response
		if err == nil {
			err = json.Unmarshal(answer.Payload, &response)
		}
		if err != nil {
			t.end(status.Failed, &status.Failure{Kind: status.FailureError, Message: "ask for the next split: " + err.Error()})
			return
		}
		p.asked = false
		defer p.beginWaiting()
		if response.Done {
			p.none = true
			return
		}
		id := response.Split.ID
		if slices.ContainsFunc(p.s.portions, func(one portion) bool { return one.id == id }) {
			w.c.checks.broken("13", "%s is given split %d, which it has", t.attempt, id)
		}
		p.s.portions = append(p.s.portions, portion{id: id})
		p.more()
	})
}

// await begins a checkpoint, when what was given before it has been received.
func (p *portionReader) await(b *barrier, given []*pb.GivenAnswers) {
	for _, g := range given {
		if g.Attempt == p.s.task.attempt.String() && p.asked && slices.Contains(g.Numbers, p.sequence) {
			p.s.cluster().checks.met["checkpoints that waited for an answer"]++
			p.waiting = append(p.waiting, b)
			return
		}
	}
	p.s.trigger(b)
}

func (p *portionReader) beginWaiting() {
	waited := p.waiting
	p.waiting = nil
	for _, b := range waited {
		p.s.trigger(b)
	}
}
