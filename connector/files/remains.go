package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Remains are what attempts have left behind that came before this one: killed, or taken
// for dead while they were frozen or cut off, and still alive. What such a one may do when
// it wakes up is bounded by its claim, a file that says that nobody has taken its place.
// Whoever takes its place removes the claim first, and then what else there is; and it
// begins no file, and gives none to be committed, without it.

// claim begins the life of this attempt, and ends that of those before.
func (w *writer[T]) claim() error {
	w.claimed = filepath.Join(w.hidden, w.name("0", "claim"))
	if err := w.clean(); err != nil {
		return err
	}
	for {
		file, err := os.OpenFile(w.claimed, os.O_CREATE|os.O_WRONLY, 0o666)
		if err == nil {
			return file.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// Another subtask may remove the directory at any time, until there is a claim in it.
		_, there := os.Lstat(w.sink.Dir)
		w.made = w.made || errors.Is(there, fs.ErrNotExist)
		if err := os.MkdirAll(w.hidden, 0o777); err != nil {
			return err
		}
	}
}

// holds fails when the claim is gone.
func (w *writer[T]) holds() error {
	_, err := os.Lstat(w.claimed)
	if errors.Is(err, fs.ErrNotExist) {
		return w.replaced()
	}
	return err
}

// replaced is the error of an attempt whose claim is gone.
func (w *writer[T]) replaced() error {
	return fmt.Errorf("%s is gone: another attempt has taken the place of this one, or somebody has removed it", w.claimed)
}

// settle gives up the claim, when all files are closed: what this attempt has written
// counts, and what others have left since it began goes.
func (w *writer[T]) settle() error {
	if err := w.clean(); err != nil {
		return err
	}
	err := os.Remove(w.claimed)
	if errors.Is(err, fs.ErrNotExist) {
		return w.replaced()
	}
	return err
}

// clean removes what is left of attempts before this one, but for files that the
// checkpoint it began with holds. In a job that began anew with nothing these are also
// finished files: it writes all of them again. Those that have taken the place of others
// may be all that there is, and go as such.
func (w *writer[T]) clean() error {
	for {
		removed, err := w.cleanHidden()
		if err != nil {
			return err
		}
		if !removed {
			break
		} // what was begun in the meantime, while there was a claim
	}
	if w.c.Restored == nil && w.c.Attempt > 0 && !w.sink.Replace {
		return w.cleanFinished()
	}
	return nil
}

func (w *writer[T]) cleanHidden() (removed bool, err error) {
	entries, err := os.ReadDir(w.hidden)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		path := filepath.Join(w.hidden, e.Name())
		if w.remains(e.Name()) && !w.kept[path] {
			removed = true
			err = errors.Join(err, remove(path))
		}
	}
	return removed, err
}

func (w *writer[T]) cleanFinished() error {
	return filepath.WalkDir(w.sink.Dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != w.sink.Dir:
			return fs.SkipDir
		case e.Type().IsRegular() && w.remains(e.Name()):
			return remove(path)
		}
		return nil
	})
}

// remains reports whether a file of this name is what an earlier attempt has left, of this
// subtask or of one whose remains are this one's since a rescale. What a later attempt
// writes is not: then this one is taken for dead itself.
func (w *writer[T]) remains(name string) bool {
	subtask, attempt, ok := authorOf(w.prefix, name)
	return ok && w.c.Owns(subtask) && attempt < w.c.Attempt
}

// authorOf reads in a name with this prefix who has written the file.
func authorOf(prefix, name string) (subtask, attempt int, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, 0, false
	}
	parts := strings.SplitN(rest, "-", 4) // subtask, checkpoint, attempt, and what is left
	if len(parts) < 4 {
		return 0, 0, false
	}
	subtask, err1 := strconv.Atoi(parts[0])
	attempt, err2 := strconv.Atoi(parts[2])
	return subtask, attempt, err1 == nil && err2 == nil && subtask >= 0
}

// remove removes a file that may be gone.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
