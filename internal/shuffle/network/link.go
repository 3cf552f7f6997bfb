package network

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
)

const (
	// readAhead is the room of a link's reader: two frames of the usual size a system call.
	readAhead = 64 << 10
	// goodbye is how long the ends of a connection that is no longer needed
	// wait for each other. An end that is not waited for long enough is reset
	// before it has read that it is no longer needed, and takes its task for lost.
	goodbye = 30 * time.Second
)

// A link is the consumer's end of the connection to one TaskManager's worker.
// It is made by the first channel that needs it, dials on its own goroutine, and
// ends with its last channel.
type link struct {
	env       *Environment
	target    ident.ResourceID
	addresses []string
	wakeup    chan struct{} // a token: out is not empty, or closing
	stop      context.CancelCauseFunc

	mu        sync.Mutex
	channels  map[uint32]*channel
	next      uint32 // id of the next channel
	out       []byte // frames to be written; bounded by channels and credit
	connected bool
	closing   bool // no channel is left and none can come
	failed    bool
	address   string // that answered
}

var errUnused = errors.New("no channel is left")

// name says who is at the other end.
func (l *link) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.address == "" {
		return fmt.Sprintf("%s at %q", l.target, l.addresses)
	}
	return fmt.Sprintf("%s at %s", l.target, l.address)
}

// reached reports whether there was a connection.
func (l *link) reached() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.connected
}

// expects reports whether a channel's producer may still be about to come up:
// one that has finished is there or never again.
func (l *link) expects() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.channels { // order: any of them
		if !c.whole {
			return true
		}
	}
	return false
}

// open adds a channel and asks for its partition, unless the link is ending.
func (l *link) open(c *channel) bool {
	l.mu.Lock()
	if l.closing || l.failed {
		l.mu.Unlock()
		return false
	}
	c.link, c.id = l, l.next
	l.next++
	l.channels[c.id] = c
	r := request{partition: c.partition, subs: c.subs, credit: uint32(c.announced), whole: c.whole}
	l.out = header{channel: c.id, kind: frameRequest}.append(l.out, r.append(make([]byte, 0, requestSize)))
	l.mu.Unlock()
	l.wake()
	return true
}

// remove ends a channel; with the last one the link ends.
func (l *link) remove(id uint32) {
	l.mu.Lock()
	delete(l.channels, id)
	if !l.failed {
		l.out = header{channel: id, kind: frameClose}.append(l.out, nil)
	}
	l.closing = l.closing || len(l.channels) == 0
	closing, connected := l.closing, l.connected
	l.mu.Unlock()
	if !closing {
		l.wake()
		return
	}
	l.env.forgetLink(l)
	if l.wake(); !connected {
		l.stop(errUnused)
	}
}

// credit announces credit of a channel.
func (l *link) credit(id uint32, n int) {
	l.mu.Lock()
	if !l.failed {
		l.out = header{channel: id, kind: frameCredit, seq: uint32(n)}.append(l.out, nil)
	}
	l.mu.Unlock()
	l.wake()
}

func (l *link) wake() {
	select {
	case l.wakeup <- struct{}{}:
	default:
	}
}

// run is the life of the link: connect, read until the end, fail what is left.
func (l *link) run(ctx context.Context) {
	defer l.stop(nil)
	conn, address, err := l.connect(ctx)
	if err != nil {
		l.fail(err)
		return
	}
	l.mu.Lock()
	l.connected, l.address = true, address
	l.mu.Unlock()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()

	ended := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { l.write(conn, ended) })
	err = l.read(bufio.NewReaderSize(conn, readAhead))
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	l.fail(err)
	close(ended)
	_ = conn.Close()
	writer.Wait()
}

// fail ends the link and all its channels.
func (l *link) fail(err error) {
	l.mu.Lock()
	l.failed, l.out = true, nil
	left := l.channels
	l.channels = map[uint32]*channel{}
	l.mu.Unlock()
	l.env.forgetLink(l)
	if len(left) > 0 {
		l.env.log.Warn("data connection lost", "taskmanager", l.target, "channels", len(left), "error", err)
	}
	for _, c := range left {
		c.lost(err)
	}
}

// write sends what the channels have to say, as much at once as is there.
func (l *link) write(conn net.Conn, ended <-chan struct{}) {
	var spare []byte
	for {
		select {
		case <-l.wakeup:
		case <-ended:
			return
		}
		l.mu.Lock()
		out, closing := l.out, l.closing
		l.out = spare[:0]
		l.mu.Unlock()
		if len(out) > 0 {
			if _, err := conn.Write(out); err != nil {
				_ = conn.SetReadDeadline(time.Now().Add(goodbye)) // the reader says why
				return
			}
		}
		if spare = out; closing {
			// The producer may still be sending to channels that gave up.
			// Were the connection simply closed, the kernel would answer
			// with a reset, and the close frames might be lost.
			_ = conn.SetReadDeadline(time.Now().Add(goodbye))
			if half, ok := conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
				_ = conn.Close()
			}
			return
		}
	}
}

// read takes frames until the connection ends or something is wrong. It never
// waits for a task.
func (l *link) read(r io.Reader) error {
	buf := l.env.pool.take()
	defer func() { l.env.pool.put(buf) }()
	for {
		h, err := readFrame(r, buf)
		if err != nil {
			return err
		}
		c, known := l.channel(h.channel)
		if !known {
			return fmt.Errorf("%w: frame of channel %d, which was never asked for", errCorrupt, h.channel)
		}
		if c == nil {
			continue // it was closed meanwhile
		}
		switch h.kind {
		case frameData:
			buf, err = c.data(h, buf)
		case frameControl:
			err = c.control(h, buf[:h.length])
		case frameFailure:
			c.fail(parseFailure(buf[:h.length], c.partition, l.name()))
		default:
			err = fmt.Errorf("%w: kind %d", errCorrupt, h.kind)
		}
		if err != nil {
			return err
		}
	}
}

// readFrame reads a header, and its payload to the beginning of buf.
func readFrame(r io.Reader, buf buffer) (header, error) {
	if _, err := io.ReadFull(r, buf[:headerSize]); err != nil {
		return header{}, err
	}
	h, err := parseHeader(buf[:headerSize], len(buf)-headerSize)
	if err != nil {
		return header{}, err
	}
	if _, err := io.ReadFull(r, buf[:h.length]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return header{}, err
	}
	return h, nil
}

// channel finds a channel; it is nil if it was closed, and not known if its id
// was never given out.
func (l *link) channel(id uint32) (c *channel, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.channels[id], id < l.next
}

// The payload of a failure frame is a code and a text.
const (
	failureOfProducer byte = 1 + iota
	failureNotFound
	failureCorrupt
)

const maxFailure = LeastBufferSize - headerSize - 1

func appendFailure(dst []byte, err error) []byte {
	code, text := failureOfProducer, err.Error()
	switch {
	case errors.Is(err, shuffle.ErrPartitionNotFound):
		code = failureNotFound
	case errors.Is(err, shuffle.ErrPartitionCorrupt):
		code = failureCorrupt
	}
	return append(append(dst, code), text[:min(len(text), maxFailure)]...)
}

func parseFailure(b []byte, partition ident.PartitionID, from string) error {
	sentinel, text := shuffle.ErrProducerFailed, "no reason given"
	if len(b) > 0 {
		switch b[0] {
		case failureNotFound:
			sentinel = shuffle.ErrPartitionNotFound
		case failureCorrupt:
			sentinel = shuffle.ErrPartitionCorrupt
		}
	}
	if len(b) > 1 {
		text = string(b[1:min(len(b), 1+maxFailure)])
	}
	return fmt.Errorf("read partition %s from %s: %w: %q", partition, from, sentinel, text)
}
