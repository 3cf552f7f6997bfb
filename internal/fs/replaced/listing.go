package replaced

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tries is how often files are listed at most while others take their place, and quiet how
// often if all that is known is that some have come or gone, as in a directory that grows.
const tries, quiet = 1000, 10

// List gives of the files below root that list gives those that count. It calls list until
// files have not been replaced meanwhile: half of a list that is made while files go and come
// would be of the old ones, and half of the new ones.
func List[F any](root string, list func() ([]F, error), path func(F) string) ([]F, error) {
	for try := 1; ; try++ {
		notes, changed, err := state(root)
		if err != nil {
			return nil, err
		}
		all, err := list()
		if err != nil {
			return nil, err
		}
		var counting []F
		var l listing
		for _, f := range all {
			counts, err := l.counts(path(f))
			if err != nil {
				return nil, err
			}
			if counts {
				counting = append(counting, f)
			}
		}
		after, changedSince, err := state(root)
		switch {
		case err != nil:
			return nil, err
		case after == notes && (changedSince == changed || try >= quiet):
			return counting, nil
		case try >= tries:
			return nil, fmt.Errorf("list the files below %s: they were replaced again and again meanwhile", root)
		}
	}
}

// state is what changes when files below root are replaced: the notes that hold for them,
// and the time at which something in root was changed, since a note may have come and gone.
func state(root string) (notes string, changed int64, err error) {
	for dir := root; ; dir = filepath.Dir(dir) {
		note, err := Read(dir)
		if err != nil {
			return "", 0, err
		}
		notes += fmt.Sprintf("%s\n%s", dir, note)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if info, err := os.Stat(root); err == nil {
		changed = info.ModTime().UnixNano()
	}
	return notes, changed, nil
}

// listing tells of files whether they count, by the notes in the directories that they are
// in, each of which it reads once.
type listing struct {
	notes map[string][]map[string]bool // by directory: its note, and those of the directories above
}

// counts reports whether a file counts, which a note itself does not.
func (l *listing) counts(file string) (bool, error) {
	if strings.HasPrefix(filepath.Base(file), name) {
		return false, nil
	}
	all, err := l.above(filepath.Dir(file))
	for _, files := range all {
		if files[file] {
			return false, nil
		}
	}
	return true, err
}

// above gives the notes that hold for the files of a directory.
func (l *listing) above(dir string) (all []map[string]bool, err error) {
	if all, known := l.notes[dir]; known {
		return all, nil
	}
	if above := filepath.Dir(dir); above != dir {
		if all, err = l.above(above); err != nil {
			return nil, err
		}
	}
	note, err := Read(dir)
	if err != nil {
		return nil, err
	}
	if note != "" {
		files, err := note.Files(dir)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, f := range files {
			named[f] = true
		}
		all = append(all[:len(all):len(all)], named)
	}
	if l.notes == nil {
		l.notes = map[string][]map[string]bool{}
	}
	l.notes[dir] = all
	return all, nil
}
