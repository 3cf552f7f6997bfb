package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/status"
)

// Restore loads what an operator kept. It reads files, on the task's goroutine. The
// failure of one that is gone or damaged says so: the checkpoint is of no use then.
func (c *checkpoints) Restore(op ident.OperatorID, k operator.Kept) error {
	if c.incremental && k.Keyed != nil {
		k.Keyed.Track()
	}
	s := c.restored[op]
	if s == nil {
		return nil
	}
	return unusable(c.load(op, s, k))
}

// unusable makes the failure of a checkpoint that is damaged or gone, or that the program
// cannot take, tell so.
func unusable(err error) error {
	_, corrupt := errors.AsType[*snapshot.CorruptError](err)
	if corrupt || errors.Is(err, state.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		f := status.FailureOf(err)
		f.Kind = status.FailureSnapshot
		return f
	}
	if _, changed := errors.AsType[*state.IncompatibleError](err); changed {
		return status.Fatal(err) // it would be the same again
	}
	return err
}

func (c *checkpoints) load(op ident.OperatorID, s *snapshot.SubtaskState, k operator.Kept) error {
	ctx := context.Background()
	for _, keyed := range s.Keyed {
		if err := c.restoreKeyed(ctx, keyed, k.Keyed); err != nil {
			return fmt.Errorf("restore keyed state: %w", err)
		}
	}
	if k.Keyed != nil && len(s.Keyed) > 0 {
		if err := k.Keyed.Restored(); err != nil {
			return fmt.Errorf("restore keyed state: %w", err)
		}
		if from := restoredBase(c.from, s.Keyed, k.Keyed); from != nil && c.incremental {
			c.bases.add(op, from)
		}
	}
	for _, list := range k.Lists {
		if err := c.restoreList(ctx, s.Lists, list); err != nil {
			return fmt.Errorf("restore %q: %w", list.Name, err)
		}
	}
	return nil
}

// restoreList loads the elements of all parts of one list.
func (c *checkpoints) restoreList(ctx context.Context, lists []snapshot.ListState, into operator.KeptList) error {
	var all [][]byte
	for _, l := range lists {
		if l.Name != into.Name {
			continue
		}
		if err := into.Fits(l.Schema); err != nil {
			return err
		}
		data, err := storage.Bytes(ctx, c.w.Files, l.File)
		if err != nil {
			return err
		}
		for _, e := range l.Elements {
			all = append(all, data[e.Offset:e.Offset+e.Length])
		}
	}
	return into.Load(all)
}

// restoreKeyed reads the key groups of one part of keyed state.
func (c *checkpoints) restoreKeyed(ctx context.Context, part snapshot.KeyedState, into *state.Backend) error {
	if into == nil {
		return errors.New("the operator has none in this program")
	}
	opened := make([]*state.File, len(part.Files))
	for i, file := range part.Files {
		r, size, done, err := c.open(ctx, file)
		if err != nil {
			return err
		}
		defer done()
		if opened[i], err = state.OpenFile(file.Name, r, size); err != nil {
			return err
		}
	}
	if len(part.Sections) > 0 {
		for _, s := range slices.Backward(part.Sections) { // of each group the newest first
			l := state.Location{Group: s.Group, File: part.Files[s.File].Name, Offset: s.Offset, Length: s.Length, Checksum: s.Checksum}
			if err := into.Restore(opened[s.File], l); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range opened {
		for _, l := range f.Locations() {
			if l.Group < part.First || l.Group > part.Last {
				continue
			}
			if err := into.Restore(f, l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checkpoints) open(ctx context.Context, file snapshot.KeyedFile) (r io.ReaderAt, size int64, done func(), err error) {
	if file.Location == "" {
		return bytes.NewReader(file.Inline), int64(len(file.Inline)), func() {}, nil
	}
	f, err := c.w.Files.Open(ctx, file.Location)
	if err != nil {
		return nil, 0, nil, err
	}
	if f.Size() != file.Length {
		defer f.Close()
		return nil, 0, nil, &snapshot.CorruptError{Location: file.Location, Offset: f.Size(), What: fmt.Sprintf("it has %d bytes, want %d", f.Size(), file.Length)}
	}
	return f, f.Size(), func() { f.Close() }, nil
}
