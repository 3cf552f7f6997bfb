// Package mem is the file system of the scheme "mem": files in the memory of the
// process, for tests and for the simulator.
//
// It promises what package fs does; a process that ends is its power failure. It
// needs no directories, as an object store does not.
package mem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/fs"
)

// Scheme is the scheme of files in memory.
const Scheme = "mem"

// A FileSystem is one set of files.
type FileSystem struct {
	clock func() time.Time

	mu    sync.Mutex
	files map[fs.Location]stored
}

type stored struct {
	data     []byte // never written again
	modified time.Time
}

var _ fs.FileSystem = (*FileSystem)(nil)

// New makes an empty file system, whose files are as old as clock says.
func New(clock func() time.Time) *FileSystem {
	return &FileSystem{clock: clock, files: map[fs.Location]stored{}}
}

func check(ctx context.Context, op string, at fs.Location) error {
	if err := ctx.Err(); err != nil {
		return fs.Failed(op, at, -1, err)
	}
	if at.Scheme() != Scheme {
		return fs.Failed(op, at, -1, fmt.Errorf("%w %q: these files are in memory", fs.ErrScheme, at.Scheme()))
	}
	return nil
}

func (m *FileSystem) get(at fs.Location) (stored, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.files[at]
	return s, ok
}

// Create begins a file.
func (m *FileSystem) Create(ctx context.Context, at fs.Location) (fs.Writer, error) {
	if err := check(ctx, "create", at); err != nil {
		return nil, err
	}
	if _, taken := m.get(at); taken {
		return nil, fs.Failed("create", at, -1, fs.ErrExist)
	}
	return &writer{to: m, at: at}, nil
}

// Open opens a committed file.
func (m *FileSystem) Open(ctx context.Context, at fs.Location) (fs.File, error) {
	if err := check(ctx, "open", at); err != nil {
		return nil, err
	}
	s, ok := m.get(at)
	if !ok {
		return nil, fs.Failed("open", at, -1, fs.ErrNotExist)
	}
	return &file{at: at, data: s.data}, nil
}

// Stat describes a committed file.
func (m *FileSystem) Stat(ctx context.Context, at fs.Location) (fs.Entry, error) {
	if err := check(ctx, "stat", at); err != nil {
		return fs.Entry{}, err
	}
	s, ok := m.get(at)
	if !ok {
		return fs.Entry{}, fs.Failed("stat", at, -1, fs.ErrNotExist)
	}
	return fs.Entry{Location: at, Size: int64(len(s.data)), Modified: s.modified}, nil
}

// List gives the committed files below a directory.
func (m *FileSystem) List(ctx context.Context, dir fs.Location) ([]fs.Entry, error) {
	if err := check(ctx, "list", dir); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var entries []fs.Entry
	for at, s := range m.files {
		if _, below := at.Under(dir); below {
			entries = append(entries, fs.Entry{Location: at, Size: int64(len(s.data)), Modified: s.modified})
		}
	}
	slices.SortFunc(entries, func(a, b fs.Entry) int { return strings.Compare(string(a.Location), string(b.Location)) })
	return entries, nil
}

// Delete removes a file.
func (m *FileSystem) Delete(ctx context.Context, at fs.Location) error {
	if err := check(ctx, "delete", at); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, at)
	return nil
}

// DeleteTree removes all files below a directory.
func (m *FileSystem) DeleteTree(ctx context.Context, dir fs.Location) error {
	if err := check(ctx, "delete", dir); err != nil {
		return err
	}
	if dir.Path() == "/" {
		return fs.Failed("delete", dir, -1, errors.New("the root of the file system is not deleted"))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := range m.files {
		if _, below := at.Under(dir); below || at == dir {
			delete(m.files, at)
		}
	}
	return nil
}

// A writer is a file that is not there yet.
type writer struct {
	to   *FileSystem
	at   fs.Location
	data []byte
	over bool
}

func (w *writer) Location() fs.Location { return w.at }

func (w *writer) Write(p []byte) (int, error) {
	if w.over {
		return 0, fs.Failed("write", w.at, -1, os.ErrClosed)
	}
	w.data = append(w.data, p...)
	return len(p), nil
}

func (w *writer) Commit(ctx context.Context) error {
	if w.over {
		return nil
	}
	w.over = true
	if err := check(ctx, "commit", w.at); err != nil {
		return err
	}
	now := w.to.clock()
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	if _, taken := w.to.files[w.at]; taken {
		return fs.Failed("commit", w.at, -1, fs.ErrExist)
	}
	w.to.files[w.at] = stored{data: w.data, modified: now}
	return nil
}

func (w *writer) Abort() { w.over, w.data = true, nil }

// A file is an open committed file.
type file struct {
	at   fs.Location
	data []byte
}

func (f *file) Location() fs.Location { return f.at }

func (f *file) Size() int64 { return int64(len(f.data)) }

func (f *file) Close() error { return nil }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
