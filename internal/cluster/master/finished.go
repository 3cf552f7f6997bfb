package master

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

// finishedJobs keeps jobs that have ended in one file each, in a directory that
// goes with the process. It is the Dispatcher's Files.
type finishedJobs struct {
	loop actor.Loop
	dir  string
	log  *slog.Logger
}

func (f *finishedJobs) path(id ident.JobID) string { return filepath.Join(f.dir, id.String()) }

// Write writes a job down. A file that is not whole is not left behind.
func (f *finishedJobs) Write(v execgraph.View, then func(error)) {
	var err error
	f.loop.Go(func() { err = f.write(v) }, func() {
		if err != nil {
			f.log.Warn("a job that has ended is forgotten, since there is no room for it in memory and it cannot be written down", "job", v.Job, "error", err)
		}
		then(err)
	})
}

func (f *finishedJobs) write(v execgraph.View) error {
	data, err := v.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.path(v.Job), data, 0o600); err != nil {
		return errors.Join(fmt.Errorf("write a job that has ended: %w", err), f.remove(v.Job))
	}
	return nil
}

// Read reads a job that was written.
func (f *finishedJobs) Read(id ident.JobID, then func(execgraph.View, error)) {
	var v execgraph.View
	var err error
	f.loop.Go(func() { v, err = f.read(id) }, func() { then(v, err) })
}

func (f *finishedJobs) read(id ident.JobID) (execgraph.View, error) {
	data, err := os.ReadFile(f.path(id))
	if err != nil {
		return execgraph.View{}, fmt.Errorf("read a job that has ended: %w", err)
	}
	return execgraph.DecodeView(data)
}

// Remove removes a job that was written.
func (f *finishedJobs) Remove(id ident.JobID) {
	var err error
	f.loop.Go(func() { err = f.remove(id) }, func() {
		if err != nil {
			f.log.Warn("a job that has ended stays in its file", "job", id, "error", err)
		}
	})
}

func (f *finishedJobs) remove(id ident.JobID) error {
	if err := os.Remove(f.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
