// Package socket reads lines from a TCP server as a stream.
//
// It promises that every line the server sent before it closed the connection
// is emitted once and in order. It never reconnects: what the server sent
// meanwhile would be lost without a word.
package socket

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
)

const (
	dialTimeout = 10 * time.Second
	// maxLine is the longest line taken, in bytes.
	maxLine = 16 << 20
	// maxWaiting is how many lines may wait for the task; then the server is not
	// read from, and TCP holds it back.
	maxWaiting = 8 * batch.MaxRows
)

// ReadLines makes the source of the lines that the server at address sends.
func ReadLines(address string) operator.SourceFactory {
	return operator.SourceFunc(func(c *operator.Context, out any) operator.Source {
		conn, err := net.DialTimeout("tcp", address, dialTimeout)
		if err != nil {
			operator.Abort(fmt.Errorf("socket source: connect to %s: %w", address, err))
		}
		r := &reader{c: c, conn: conn, address: address, push: operator.Output[string](out).Push}
		r.room.L = &r.mu
		var reading sync.WaitGroup
		reading.Go(r.read)
		c.OnClose(func(bool) {
			r.stop()
			reading.Wait()
		})
		return r
	})
}

// reader hands lines from the goroutine that reads the connection to the task.
type reader struct {
	c       *operator.Context
	conn    net.Conn
	address string
	push    func(string, int64)
	taken   []string // the task's: lines being emitted, reused

	mu      sync.Mutex
	room    sync.Cond
	waiting []string
	ended   bool
	err     error
	closed  bool
}

// read runs beside the task until the connection ends.
func (r *reader) read() {
	lines := bufio.NewScanner(r.conn)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		if !r.put(strings.TrimSuffix(lines.Text(), "\r")) {
			return
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line is longer than %d bytes, the longest allowed", maxLine)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	r.mu.Lock()
	r.ended, r.err = true, err
	r.mu.Unlock()
	r.c.Wake()
}

// put adds a line, waiting for room; it is false when the task has ended.
func (r *reader) put(line string) bool {
	r.mu.Lock()
	for len(r.waiting) >= maxWaiting && !r.closed {
		r.room.Wait()
	}
	first := len(r.waiting) == 0
	r.waiting = append(r.waiting, line)
	closed := r.closed
	r.mu.Unlock()
	if first {
		r.c.Wake()
	}
	return !closed
}

func (r *reader) stop() {
	r.conn.Close()
	r.mu.Lock()
	r.closed = true
	r.room.Broadcast()
	r.mu.Unlock()
}

// Poll pushes the lines that have come.
func (r *reader) Poll() operator.Progress {
	r.mu.Lock()
	r.taken, r.waiting = r.waiting, r.taken[:0]
	ended, err := r.ended, r.err
	r.room.Broadcast()
	r.mu.Unlock()
	for _, line := range r.taken {
		r.push(line, batch.NoTimestamp)
	}
	r.c.CountIn(len(r.taken))
	switch {
	case len(r.taken) > 0:
		return operator.More
	case ended && err != nil:
		operator.Abort(fmt.Errorf("socket source: read from %s: %w", r.address, err))
	case ended:
		return operator.Done
	}
	return operator.Wait
}
