package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// A session is the producer's end of a connection: it serves the partitions that
// the consumers of one other process ask for.
type session struct {
	env    *Environment
	conn   net.Conn
	source ident.ResourceID
	frame  int           // the largest frame that fits into the buffers of both ends
	wakeup chan struct{} // a token: ready is not empty

	mu    sync.Mutex
	views map[uint32]*view
	ready local.FIFO[*view] // in turn; at most once each
	// urgent have a barrier that has overtaken, and their turn is now; they may be ready
	// as well.
	urgent local.FIFO[*view]
}

// run is the life of the session, after its buffers were set aside.
func (s *session) run(buffers int) {
	defer s.env.pool.release(buffers)
	err := handshake.Accept(s.conn)
	if err == nil {
		stop := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() { s.write(newOutbox(s.env.pool, buffers, s.frame), stop) })
		err = s.read(bufio.NewReaderSize(s.conn, 4<<10))
		close(stop)
		_ = s.conn.Close()
		writer.Wait()
	}
	_ = s.conn.Close()
	s.end(err)
}

// end breaks what consumers did not close: they are lost.
func (s *session) end(err error) {
	s.mu.Lock()
	left := s.views
	s.views = nil
	var lost []*view
	for _, v := range left {
		if v.closed = true; v.source != nil {
			lost = append(lost, v)
		}
	}
	s.mu.Unlock()
	if len(left) > 0 || errors.Is(err, errCorrupt) {
		s.env.log.Warn("data connection lost", "taskmanager", s.source, "subpartitions", len(left), "error", err)
	}
	for _, v := range left {
		v.request.Cancel()
	}
	for _, v := range lost {
		v.source.Break(fmt.Errorf("write partition %s to %s at %s: %w: %w", v.partition.ID(), s.source, s.conn.RemoteAddr(), shuffle.ErrPeerLost, err))
	}
}

// read takes what the consumers say.
func (s *session) read(r io.Reader) error {
	var next uint32
	var head [headerSize]byte
	var payload [requestSize]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return err
		}
		h, err := parseHeader(head[:], requestSize)
		if err != nil {
			return err
		}
		if _, err := io.ReadFull(r, payload[:h.length]); err != nil {
			return err
		}
		if h.kind == frameRequest {
			if h.channel != next {
				return fmt.Errorf("%w: request of channel %d, want %d", errCorrupt, h.channel, next)
			}
			next++
			err = s.request(h.channel, payload[:h.length])
		} else if h.channel >= next || h.length != 0 {
			err = fmt.Errorf("%w: kind %d of channel %d with %d bytes", errCorrupt, h.kind, h.channel, h.length)
		} else {
			err = s.message(h)
		}
		if err != nil {
			return err
		}
	}
}

func (s *session) request(id uint32, payload []byte) error {
	r, err := parseRequest(payload)
	if err != nil {
		return err
	}
	v := &view{session: s, id: id, subs: r.subs, credit: int(r.credit)}
	s.mu.Lock()
	s.views[id] = v
	s.mu.Unlock()
	if r.whole {
		v.request = s.env.registry.RequestWhole(r.partition, v.found)
	} else {
		v.request = s.env.registry.Request(r.partition, v.found)
	}
	return nil
}

// message takes a frame without payload about a channel that was asked for. The
// channel may have been closed.
func (s *session) message(h header) error {
	s.mu.Lock()
	v := s.views[h.channel]
	switch {
	case h.kind == frameCredit:
		if h.seq == 0 || h.seq > maxCredit || v != nil && v.credit+int(h.seq) > maxCredit {
			s.mu.Unlock()
			return fmt.Errorf("%w: credit of %d", errCorrupt, h.seq)
		}
		if v != nil {
			v.credit += int(h.seq)
		}
		s.mu.Unlock()
		if v != nil {
			s.enqueue(v)
		}
		return nil
	case h.kind != frameClose:
		s.mu.Unlock()
		return fmt.Errorf("%w: kind %d from a consumer", errCorrupt, h.kind)
	case v == nil:
		s.mu.Unlock()
		return nil
	}
	v.closed = true
	delete(s.views, h.channel)
	source := v.source
	s.mu.Unlock()
	v.request.Cancel()
	if source != nil {
		source.Detach()
	}
	return nil
}

// enqueue puts a view on the ready list.
func (s *session) enqueue(v *view) {
	s.mu.Lock()
	if v.queued || v.closed {
		s.mu.Unlock()
		return
	}
	v.queued = true
	s.ready.Push(v)
	s.mu.Unlock()
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

// hurry makes it the turn of a view before all that are ready.
func (s *session) hurry(v *view) {
	s.mu.Lock()
	if !v.closed {
		s.urgent.Push(v)
	}
	s.mu.Unlock()
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

// A turn is what the writer needs of a view whose turn it is.
type turn struct {
	*view
	partition shuffle.Partition
	source    shuffle.View
	credit    bool
	err       error
}

// next takes the view whose turn it is; ok is false when none is ready.
func (s *session) next() (t turn, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		v, ok := s.urgent.Pop()
		if !ok {
			if v, ok = s.ready.Pop(); !ok {
				return t, false
			}
			v.queued = false
		}
		if !v.closed {
			return turn{v, v.partition, v.source, v.credit > 0, v.err}, true
		}
	}
}

// sent takes the credit of a data frame, and gives the view another turn if it
// has more.
func (s *session) sent(v *view, data, again bool) {
	s.mu.Lock()
	if data {
		v.credit--
	}
	if again && !v.queued && !v.closed {
		v.queued = true
		s.ready.Push(v)
	}
	s.mu.Unlock()
}

// write sends what views have, several frames at once, until stop.
func (s *session) write(o *outbox, stop <-chan struct{}) {
	defer o.close()
	for {
		select {
		case <-s.wakeup:
		case <-stop:
			return
		}
		for s.gather(o) {
			if err := o.write(s.conn); err != nil {
				// The reader says why, after the last of what the peer said.
				_ = s.conn.SetReadDeadline(time.Now().Add(goodbye))
				return
			}
		}
	}
}

// gather fills the outbox from the views in turn, a frame each, and reports
// whether there is anything to write.
func (s *session) gather(o *outbox) bool {
	for !o.full() {
		t, ok := s.next()
		if !ok {
			break
		}
		s.fill(o, t)
	}
	return !o.empty()
}

// fill adds the view's next frame, if it may be sent.
func (s *session) fill(o *outbox, t turn) {
	v, err := t.view, t.err
	if v.failed || t.source == nil && err == nil {
		return
	}
	if len(v.rest) > 0 {
		if t.credit || v.control {
			data := !v.control
			o.chunk(v, 0)
			s.sent(v, data, true)
		}
		return
	}
	var left, backlog int
	if err == nil {
		e, ok, l, b, takeErr := t.source.Take(t.credit)
		left, backlog = l, b
		switch {
		case takeErr != nil:
			err = takeErr
		case !ok:
			return
		case e.Batch == nil:
			o.control(v, e)
			s.sent(v, false, left > 0 || len(v.rest) > 0)
			return
		default:
			if err = o.batch(v, t.partition, e.Batch, backlog); err != nil {
				t.partition.Fail(err)
				err = fmt.Errorf("partition %s: %w", t.partition.ID(), err)
			}
		}
	}
	if err != nil {
		v.failed = true
		o.failure(v, err)
		return
	}
	s.sent(v, true, left > 0 || len(v.rest) > 0)
}
