// Package collect hands the rows of a sink to the client that has submitted the job.
//
//	sink ──CollectedRows──▶ at most maxHeld bytes ──CollectResponse──▶ client
//
// It promises that the client gets every batch once and in order, that the sink waits
// while the client does not read, and that the job does not end before the client has
// read all, unless the client is gone: a job that nobody reads keeps its slots from others.
// What was given to the client cannot be taken back: if the sink then begins anew, the job
// fails for good, whatever its restart strategy. It never looks at rows.
package collect

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// Kind is what job graphs call it.
const Kind = "collect"

// maxHeld is how many bytes wait for the client before the sink has to, and maxGiven
// how many a client is given at once; one batch may be larger.
const maxHeld, maxGiven = 4 << 20, 8 << 20

// ErrRestarted says that the sink begins anew though the client has read rows of it.
var ErrRestarted = errors.New("the job was restarted after the first rows of its result had been read: what was read may be wrong, run the statement again")

// Patience is for how long a client may say nothing. One that does not want rows yet says
// that it is alive, more often than that.
const Patience = 3 * time.Minute

// looks is how often in that time it is looked whether something was heard.
const looks = 3

// ErrGone says that the client is.
var ErrGone = fmt.Errorf("whoever asked for the result has not been heard of for %v: a client that ends cancels its job, one that was killed cannot", Patience)

// collector is the coordinator of one sink, which has one subtask.
//
// Invariant: first+len(batches) == next; owed is held while the sink must wait.
type collector struct {
	context coordinator.Context
	heard   bool // the client, since it was looked
	silent  int  // how often it was not
	timer   actor.Timer

	attempt int
	batches [][]byte
	held    int   // bytes of batches
	first   int64 // number of the first batch that is held
	next    int64 // number of the batch to come
	end     bool  // there is none
	given   bool  // the client has been given some, or the end
	broken  error
	closed  bool

	owed   func([]byte, error) // the sink's last request; nil: it was answered
	reader func([]byte, error) // the client's request; nil: it was answered
	from   int64               // the reader's
}

// Factory makes the coordinator.
func Factory(context coordinator.Context) (coordinator.Coordinator, error) {
	return &collector{context: context, attempt: -1}, nil
}

// Start begins to listen for the client. The sink comes by itself.
func (c *collector) Start() {
	c.timer = c.context.Loop.After(Patience/looks, c.look)
}

// look fails the job when the client has said nothing for too long.
func (c *collector) look() {
	c.silent++
	if c.heard {
		c.heard, c.silent = false, 0
	}
	if c.silent >= looks {
		c.context.Fail(status.Fatal(ErrGone))
		return
	}
	c.timer = c.context.Loop.After(Patience/looks, c.look)
}

// HandleRequest takes a batch, or the end, from the sink.
func (c *collector) HandleRequest(_, attempt int, payload []byte, reply func([]byte, error)) {
	m := &pb.CollectedRows{}
	if err := proto.Unmarshal(payload, m); err != nil {
		reply(nil, fmt.Errorf("rows for the client: %w", err))
		return
	}
	if attempt != c.attempt {
		c.begin(attempt)
	}
	switch {
	case c.broken != nil:
		reply(nil, c.broken)
		return
	case m.Number > c.next:
		reply(nil, fmt.Errorf("rows for the client: batch %d came, %d is next", m.Number, c.next))
		return
	case m.Last:
		c.end = true
	case m.Number == c.next:
		c.batches = append(c.batches, m.Rows)
		c.held += len(m.Rows)
		c.next++
	}
	c.owed = reply // a request that is repeated: nobody waits for the first answer
	c.move()
}

// begin forgets what an earlier attempt has left.
func (c *collector) begin(attempt int) {
	c.attempt = attempt
	if c.given {
		c.restarted()
		return
	}
	c.forget()
}

// forget drops what an attempt has left of which nobody has read anything.
func (c *collector) forget() {
	c.batches, c.held, c.first, c.next, c.end, c.owed = nil, 0, 0, 0, false, nil
}

// restarted ends the reading, and the job, which is of no use to anybody without it.
func (c *collector) restarted() {
	if c.broken == nil {
		c.fail(ErrRestarted)
		c.context.Fail(status.Fatal(ErrRestarted))
	}
}

// fail ends the reading.
func (c *collector) fail(err error) {
	c.broken = err
	if c.reader != nil {
		c.reader(nil, err)
		c.reader = nil
	}
	c.batches, c.held = nil, 0
}

// Answer takes the client's request for more. A request ends the one before it.
func (c *collector) Answer(payload []byte, reply func([]byte, error)) {
	c.heard = true
	m := &pb.CollectRequest{}
	err := proto.Unmarshal(payload, m)
	switch {
	case err != nil:
		reply(nil, fmt.Errorf("read the result: %w", err))
		return
	case c.broken != nil:
		reply(nil, c.broken)
		return
	case m.Alive:
		reply(nil, nil)
		return
	case m.From < c.first || m.From > c.next:
		reply(nil, fmt.Errorf("read the result from batch %d: there are %d to %d", m.From, c.first, c.next))
		return
	}
	if c.reader != nil {
		c.reader(nil, errors.New("read the result: another request has come"))
	}
	for c.first < m.From {
		c.held -= len(c.batches[0])
		c.batches[0] = nil
		c.batches = c.batches[1:]
		c.first++
	}
	c.reader, c.from = reply, m.From
	c.move()
}

// move answers who can be answered now.
func (c *collector) move() {
	if c.reader != nil && (len(c.batches) > 0 || c.end) {
		m := &pb.CollectResponse{First: c.first}
		size := 0
		for _, b := range c.batches {
			if size += len(b); size > maxGiven && len(m.Rows) > 0 {
				break
			}
			m.Rows = append(m.Rows, b)
		}
		m.End = c.end && len(m.Rows) == len(c.batches)
		payload, err := proto.Marshal(m)
		reply := c.reader
		c.reader, c.given = nil, true
		reply(payload, err)
		if m.End {
			c.batches, c.held, c.first = nil, 0, c.next
		}
	}
	if c.owed != nil && (c.end && c.given && len(c.batches) == 0 || !c.end && c.held < maxHeld) {
		reply := c.owed
		c.owed = nil
		reply(nil, nil)
	}
}

// SubtaskFailed forgets what the attempt has left: were it read now, the next attempt could
// not begin anew.
func (c *collector) SubtaskFailed(_, attempt int) {
	if !c.given && attempt == c.attempt {
		c.forget()
	}
}

// Reset makes reading fail at once if it cannot go on, and else forgets what there is.
func (c *collector) Reset(int) {
	switch {
	case c.broken != nil:
	case c.given:
		c.restarted()
	default:
		c.forget()
	}
}

// Close ends the reading.
func (c *collector) Close() {
	if c.closed {
		return
	}
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.fail(errors.New("read the result: the job has ended"))
	if c.owed != nil {
		c.owed(nil, errors.New("the job has ended"))
		c.owed = nil
	}
}
