package rpc

import "sync"

// maxQueued is the most bytes that wait to be sent to one process, not counting
// the message that goes above it. A peer that is this far behind does not read.
const maxQueued = 256 << 20

// An outbox holds the frames that wait for one stream's writer.
type outbox struct {
	mu     sync.Mutex // guards the fields below
	queue  []outgoing
	bytes  int
	closed bool // nothing can be put any more; what is queued is still sent

	wake chan struct{} // holds a token when the above changed
}

// outgoing is one frame; call is set if it is a call, which is not sent any more
// once it is settled.
type outgoing struct {
	frame []byte
	call  *pending
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put queues a frame. It reports whether there was room: a full outbox and a
// closed one take nothing.
func (o *outbox) put(out outgoing) bool {
	o.mu.Lock()
	room := !o.closed && o.bytes < maxQueued
	if room {
		o.queue = append(o.queue, out)
		o.bytes += len(out.frame)
	}
	o.mu.Unlock()
	if room {
		o.signal()
	}
	return room
}

// close lets nothing in any more; write returns when the rest is sent.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.signal()
}

// isClosed tells a closed outbox from a full one.
func (o *outbox) isClosed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

// write sends what is put, in order, until the outbox is closed and empty, or
// send fails. One goroutine calls it.
func (o *outbox) write(send func(frame []byte) error) error {
	for {
		o.mu.Lock()
		batch, closed := o.queue, o.closed
		o.queue, o.bytes = nil, 0
		o.mu.Unlock()
		for _, out := range batch {
			if out.call != nil {
				if out.call.settled.Load() {
					continue
				}
				out.call.sent.Store(true)
			}
			if err := send(out.frame); err != nil {
				return err
			}
		}
		if len(batch) > 0 {
			continue
		}
		if closed {
			return nil
		}
		<-o.wake
	}
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default: // a token is there already
	}
}
