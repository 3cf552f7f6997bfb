package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	weirfs "github.com/weirstream/weir/internal/fs"
)

// A file is an open committed file.
type file struct {
	*os.File
	at   weirfs.Location
	size int64
}

func (f *file) Location() weirfs.Location { return f.at }

func (f *file) Size() int64 { return f.size }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = weirfs.Failed("read", f.at, -1, err)
	}
	return n, err
}

// A writer is a file under its hidden name.
type writer struct {
	at   weirfs.Location
	path string // the final one
	file *os.File
	err  error // of a Write
	over bool
}

func (w *writer) Location() weirfs.Location { return w.at }

func (w *writer) Write(p []byte) (int, error) {
	if w.over {
		return 0, weirfs.Failed("write", w.at, -1, os.ErrClosed)
	}
	n, err := w.file.Write(p)
	if err != nil {
		w.err = failedWrite("write", w.at, err)
	}
	return n, w.err
}

// Commit synchronises the file, gives it its name, and synchronises the
// directory. Should that last step fail, the name may or may not outlive a power
// failure.
func (w *writer) Commit(ctx context.Context) error {
	if w.over {
		return nil
	}
	err := w.err
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil {
		err = w.file.Chmod(0o644)
	}
	w.over = true
	err = errors.Join(err, w.file.Close())
	if err == nil {
		err = w.name()
	}
	if removing := os.Remove(w.file.Name()); err == nil && !errors.Is(removing, fs.ErrNotExist) {
		err = removing
	}
	if err != nil {
		return failedWrite("commit", w.at, err)
	}
	if err := syncDirectory(filepath.Dir(w.path)); err != nil {
		return failedWrite("commit", w.at, fmt.Errorf("%w: %w", weirfs.ErrUncertain, err))
	}
	return nil
}

// name gives the file its final name, unless that is taken.
func (w *writer) name() error {
	err := os.Link(w.file.Name(), w.path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// No hard links here.
	if _, err := os.Lstat(w.path); err == nil {
		return fs.ErrExist
	}
	return os.Rename(w.file.Name(), w.path)
}

func (w *writer) Abort() {
	if w.over {
		return
	}
	w.over = true
	_ = w.file.Close()           // what was written is not wanted
	_ = os.Remove(w.file.Name()) // if it stays, DeleteTree finds it
}
