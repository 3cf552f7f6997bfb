package filesystem

import (
	"bytes"
	"cmp"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// section is a section of a file whose rejected rows are kept in a file of their own.
type section struct {
	name       string
	begin, end int64
}

// within reports whether a section is a part of another, or all of it.
func (s section) within(of section) bool { return of.begin <= s.begin && s.end <= of.end }

// sectionName is the name of a section's file.
func sectionName(prefix string, begin, end int64) string {
	return fmt.Sprintf("%s%016x-%016x.json", prefix, begin, end)
}

// sectionOf reads the name of a section's file.
func sectionOf(prefix, name string) (s section, ok bool) {
	rest, mine := strings.CutPrefix(name, prefix)
	rest, whole := strings.CutSuffix(rest, ".json")
	if !mine || !whole {
		return s, false
	}
	from, to, _ := strings.Cut(rest, "-")
	begin, err1 := strconv.ParseInt(from, 16, 64)
	end, err2 := strconv.ParseInt(to, 16, 64)
	return section{name, begin, end}, err1 == nil && err2 == nil
}

// sections are those that are kept of the file that is read, none of which is within
// another: who was killed while he cut one has left both it and its parts.
func (r *rejects) sections() (all []section) {
	prefix := r.prefix()
	entries, _ := os.ReadDir(r.dir)
	for _, e := range entries {
		if s, ok := sectionOf(prefix, e.Name()); ok {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b section) int { // those that have others in them first
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end))
	})
	kept := all[:0]
	for _, s := range all {
		if len(kept) > 0 && s.within(kept[len(kept)-1]) {
			_ = os.Remove(filepath.Join(r.dir, s.name))
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// makeRoom takes what was found in a section out of all that is kept, whoever has found it
// and in which sections: the rest of these stays.
func (r *rejects) makeRoom(own section) error {
	for _, s := range r.sections() {
		if s.end <= own.begin || own.end <= s.begin {
			continue
		}
		for _, rest := range []section{{begin: s.begin, end: own.begin}, {begin: own.end, end: s.end}} {
			if rest.begin < rest.end {
				if err := r.cut(s, rest); err != nil {
					return err
				}
			}
		}
		if err := os.Remove(filepath.Join(r.dir, s.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// cut keeps what a section has of a part of it as a section too.
func (r *rejects) cut(s, part section) error {
	text, err := os.ReadFile(filepath.Join(r.dir, s.name))
	if err != nil {
		return err
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		var row rejectedRow
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(r.dir, s.name), err)
		}
		if part.begin <= row.Offset && row.Offset < part.end {
			kept = append(kept, line...)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	f, err := os.CreateTemp(r.dir, r.unfinished())
	if err != nil {
		return err
	}
	_, err = f.Write(kept)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(r.dir, sectionName(r.prefix(), part.begin, part.end)))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// lockTries and lockPause are how long a lock is waited for: others hold it for
// milliseconds, unless their process was stopped.
const lockTries, lockPause = 500, 10 * time.Millisecond

// locked calls f while nobody else changes what is kept in a directory. Where directories
// cannot be locked, as on some that are of other machines, or somebody holds the lock for
// seconds, f is called all the same.
func locked(dir string, f func() error) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f()
	}
	if err != nil {
		return err
	}
	defer d.Close() // gives the lock back
	for range lockTries {
		if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			break
		}
		time.Sleep(lockPause)
	}
	return f()
}
