package logging

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// A File is the log file of a process. When it is full it is renamed to
// PATH.1, what was PATH.1 to PATH.2 and so on, and a new one is begun.
//
// It may be used from several goroutines.
type File struct {
	path     string
	maxSize  int64
	maxFiles int
	lane     *lane // through which a log writes to it; nil: there is no log

	mu   sync.Mutex // guards what follows; held during one write or rotation
	file *os.File   // nil once closed
	size int64
	err  error // the last failure to write or rotate; nil after a success
}

// openFile appends to the file at path, which it makes, with its directory,
// when missing.
func openFile(path string, maxSize int64, maxFiles int) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the log directory: %w", err)
	}
	f := &File{path: path, maxSize: maxSize, maxFiles: maxFiles}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open the log file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open the log file: %w", errors.Join(err, file.Close()))
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Path is where the file being written is.
func (f *File) Path() string { return f.path }

// Err is the last failure to write, or nil when the last write succeeded.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// Write appends one line, in a file of its own if it does not fit in the
// present one. A line longer than a whole file is written nevertheless.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0, fmt.Errorf("write to the log file: %w", os.ErrClosed)
	}
	var rotated error
	if f.size > 0 && f.size+int64(len(line)) > f.maxSize {
		rotated = f.rotate()
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	f.err = errors.Join(rotated, err)
	return n, f.err
}

// rotate begins a new file. When it fails the present one stays in use.
func (f *File) rotate() error {
	full := f.file
	if err := f.shift(); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		f.file = full
		return err
	}
	return full.Close()
}

// shift renames the files so that nothing is left at path.
func (f *File) shift() error {
	if f.maxFiles == 0 {
		return os.Remove(f.path)
	}
	for i := f.maxFiles - 1; i > 0; i-- {
		if err := os.Rename(f.older(i), f.older(i+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("rename a full log file: %w", err)
		}
	}
	if err := os.Rename(f.path, f.older(1)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rename a full log file: %w", err)
	}
	return nil
}

// older is the path of the i-th youngest full file, counted from 1.
func (f *File) older(i int) string { return f.path + "." + strconv.Itoa(i) }

// closePatience is how long Close waits for lines that cannot be written.
const closePatience = 2 * time.Second

// Close ends the file, when what was logged is written. A disk that hangs is not
// waited for. Closing again does nothing; a nil File may be closed.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	if f.lane != nil && !f.lane.drained(closePatience) {
		return fmt.Errorf("close the log file %s: it could not be written for %s", f.path, closePatience)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
