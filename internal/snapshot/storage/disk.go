package storage

import (
	"context"
	"errors"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
)

// A Disk holds the files of snapshots for whoever decides about them.
type Disk struct{ Files fs.FileSystem }

// Probe fails when nothing can be written into a new directory.
func (d Disk) Probe(dir fs.Location) error {
	w, err := d.Files.Create(context.Background(), dir.Join(snapshot.MetadataName))
	if err != nil {
		return err
	}
	w.Abort()
	return nil
}

// Write writes the metadata into a directory.
func (d Disk) Write(dir fs.Location, m *snapshot.Metadata) error {
	_, err := Write(context.Background(), d.Files, dir, m)
	return err
}

// Read reads metadata, and fails as well when a file it refers to is not there or
// has another length.
func (d Disk) Read(at fs.Location) (*snapshot.Metadata, fs.Location, error) {
	ctx := context.Background()
	m, dir, err := Read(ctx, d.Files, at)
	if err == nil {
		err = Verify(ctx, d.Files, m, false)
	}
	return m, dir, err
}

// Delete deletes metadata, so that there is no snapshot any more, and only then
// files and all below tree; each may be empty. A file that cannot be deleted does
// not keep the others.
func (d Disk) Delete(metadata fs.Location, files []fs.Location, tree fs.Location) error {
	ctx := context.Background()
	if metadata != "" {
		if err := d.Files.Delete(ctx, metadata); err != nil {
			return err
		}
	}
	var failed []error
	for _, file := range files {
		failed = append(failed, d.Files.Delete(ctx, file))
	}
	if tree != "" {
		failed = append(failed, d.Files.DeleteTree(ctx, tree))
	}
	return errors.Join(failed...)
}
