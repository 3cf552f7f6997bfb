package logging

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// patience is how long whoever logs waits at most for a line to be written.
	patience = 50 * time.Millisecond
	// maxQueued is the most bytes of lines that wait for one place.
	maxQueued = 4 << 20
)

// A lane writes lines to one place, in order.
//
// Whoever writes waits until the line is there, so that it is read by who looks
// next; but a disk that hangs and a pipe that nobody reads must not stop an
// endpoint, whose loop logs. So it waits no longer than the patience, and when that
// was in vain nobody waits any more until all that was queued is written. What
// does not fit into the queue meanwhile is lost, and the number of lost lines is
// told afterwards.
type lane struct {
	to io.Writer

	mu      sync.Mutex // guards the fields below; never held while writing
	queue   []queued
	bytes   int
	writing bool // a goroutine writes the queue
	slow    bool // somebody waited in vain since the queue was last empty
	lost    int  // lines since then
}

// queued is one line; done is closed when it was written, or could not be.
type queued struct {
	line []byte
	done chan struct{}
}

// put queues a line; the channel is closed when it is written. Nil: nobody should
// wait.
func (l *lane) put(line []byte) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	hangs := l.slow
	if l.bytes+len(line) > maxQueued && l.bytes > 0 {
		l.lost++
		return nil
	}
	done := l.enqueue(append([]byte(nil), line...))
	if hangs {
		return nil
	}
	return done
}

func (l *lane) enqueue(line []byte) <-chan struct{} {
	one := queued{line: line, done: make(chan struct{})}
	l.queue = append(l.queue, one)
	l.bytes += len(line)
	if !l.writing {
		l.writing = true
		go l.write() // ends when the queue is empty
	}
	return one.done
}

// drained waits until all that was put is written, for so long at most.
func (l *lane) drained(limit time.Duration) bool {
	l.mu.Lock()
	done := l.enqueue(nil)
	l.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// write writes until the queue is empty.
func (l *lane) write() {
	for {
		l.mu.Lock()
		batch, lost := l.queue, l.lost
		l.queue, l.bytes, l.lost = nil, 0, 0
		if len(batch) == 0 && lost == 0 {
			l.writing, l.slow = false, false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		for _, one := range batch {
			if len(one.line) > 0 {
				_, _ = l.to.Write(one.line) // a File remembers that it failed; nobody can be told
			}
			close(one.done)
		}
		if lost > 0 {
			_, _ = fmt.Fprintf(l.to, "time=%s level=WARN msg=\"lines of the log are lost, because they could not be written in time\" lines=%d\n",
				time.Now().Format("2006-01-02T15:04:05.000Z07:00"), lost)
		}
	}
}

// giveUp notes that somebody waited in vain.
func (l *lane) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writing {
		l.slow = true
	}
}

// lanes writes each line to several places at once.
type lanes []*lane

func (all lanes) Write(line []byte) (int, error) {
	var timer *time.Timer
	waits := make([]<-chan struct{}, len(all))
	for i, l := range all {
		waits[i] = l.put(line)
	}
	late := false
	for i, l := range all {
		if waits[i] == nil {
			continue
		}
		select {
		case <-waits[i]:
			continue
		default:
		}
		if late {
			l.giveUp()
			continue
		}
		if timer == nil {
			timer = time.NewTimer(patience)
			defer timer.Stop()
		}
		select {
		case <-waits[i]:
		case <-timer.C:
			late = true
			l.giveUp()
		}
	}
	return len(line), nil
}
