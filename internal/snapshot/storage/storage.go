// Package storage writes and reads the files of snapshots.
//
// It promises that what it returns has the length and the checksum that were
// written, and that a file which does not is refused with a
// *snapshot.CorruptError that names it and the offset. It waits for files: who
// runs on a loop calls it beside that.
package storage

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sizeLimit is the most that a metadata file may have: what is longer is none.
const sizeLimit = 1 << 30

// Write writes the metadata into dir, after all files it refers to, and returns
// its size.
func Write(ctx context.Context, to fs.FileSystem, dir fs.Location, m *snapshot.Metadata) (int64, error) {
	data := snapshot.Encode(m, dir)
	if err := fs.WriteFile(ctx, to, dir.Join(snapshot.MetadataName), data); err != nil {
		return 0, fmt.Errorf("write the metadata of checkpoint %d: %w", m.Checkpoint, err)
	}
	return int64(len(data)), nil
}

// Read reads the metadata that a location names: the file, or the directory it
// lies in, which is returned. It fails with a *snapshot.CorruptError when the file is not
// what was written, and with an error of fs.ErrNotExist when there is none.
func Read(ctx context.Context, from fs.FileSystem, at fs.Location) (*snapshot.Metadata, fs.Location, error) {
	file, err := find(ctx, from, at)
	if err != nil {
		return nil, "", err
	}
	data, err := fs.ReadFile(ctx, from, file, sizeLimit)
	if err != nil {
		return nil, "", err
	}
	m, err := snapshot.Decode(data, file)
	if err != nil {
		return nil, "", err
	}
	return m, file.Parent(), nil
}

// find gives the metadata file at or in a location.
func find(ctx context.Context, from fs.FileSystem, at fs.Location) (fs.Location, error) {
	for _, file := range []fs.Location{at.Join(snapshot.MetadataName), at} {
		_, err := from.Stat(ctx, file)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	inside, err := from.List(ctx, at)
	if err != nil {
		return "", err
	}
	return "", &NotFoundError{Location: at, Directory: len(inside) > 0}
}

// A NotFoundError says that there is no snapshot at a location; its text is
// Flink's. It is an fs.ErrNotExist.
type NotFoundError struct {
	Location fs.Location
	// Directory says that there are other files below the location.
	Directory bool
}

func (e *NotFoundError) Error() string {
	if e.Directory {
		return fmt.Sprintf("Cannot find meta data file '%s' in directory '%s'. "+
			"Please try to load the checkpoint/savepoint directly from the metadata file instead of the directory.", snapshot.MetadataName, e.Location)
	}
	return fmt.Sprintf("Cannot find checkpoint or savepoint file/directory '%s' on file system '%s'.", e.Location, e.Location.Scheme())
}

func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// Verify checks that every file of the snapshot is there and has its length,
// and when deep is set its checksum, for which all are read. It fails with a
// *snapshot.CorruptError of the first that does not, or with an error of the file system.
func Verify(ctx context.Context, from fs.FileSystem, m *snapshot.Metadata, deep bool) error {
	for h := range m.Handles() {
		if h.Location == "" {
			continue // checked with the metadata
		}
		if err := verify(ctx, from, h, deep); err != nil {
			return err
		}
	}
	return nil
}

func verify(ctx context.Context, from fs.FileSystem, h snapshot.Handle, deep bool) error {
	entry, err := from.Stat(ctx, h.Location)
	if err != nil {
		return missing(h, err)
	}
	if entry.Size != h.Length {
		return wrongLength(h, entry.Size)
	}
	if !deep {
		return nil
	}
	f, err := from.Open(ctx, h.Location)
	if err != nil {
		return missing(h, err)
	}
	sum := uint32(0)
	piece := make([]byte, 1<<20)
	for at := int64(0); at < h.Length && err == nil; {
		var n int
		n, err = f.ReadAt(piece[:min(int64(len(piece)), h.Length-at)], at)
		sum = crc32.Update(sum, castagnoli, piece[:n])
		at += int64(n)
		if err == io.EOF && at == h.Length {
			err = nil
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if sum != h.Checksum {
		return damaged(h)
	}
	return nil
}

// Bytes reads all a handle refers to, and checks length and checksum before it
// returns anything.
func Bytes(ctx context.Context, from fs.FileSystem, h snapshot.Handle) ([]byte, error) {
	if h.Location == "" {
		return h.Inline, nil
	}
	data, err := fs.ReadFile(ctx, from, h.Location, max(h.Length, 0))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(h, err)
	case err != nil && int64(len(data)) == 0:
		if entry, statErr := from.Stat(ctx, h.Location); statErr == nil && entry.Size != h.Length {
			return nil, wrongLength(h, entry.Size)
		}
		return nil, err
	case int64(len(data)) != h.Length:
		return nil, wrongLength(h, int64(len(data)))
	case snapshot.Checksum(data) != h.Checksum:
		return nil, damaged(h)
	}
	return data, nil
}

// Channel reads what was in flight on a channel, and checks it before it returns
// anything: only that of its file, which has that of many.
func Channel(ctx context.Context, from fs.FileSystem, c snapshot.ChannelState) ([][]byte, error) {
	at, alone := c.Run()
	if c.File.Location == "" || c.Checksum == 0 || !alone {
		data, err := Bytes(ctx, from, c.File)
		if err != nil {
			return nil, err
		}
		return c.Cut(data, 0)
	}
	f, err := from.Open(ctx, c.File.Location)
	if err != nil {
		return nil, missing(c.File, err)
	}
	defer f.Close()
	if f.Size() != c.File.Length {
		return nil, wrongLength(c.File, f.Size())
	}
	data := make([]byte, at.Length)
	if n, err := f.ReadAt(data, at.Offset); int64(n) < at.Length {
		return nil, err
	}
	if snapshot.Checksum(data) != c.Checksum {
		return nil, &snapshot.CorruptError{Location: c.File.Location, Offset: at.Offset,
			What: fmt.Sprintf("it is damaged: the %d bytes of a channel do not have their checksum", at.Length)}
	}
	return c.Cut(data, at.Offset)
}

// Section reads a section of an open file into buf, which it grows, and checks its
// checksum before it returns anything.
func Section(f fs.File, s snapshot.Section, buf []byte) ([]byte, error) {
	if int64(cap(buf)) < s.Length {
		buf = make([]byte, s.Length)
	}
	buf = buf[:s.Length]
	n, err := f.ReadAt(buf, s.Offset)
	switch {
	case int64(n) == s.Length:
	case err == io.EOF:
		return nil, &snapshot.CorruptError{Location: f.Location(), Offset: s.Offset + int64(n),
			What: fmt.Sprintf("it is cut short: the section of key group %d has %d bytes", s.Group, s.Length)}
	default:
		return nil, err
	}
	if snapshot.Checksum(buf) != s.Checksum {
		return nil, &snapshot.CorruptError{Location: f.Location(), Offset: s.Offset,
			What: fmt.Sprintf("it is damaged: the %d bytes of key group %d do not have their checksum", s.Length, s.Group)}
	}
	return buf, nil
}

func missing(h snapshot.Handle, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &snapshot.CorruptError{Location: h.Location, What: "the file is missing", Err: err}
	}
	return err
}

func wrongLength(h snapshot.Handle, have int64) error {
	return &snapshot.CorruptError{Location: h.Location, Offset: min(have, h.Length),
		What: fmt.Sprintf("the file has %d bytes, want %d", have, h.Length)}
}

func damaged(h snapshot.Handle) error {
	return &snapshot.CorruptError{Location: h.Location, What: fmt.Sprintf("it is damaged: its %d bytes do not have their checksum", h.Length)}
}

// Dispose deletes a savepoint or a retained checkpoint: the metadata first, so
// that it is gone, then the files it refers to that lie below its directory, and
// the directory unless there is something else in it. It returns the files it
// refers to elsewhere, which other checkpoints may refer to too.
func Dispose(ctx context.Context, in fs.FileSystem, at fs.Location) (left []fs.Location, err error) {
	file, err := find(ctx, in, at)
	if err != nil {
		return nil, err
	}
	m, dir, err := Read(ctx, in, file)
	if err != nil {
		return nil, err
	}
	if err := in.Delete(ctx, file); err != nil {
		return nil, err
	}
	for h := range m.Handles() {
		if h.Location == "" {
			continue
		}
		if _, below := h.Location.Under(dir); !below {
			left = append(left, h.Location)
		} else if err := in.Delete(ctx, h.Location); err != nil {
			return left, err
		}
	}
	others, err := in.List(ctx, dir)
	if err != nil || len(others) > 0 {
		return left, err
	}
	return left, in.DeleteTree(ctx, dir)
}
