// Package fs is how the engine reaches files that outlive a process:
// checkpoints, savepoints, what a coordinator stores. Its implementations are
// in the packages below it, one for each scheme of a Location.
//
// It promises what an object store can keep too, and no more: a file is written
// once, under its final name, and is not there until it has been committed,
// whole and safe from a power failure; it never changes after that; there is no
// rename, no append and no directory that can be empty. All methods may be
// called from any goroutine. Every error names the location, and one of a write
// how many bytes are free.
//
// It never retries, and never holds what it was given after it has returned.
package fs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// The errors that callers tell apart, by errors.Is.
var (
	// ErrNotExist: there is no such file.
	ErrNotExist = fs.ErrNotExist
	// ErrExist: a file of this name was committed before.
	ErrExist = fs.ErrExist
	// ErrFull: the file system has no room left.
	ErrFull = errors.New("no space left")
	// ErrScheme: no file system is known for the location's scheme.
	ErrScheme = errors.New("unknown scheme")
)

// A FileSystem holds files by Location.
type FileSystem interface {
	// Create begins a file. It fails with ErrExist when there is one of this
	// name; when two are written at once, the first to commit wins.
	Create(ctx context.Context, at Location) (Writer, error)
	// Open opens a committed file. It fails with ErrNotExist when there is none.
	Open(ctx context.Context, at Location) (File, error)
	// Stat describes a committed file. It fails with ErrNotExist when there is
	// none; a directory is none.
	Stat(ctx context.Context, at Location) (Entry, error)
	// List gives all committed files below a directory, at any depth, ordered by
	// location. A directory that is not there holds none.
	List(ctx context.Context, dir Location) ([]Entry, error)
	// Delete removes a file. One that is not there is removed already.
	Delete(ctx context.Context, at Location) error
	// DeleteTree removes all files below a directory and the directory, with
	// those that were begun and never committed.
	DeleteTree(ctx context.Context, dir Location) error
}

// A Writer is a file that is being written, by one goroutine. It ends with
// Commit or with Abort; what comes after either does nothing.
type Writer interface {
	// Write appends. After an error the file can only be aborted.
	io.Writer
	// Location is where the file will be.
	Location() Location
	// Commit makes the file visible and durable. If it fails, the file is not
	// there, unless the error says that this is not known (ErrUncertain).
	Commit(ctx context.Context) error
	// Abort drops what was written.
	Abort()
}

// ErrUncertain: whether the file is there could not be found out. What is in
// it must be taken for written, and for lost.
var ErrUncertain = errors.New("the outcome is not known")

// A File is a committed file. Any number of goroutines may read it.
type File interface {
	io.ReaderAt
	io.Closer
	Location() Location
	Size() int64
}

// An Entry describes a committed file.
type Entry struct {
	Location Location
	Size     int64
	Modified time.Time
}
