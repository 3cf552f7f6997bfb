package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/internal/fs/replaced"
)

// replacing is a writer of files that take the place of others. Its last committable
// stands for the removal of those.
type replacing[T any] struct{ *writer[T] }

// removal is the committable that removes old files, when those before it are seen.
var removal = []byte("remove what was there before")

// Prepare gives the new files, and that the old ones go.
func (w replacing[T]) Prepare(checkpoint int64) ([][]byte, error) {
	all, err := w.writer.Prepare(checkpoint)
	if err == nil && checkpoint == connector.AtEnd {
		all = append(all, removal)
	}
	return all, err
}

// replacer commits new files and then removes the old ones, so that a failure between
// the two loses none. Whoever lists the directory meanwhile is told by a note that the new
// files do not count yet, and from one moment on, at which it is changed, that they do and
// the old ones do not. It leaves alone what a later attempt has written: then this one is
// taken for dead, and has only now woken up.
type replacer struct {
	committer
	dir        string
	partitions bool   // those that have no new file stay as they are
	prefix     string // of the files of all attempts
	attempt    int
	tried      bool // to commit

	// old are the files that are replaced, those that were seen before the first new one was.
	// One that another program adds later stays.
	old      []string
	known    bool          // old is
	switched bool          // the new files count
	note     replaced.Note // then: that the old ones do not
}

// Commit gives all files their names at once: what is removed depends on them all, so
// that a part of them does not count as done.
func (r *replacer) Commit(ctx context.Context, all []connector.Committable) (done int, err error) {
	last := len(all) - 1
	if last < 0 || string(all[last].Data) != string(removal) {
		return 0, errors.New("replace files: the list of new files has no end")
	}
	fresh, hidden := map[string]bool{}, true
	for _, c := range all[:last] {
		p, err := decodePending(c.Data)
		if err != nil {
			return 0, fmt.Errorf("replace files: %w", err)
		}
		fresh[p.final()] = true
		if _, err := os.Lstat(p.hidden()); errors.Is(err, fs.ErrNotExist) {
			hidden = false
		}
	}
	if !r.known {
		if r.old, err = r.others(fresh); err != nil {
			return 0, connector.Retriable(fmt.Errorf("replace files: %w", err))
		}
		r.known = true
	}
	if !r.switched {
		if hidden || r.tried { // or else it fails, and need not tell
			if err := r.announce(fresh); err != nil {
				return 0, connector.Retriable(fmt.Errorf("replace files: %w", err))
			}
		}
		if err := r.turn(ctx, all[:last], fresh); err != nil {
			return 0, err
		}
		r.switched = true
	}
	if err := r.removeOld(); err != nil {
		return 0, connector.Retriable(fmt.Errorf("replace files: %w", err))
	}
	return len(all), nil
}

// turn gives the new files their names, and then makes them count instead of the old ones.
func (r *replacer) turn(ctx context.Context, all []connector.Committable, fresh map[string]bool) error {
	again := slices.Clone(all)
	for i := range again { // after a failure some have their names already
		again[i].Again = again[i].Again || r.tried
	}
	r.tried = true
	if _, err := r.committer.Commit(ctx, again); err != nil {
		return err
	}
	for path := range fresh { // order: any that is gone is as good
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace files: %s is gone before the old files were removed: others replace the files of this directory at the same time, or this attempt was taken for dead", path)
		}
	}
	if len(r.old) == 0 {
		return nil
	}
	note, err := replaced.Write(r.dir, r.old)
	if err != nil {
		return connector.Retriable(fmt.Errorf("replace files: %w", err))
	}
	r.note = note
	return nil
}

// announce notes that the new files do not count yet, besides those that do not already,
// unless there are no old ones that do.
func (r *replacer) announce(fresh map[string]bool) error {
	if len(r.old) == 0 || len(fresh) == 0 {
		return nil
	}
	before, err := replaced.Read(r.dir)
	if err != nil {
		return err
	}
	files, err := before.Files(r.dir)
	if err != nil {
		return err
	}
	all := maps.Clone(fresh)
	for _, path := range files {
		all[path] = true
	}
	_, err = replaced.Write(r.dir, slices.Sorted(maps.Keys(all)))
	return err
}

// removeOld removes the old files, and then the note of them.
func (r *replacer) removeOld() error {
	for _, path := range r.old {
		if err := remove(path); err != nil {
			return err
		}
	}
	if len(r.old) == 0 {
		return nil
	}
	return replaced.Remove(r.dir, r.note)
}

// others are the files that are seen and not new: in the directory, or in the partitions
// that have new ones; those of earlier attempts, which may have had others, in any.
func (r *replacer) others(fresh map[string]bool) (all []string, err error) {
	dirs := map[string]bool{} // with new files
	for path := range fresh { // order: a set
		dirs[filepath.Dir(path)] = true
	}
	err = filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		base := filepath.Base(path)
		hidden := path != r.dir && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && hidden:
			return fs.SkipDir
		case e.IsDir() || hidden || fresh[path]:
			return nil
		}
		_, attempt, own := authorOf(r.prefix, base)
		switch {
		case own && attempt > r.attempt:
		case !r.partitions || within(dirs, r.dir, path) || own && attempt < r.attempt:
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// within reports whether a file lies in one of the directories or below it, all of which
// are base or below it.
func within(dirs map[string]bool, base, path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if dirs[dir] {
			return true
		}
		if dir == base || dir == filepath.Dir(dir) {
			return false
		}
	}
}
