//go:build unix

// Package belongings lets a process leave nothing behind, even if it is killed:
// each process keeps a file, locked as long as it lives, that lists the paths
// which are to go with it.
//
//	add a path ──▶ it is written down ──▶ it is made ──▶ Close removes it, or,
//	after a kill, whoever sweeps the directory next: the lock is free then
//
// It promises that a path is written down before it can exist, that what belongs
// to a process that lives is not touched, and that only paths are removed that
// Weir gave their names. It never follows a path out of what is listed.
package belongings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const suffix = ".belongings"

// prefixes are how the names of everything begin that may be removed. A file
// that was damaged or written by someone else then names nothing else.
var prefixes = []string{"tm-", "jm-", "weir-", "jobmanager-"}

// A Register lists what belongs to this process. Its methods may be called from
// any goroutine.
type Register struct {
	path string

	mu    sync.Mutex // guards the fields below; only files are written under it
	file  *os.File   // locked; nil after Close
	paths []string
}

// Open begins the register of a process whose name, unlike those of all others
// that live, is the name of the file in directory.
func Open(directory, name string) (*Register, error) {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, fmt.Errorf("begin the list of temporary files: %w", err)
	}
	path := filepath.Join(directory, name+suffix)
	for {
		file, made, err := openList(path)
		if err != nil {
			return nil, fmt.Errorf("begin the list of temporary files: %w", err)
		}
		lock := tryLock
		if made {
			lock = waitLock // only a sweep can have it, which is done with an empty list at once
		}
		locked, err := lock(file, path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("begin the list of temporary files %s: %w", path, errors.Join(err, file.Close()))
		case locked:
			return &Register{path: path, file: file}, nil
		}
		// Between its making and its locking a sweep took it for a dead
		// process's and removed it.
		file.Close()
	}
}

// openList opens a list, and reports whether it was made.
func openList(path string) (file *os.File, made bool, err error) {
	const flags = os.O_CREATE | os.O_RDWR | os.O_APPEND
	file, err = os.OpenFile(path, flags|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		file, err = os.OpenFile(path, flags, 0o600)
		return file, false, err
	}
	return file, true, err
}

// tryLock locks a file, if nobody has, and reports whether it is, still, what
// path names.
func tryLock(file *os.File, path string) (bool, error) {
	if err := flock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, fmt.Errorf("another process has it: %w", err)
		}
		return false, err
	}
	return names(path, file)
}

// waitLock is tryLock, except that it waits for whoever has the file.
func waitLock(file *os.File, path string) (bool, error) {
	if err := flock(file, unix.LOCK_EX); err != nil {
		return false, err
	}
	return names(path, file)
}

func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// names reports whether an open file is, still, what path names.
func names(path string, file *os.File) (bool, error) {
	mine, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, named), err
}

// Add writes down that path, which is about to be made, goes with the process.
func (r *Register) Add(path string) error {
	if !removable(path) {
		return fmt.Errorf("%s cannot be a temporary file: its path must be absolute, and its name begin with one of %s", path, strings.Join(prefixes, " "))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return fmt.Errorf("%s cannot be made: %w", path, fs.ErrClosed)
	}
	if _, err := r.file.WriteString(path + "\n"); err != nil {
		return fmt.Errorf("write down that %s is temporary: %w", path, err)
	}
	r.paths = append(r.paths, path)
	return nil
}

// AddAll writes down that all paths that begin with prefix, a name in one
// directory, go with the process.
func (r *Register) AddAll(prefix string) error { return r.Add(prefix + "*") }

// Directory makes a directory that goes with the process. The directory it is
// in is made if need be, and stays.
func (r *Register) Directory(path string) error {
	if err := r.Add(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	return nil
}

// Close removes everything, the last thing first, and ends the register. It may
// be called again.
func (r *Register) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := remove(r.paths)
	if err == nil { // else a later sweep tries again
		err = os.Remove(r.path)
	}
	err = errors.Join(err, r.file.Close())
	r.file = nil
	return err
}

// Sweep removes what processes have left that are gone.
func Sweep(directory string) error {
	lists, err := filepath.Glob(filepath.Join(directory, "*"+suffix))
	if err != nil {
		return fmt.Errorf("look for temporary files of processes that are gone: %w", err)
	}
	var problems []error
	for _, path := range lists {
		if err := sweep(path); err != nil {
			problems = append(problems, fmt.Errorf("remove what a process that is gone has left, listed in %s: %w", path, err))
		}
	}
	return errors.Join(problems...)
}

func sweep(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	dead, err := tryLock(file, path)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	if err != nil || !dead {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := remove(listed(string(text))); err != nil {
		return err
	}
	return os.Remove(path)
}

// listed gives the paths of a register. A line without end was being written
// when its process died, before its path was made.
func listed(text string) []string {
	var paths []string
	for line := range strings.Lines(text) {
		if path, whole := strings.CutSuffix(line, "\n"); whole && removable(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// removable says whether a path may be in a register.
func removable(path string) bool {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, '\n') {
		return false
	}
	base := strings.TrimSuffix(filepath.Base(path), "*")
	for _, p := range prefixes {
		if strings.HasPrefix(base, p) && base != p {
			return true
		}
	}
	return false
}

// remove removes the paths, the last one first.
func remove(paths []string) error {
	var problems []error
	for _, path := range slices.Backward(paths) {
		for _, p := range named(path) {
			problems = append(problems, removeOne(p))
		}
	}
	return errors.Join(problems...)
}

// tries is how often a path is tried to be removed, with pauses of one millisecond, two
// and so on: for five seconds.
const tries = 100

// removeOne removes a path with all in it. A control group goes as an empty
// directory does, although there are files in it, which cannot be removed; and
// not before the kernel has done with its last process, which was killed. Until
// then that process may also make files.
func removeOne(path string) error {
	for try := 1; ; try++ {
		err := os.Remove(path)
		if err != nil && !errors.Is(err, unix.EBUSY) {
			err = os.RemoveAll(path)
		}
		if try == tries || !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
	}
}

// named gives the paths that a line means: itself, or, if it ends in a star, all
// that begin like it.
func named(path string) []string {
	prefix, many := strings.CutSuffix(filepath.Base(path), "*")
	if !many {
		return []string{path}
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // without the directory there is nothing in it
	var all []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			all = append(all, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return all
}
