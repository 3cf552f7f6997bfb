package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirstream/weir/connector"
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
// the two loses none. It leaves alone what a later attempt has written: then this one is
// taken for dead, and has only now woken up.
type replacer struct {
	committer
	dir        string
	partitions bool   // those that have no new file stay as they are
	prefix     string // of the files of all attempts
	attempt    int
	tried      bool // to commit
}

// Commit gives all files their names at once: what is removed depends on them all, so
// that a part of them does not count as done.
func (r *replacer) Commit(ctx context.Context, all []connector.Committable) (done int, err error) {
	last := len(all) - 1
	if last < 0 || string(all[last].Data) != string(removal) {
		return 0, errors.New("replace files: the list of new files has no end")
	}
	again := slices.Clone(all[:last])
	for i := range again { // after a failure some have their names already
		again[i].Again = again[i].Again || r.tried
	}
	r.tried = true
	if _, err := r.committer.Commit(ctx, again); err != nil {
		return 0, err
	}
	kept, dirs := map[string]bool{}, map[string]bool{}
	for _, c := range again {
		p, err := decodePending(c.Data)
		if err != nil {
			return 0, fmt.Errorf("replace files: %w", err)
		}
		kept[p.final()] = true
		dirs[filepath.Dir(p.final())] = true
	}
	if !r.partitions {
		dirs = map[string]bool{r.dir: true}
	}
	for dir := range dirs {
		if err := r.removeOthers(dir, kept); err != nil {
			return 0, connector.Retriable(fmt.Errorf("replace files: %w", err))
		}
	}
	return len(all), nil
}

// removeOthers removes the files below a directory that are seen, but for those to keep.
func (r *replacer) removeOthers(dir string, kept map[string]bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		hidden := path != dir && (strings.HasPrefix(filepath.Base(path), ".") || strings.HasPrefix(filepath.Base(path), "_"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && hidden:
			return fs.SkipDir
		case e.IsDir() || hidden || kept[path]:
			return nil
		}
		if _, attempt, ok := authorOf(r.prefix, e.Name()); ok && attempt > r.attempt {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}
