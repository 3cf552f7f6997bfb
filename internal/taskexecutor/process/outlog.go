package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// DefaultLogLimit is how large a file of workers' output grows.
const DefaultLogLimit = 64 << 20

// OutLog is a log file that workers' output is appended to. When it has reached
// its limit it becomes path.1, in place of an older one, and a new file begins:
// a worker that prints without end takes twice the limit on disk, and the last
// of what it printed is kept.
//
// It may be written to from several goroutines.
type OutLog struct {
	path  string
	limit int64

	mu     sync.Mutex // guards the fields below, and the order of writes
	file   *os.File   // nil after Close or a failed rotation
	size   int64
	closed bool
}

// OpenOutLog opens or makes the file; a limit of zero is DefaultLogLimit.
func OpenOutLog(path string, limit int64) (*OutLog, error) {
	if limit <= 0 {
		limit = DefaultLogLimit
	}
	l := &OutLog{path: path, limit: limit}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *OutLog) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open log of workers: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("open log of workers: %w", err)
	}
	l.file, l.size = file, info.Size()
	return nil
}

// Write appends p, to a new file if the current one is full.
func (l *OutLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, fs.ErrClosed
	}
	if l.file == nil || l.size+int64(len(p)) > l.limit && l.size > 0 {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *OutLog) rotate() error {
	if l.file != nil {
		err := l.file.Close()
		l.file = nil
		if err := errors.Join(err, os.Rename(l.path, l.path+".1")); err != nil {
			return fmt.Errorf("rotate log of workers: %w", err)
		}
	}
	return l.open()
}

// Close ends the log; what is written later is lost.
func (l *OutLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
