// Package faulty is a file system that fails as a test wants: a disk that is
// full, slow, broken, or that has torn what was written to it. It is a test
// double; no product imports it.
package faulty

import (
	"context"
	"slices"
	"sync"

	"github.com/weirstream/weir/internal/fs"
)

// An Op is a step at which a fault may be.
type Op string

// The steps. Write is one call of Write, Read one of ReadAt.
const (
	Create     Op = "create"
	Write      Op = "write"
	Commit     Op = "commit"
	Open       Op = "open"
	Read       Op = "read"
	Stat       Op = "stat"
	List       Op = "list"
	Delete     Op = "delete"
	DeleteTree Op = "delete tree"
)

// FileSystem is another file system with faults. The functions are called before
// each step, from the goroutine that does it, and may be nil.
type FileSystem struct {
	// Fail returns the error of a step; nil: it goes on.
	Fail func(op Op, at fs.Location) error
	// Wait holds a step up until it returns.
	Wait func(op Op, at fs.Location)
	// Tear returns what a file really holds, after it was committed with data,
	// which it may keep and change. Who wrote it is not told.
	Tear func(at fs.Location, data []byte) []byte

	inner fs.FileSystem

	mu   sync.Mutex
	room int64 // bytes that may still be written; -1: no limit
}

var _ fs.FileSystem = (*FileSystem)(nil)

// New makes a file system without a fault.
func New(inner fs.FileSystem) *FileSystem {
	return &FileSystem{inner: inner, room: -1}
}

// Limit lets bytes more be written before the disk is full; -1: no limit.
func (f *FileSystem) Limit(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room = bytes
}

// step is what happens before each step.
func (f *FileSystem) step(op Op, at fs.Location) error {
	if f.Wait != nil {
		f.Wait(op, at)
	}
	if f.Fail != nil {
		return fs.Failed(string(op), at, -1, f.Fail(op, at))
	}
	return nil
}

// take uses up room, as much as there is.
func (f *FileSystem) take(want int) (got int, left int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.room < 0 {
		return want, -1
	}
	got = int(min(int64(want), f.room))
	f.room -= int64(got)
	return got, f.room
}

// Create begins a file.
func (f *FileSystem) Create(ctx context.Context, at fs.Location) (fs.Writer, error) {
	if err := f.step(Create, at); err != nil {
		return nil, err
	}
	w, err := f.inner.Create(ctx, at)
	if err != nil {
		return nil, err
	}
	return &writer{Writer: w, of: f}, nil
}

// Open opens a committed file.
func (f *FileSystem) Open(ctx context.Context, at fs.Location) (fs.File, error) {
	if err := f.step(Open, at); err != nil {
		return nil, err
	}
	inner, err := f.inner.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return &file{File: inner, of: f}, nil
}

// Stat describes a committed file.
func (f *FileSystem) Stat(ctx context.Context, at fs.Location) (fs.Entry, error) {
	if err := f.step(Stat, at); err != nil {
		return fs.Entry{}, err
	}
	return f.inner.Stat(ctx, at)
}

// List gives the committed files below a directory.
func (f *FileSystem) List(ctx context.Context, dir fs.Location) ([]fs.Entry, error) {
	if err := f.step(List, dir); err != nil {
		return nil, err
	}
	return f.inner.List(ctx, dir)
}

// Delete removes a file.
func (f *FileSystem) Delete(ctx context.Context, at fs.Location) error {
	if err := f.step(Delete, at); err != nil {
		return err
	}
	return f.inner.Delete(ctx, at)
}

// DeleteTree removes a directory and all in it.
func (f *FileSystem) DeleteTree(ctx context.Context, dir fs.Location) error {
	if err := f.step(DeleteTree, dir); err != nil {
		return err
	}
	return f.inner.DeleteTree(ctx, dir)
}

// A writer keeps what was written, to tear it.
type writer struct {
	fs.Writer
	of   *FileSystem
	data []byte
	err  error
}

func (w *writer) Write(p []byte) (int, error) {
	if w.err == nil {
		w.err = w.of.step(Write, w.Location())
	}
	if w.err != nil {
		return 0, w.err
	}
	got, left := w.of.take(len(p))
	w.data = append(w.data, p[:got]...)
	if got < len(p) {
		w.err = fs.Failed("write", w.Location(), left, fs.ErrFull)
	}
	return got, w.err
}

func (w *writer) Commit(ctx context.Context) error {
	if w.err == nil {
		w.err = w.of.step(Commit, w.Location())
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	data := w.data
	if w.of.Tear != nil {
		data = w.of.Tear(w.Location(), slices.Clone(data))
	}
	if _, err := w.Writer.Write(data); err != nil {
		w.Abort()
		return err
	}
	return w.Writer.Commit(ctx)
}

type file struct {
	fs.File
	of *FileSystem
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.of.step(Read, f.Location()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}
