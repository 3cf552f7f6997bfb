// Package scratch holds files that live no longer than the process that writes
// them: what does not fit into memory goes there and is read back.
//
// It promises that a file's space is given back when it is discarded, that
// discarding while another goroutine reads or writes is safe, and that Close
// leaves no file and no directory behind. It never synchronises a file with the
// disk: after a crash nobody reads it.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// A File is appended to, and read at any offset. One goroutine writes; any
// number read.
type File interface {
	// Write appends.
	io.Writer
	io.ReaderAt
	// Name is the file's path, for messages.
	Name() string
	// Discard closes and removes the file, from any goroutine. Reads and
	// writes under way or to come fail. It may be called again.
	Discard() error
}

// A Space makes files. Its methods may be called from any goroutine.
type Space interface {
	// Create makes an empty file whose name begins with name.
	Create(name string) (File, error)
	// Directory is the path of a directory, not yet made, whose name begins with name.
	// Whoever makes it removes it, or it goes with the space.
	Directory(name string) (string, error)
}

// Directories is a Space in one or several directories, which take turns: they
// may be on different disks.
//
// In each it makes a directory of its own with the first file there.
type Directories struct {
	parents []string

	mu     sync.Mutex
	own    []string // by parent; empty: not made yet
	files  map[*file]struct{}
	next   int // parent whose turn it is
	serial int // of the next file
	closed bool
}

// In makes a Space in directories, which must exist when the first file is made.
func In(parents ...string) *Directories {
	return &Directories{parents: parents, own: make([]string, len(parents)), files: map[*file]struct{}{}}
}

// Create makes a file in the directory whose turn it is, or in the next one that
// takes it.
func (d *Directories) Create(name string) (File, error) {
	var made *file
	err := d.inTurn("file", name, func(path string) error {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			made = &file{File: f, space: d}
			d.files[made] = struct{}{}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Directory gives a path in the directory whose turn it is, or in the next one that
// can be used.
func (d *Directories) Directory(name string) (path string, err error) {
	err = d.inTurn("directory", name, func(p string) error { path = p; return nil })
	return path, err
}

// inTurn calls f with a path that nothing has, in one directory after the other until
// it succeeds. f is called with the mutex held.
func (d *Directories) inTurn(what, name string, f func(path string) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("make a temporary %s for %s: the process is shutting down", what, name)
	}
	failures := make([]error, 0, len(d.parents))
	for range d.parents {
		i := d.next
		d.next = (d.next + 1) % len(d.parents)
		path, err := d.path(i, name)
		if err == nil {
			err = f(path)
		}
		if err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	if len(failures) == 0 {
		failures = append(failures, errors.New("there is no directory for temporary files (io.tmp.dirs)"))
	}
	return fmt.Errorf("make a temporary %s for %s: %w", what, name, errors.Join(failures...))
}

// path returns one that nothing has in directory i. The caller holds the mutex.
func (d *Directories) path(i int, name string) (string, error) {
	if d.own[i] == "" {
		own, err := os.MkdirTemp(d.parents[i], "weir-scratch-")
		if err != nil {
			return "", err
		}
		d.own[i] = own
	}
	d.serial++
	return filepath.Join(d.own[i], plain(name)+"-"+strconv.Itoa(d.serial)), nil
}

// maxName bounds a file's name: the limit of most file systems is 255 bytes.
const maxName = 200

// plain makes a name that every file system takes.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxName)]
}

// Files is how many files there are.
func (d *Directories) Files() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.files)
}

// Close discards all files and removes the directories. No file can be made
// after it.
func (d *Directories) Close() error {
	d.mu.Lock()
	d.closed = true
	files, own := d.files, d.own
	d.files, d.own = map[*file]struct{}{}, make([]string, len(d.parents))
	d.mu.Unlock()
	var failures []error
	for f := range files {
		failures = append(failures, f.Discard())
	}
	for _, path := range own {
		if path != "" {
			failures = append(failures, os.RemoveAll(path))
		}
	}
	return errors.Join(failures...)
}

// A file is a File on a disk.
type file struct {
	*os.File
	space *Directories
	once  sync.Once
	err   error // of Discard
}

// Discard closes and removes the file.
func (f *file) Discard() error {
	f.once.Do(func() {
		f.err = errors.Join(f.File.Close(), os.Remove(f.Name()))
		f.space.mu.Lock()
		delete(f.space.files, f)
		f.space.mu.Unlock()
	})
	return f.err
}
