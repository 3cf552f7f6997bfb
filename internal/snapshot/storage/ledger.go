package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/weirstream/weir/internal/fs"
)

// A Ledger is the small files in which it is written down which checkpoints of a
// job are complete, and which ids were given. Below its directory:
//
//	ids/<id>         every id that was drawn, of which the older ones are deleted again
//	completed/<id>   where the checkpoint is
//
// A file is written once and whole, so that an entry is there or not; and of two
// who draw the same id only one finds its file not there before, so that an id is
// given once even if two JobMasters believe that the job is theirs.
type Ledger struct {
	Files fs.FileSystem
	Dir   fs.Location
}

// An Entry is a completed checkpoint.
type Entry struct {
	Checkpoint int64
	Location   fs.Location
}

func (l Ledger) ids() fs.Location { return l.Dir.Join("ids") }

func (l Ledger) entry(id int64) fs.Location {
	return l.Dir.Join("completed", strconv.FormatInt(id, 10))
}

// Draw gives an id above last that was never given before.
func (l Ledger) Draw(last int64) (int64, error) {
	ctx := context.Background()
	drawn, err := l.Files.List(ctx, l.ids())
	if err != nil {
		return 0, fmt.Errorf("draw the id of a checkpoint: %w", err)
	}
	for _, e := range drawn {
		last = max(last, numbered(e.Location))
	}
	for {
		last++
		err = fs.WriteFile(ctx, l.Files, l.ids().Join(strconv.FormatInt(last, 10)), nil)
		if errors.Is(err, fs.ErrExist) {
			continue // another one has drawn it
		}
		if err != nil {
			return 0, fmt.Errorf("draw the id of a checkpoint: %w", err)
		}
		for _, e := range drawn {
			// The new one stands for them. One that stays does no harm.
			_ = l.Files.Delete(ctx, e.Location)
		}
		return last, nil
	}
}

// numbered is the number that a file has for a name; 0: none.
func numbered(at fs.Location) int64 {
	id, err := strconv.ParseInt(at.Base(), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// Enter writes an entry down.
func (l Ledger) Enter(id int64, at fs.Location) error {
	return fs.WriteFile(context.Background(), l.Files, l.entry(id), []byte(at))
}

// Remove deletes an entry.
func (l Ledger) Remove(id int64) error {
	return l.Files.Delete(context.Background(), l.entry(id))
}

// longestLocation is how long an entry may be.
const longestLocation = 64 << 10

// Completed gives the entries, oldest first. One that names no location stands for
// a checkpoint that is not there, and is itself given as its location.
func (l Ledger) Completed() ([]Entry, error) {
	ctx := context.Background()
	files, err := l.Files.List(ctx, l.Dir.Join("completed"))
	if err != nil {
		return nil, fmt.Errorf("list the completed checkpoints: %w", err)
	}
	var all []Entry
	for _, e := range files {
		id := numbered(e.Location)
		if id == 0 {
			continue // it is no entry
		}
		text, err := fs.ReadFile(ctx, l.Files, e.Location, longestLocation)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed while they were listed
		}
		if err != nil {
			return nil, fmt.Errorf("read where checkpoint %d is: %w", id, err)
		}
		at, err := fs.Parse(string(text))
		if err != nil {
			at = e.Location
		}
		all = append(all, Entry{Checkpoint: id, Location: at})
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Checkpoint, b.Checkpoint) })
	return all, nil
}

// Clear deletes everything.
func (l Ledger) Clear() error { return l.Files.DeleteTree(context.Background(), l.Dir) }
