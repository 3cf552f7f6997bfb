// Package socket reads lines from a TCP server as a stream.
//
// It promises that every line the server sent before it closed the connection
// is emitted once and in order, as long as nothing fails. It never reconnects: what
// the server sent meanwhile would be lost without a word. A socket cannot be read
// again, so it is at most once: when the job goes on after a failure it connects
// anew, and the lines that came after the last checkpoint are lost.
package socket

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
)

// MaxLine is the longest line taken, in bytes. A longer one fails the job.
const MaxLine = 16 << 20

const (
	dialTimeout = 10 * time.Second
	readBuffer  = 64 << 10
	// maxLines and maxBytes are how much may wait for the task; then the server
	// is not read from, and TCP holds it back. One line may be longer.
	maxLines = 8 * batch.MaxRows
	maxBytes = 4 << 20
)

// ReadLines makes the source of the lines that the server at address sends,
// without their ends "\n" or "\r\n". One that cannot be reached within ten
// seconds fails the job.
func ReadLines(address string) operator.SourceFactory {
	return operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		ctx, stop := context.WithCancel(context.Background())
		r := &reader{c: c, address: address, push: operator.Output[string](out).Push}
		r.room.L = &r.mu
		var reading sync.WaitGroup
		reading.Go(func() { r.run(ctx) })
		c.OnClose(func(bool) {
			stop()
			r.close()
			reading.Wait()
		})
		return r
	})
}

// reader hands lines from the goroutine that reads the connection to the task.
type reader struct {
	c       *operator.Context
	address string
	push    func(string, int64)
	taken   []string // the task's: lines being emitted, reused

	mu      sync.Mutex
	room    sync.Cond
	waiting []string
	bytes   int // of waiting
	ended   bool
	err     error
	closed  bool // the task has ended
}

// run reads beside the task until the connection or the task ends.
func (r *reader) run(ctx context.Context) {
	err := r.read(ctx)
	r.mu.Lock()
	r.ended, r.err = true, err
	r.mu.Unlock()
	r.c.Wake()
}

func (r *reader) read(ctx context.Context) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", r.address)
	if err != nil {
		return fmt.Errorf("socket source: connect to %s: %w", r.address, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, readBuffer), MaxLine+len("\r\n"))
	lines.Split(split)
	n := 0
	for lines.Scan() {
		if !r.put(lines.Text()) {
			return nil
		}
		n++
	}
	err = lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("line %d is longer than %d bytes, the longest allowed", n+1, MaxLine)
	}
	if err != nil {
		return fmt.Errorf("socket source: read from %s: %w", r.address, err)
	}
	return nil
}

// split cuts lines as package files does: a carriage return belongs to the line
// end only before a line feed, and what follows the last is a line unless empty.
func split(data []byte, atEnd bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, bytes.TrimSuffix(data[:i], []byte("\r")), nil
	}
	if atEnd && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// put adds a line, waiting for room; it is false when the task has ended.
func (r *reader) put(line string) bool {
	r.mu.Lock()
	for (len(r.waiting) >= maxLines || r.bytes >= maxBytes) && !r.closed {
		r.room.Wait()
	}
	first := len(r.waiting) == 0
	r.waiting = append(r.waiting, line)
	r.bytes += len(line)
	closed := r.closed
	r.mu.Unlock()
	if first {
		r.c.Wake()
	}
	return !closed
}

// close says that the task has ended.
func (r *reader) close() {
	r.mu.Lock()
	r.closed = true
	r.room.Signal()
	r.mu.Unlock()
}

// Poll pushes the lines that have come.
func (r *reader) Poll() operator.Progress {
	r.mu.Lock()
	r.taken, r.waiting, r.bytes = r.waiting, r.taken[:0], 0
	ended, err := r.ended, r.err
	r.room.Signal()
	r.mu.Unlock()
	r.c.CountIn(len(r.taken))
	for left := r.taken; len(left) > 0; {
		n := min(r.c.Signal.Block(), len(left))
		for _, line := range left[:n] {
			r.push(line, batch.NoTimestamp)
		}
		left = left[n:]
	}
	some := len(r.taken) > 0
	clear(r.taken) // while the task waits, nothing keeps them alive
	switch {
	case some:
		return operator.More
	case ended && err != nil:
		operator.Abort(err)
	case ended:
		return operator.Done
	}
	return operator.Wait
}
