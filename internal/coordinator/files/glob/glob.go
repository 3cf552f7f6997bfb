// Package glob lists the files of the local file systems that a pattern names.
//
// It promises that `**` crosses directories but never a symbolic link, so that
// a walk ends; that a directory that cannot be read is an error with its whole
// path; and that only regular files are listed. It never opens a file.
package glob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/weirstream/weir/internal/coordinator/files"
	"github.com/weirstream/weir/internal/fs/replaced"
)

// List gives the files a pattern names, in the order of the walk. A pattern
// that names a directory means all files below it, without those whose name,
// or whose directory's name, begins with "." or "_". Of files that are just being replaced
// it gives the old ones or the new ones. A path without wildcards that does
// not exist is an error, fs.ErrNotExist.
func List(pattern string) ([]files.Found, error) {
	if !doublestar.ValidatePattern(pattern) || pattern == "" {
		return nil, fmt.Errorf("%q is not a glob: a bracket, a brace or an escape in it is not closed", pattern)
	}
	base, rest := doublestar.SplitPattern(path.Clean(pattern))
	root := base
	if info, err := os.Stat(path.Join(base, rest)); err == nil && info.IsDir() {
		root = path.Join(base, rest)
	}
	return replaced.List(root, func() ([]files.Found, error) { return list(base, rest) }, func(f files.Found) string { return f.Path })
}

// list gives the files below base that rest names.
func list(base, rest string) ([]files.Found, error) {
	w := walk{base: base}
	if info, err := os.Stat(w.join(rest)); err == nil {
		if !info.IsDir() {
			err := w.add(rest, info)
			return w.found, err
		}
		w.base = w.join(rest)
		err := w.below()
		return w.found, err
	}
	err := leadsNowhere(w.join(rest), nil)
	switch {
	case err != nil:
	case !strings.ContainsAny(rest, `*?[{\\`):
		return nil, &fs.PathError{Op: "list", Path: w.join(rest), Err: fs.ErrNotExist}
	case strings.HasPrefix(rest, "**/"):
		err = w.everywhere(rest)
	default:
		err = doublestar.GlobWalk(os.DirFS(base), rest, func(name string, d fs.DirEntry) error {
			if d.IsDir() {
				return nil
			}
			return w.entry(name, d)
		}, doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow())
	}
	if err != nil {
		return nil, w.name(err)
	}
	return w.found, nil
}

// walk collects the files below base.
type walk struct {
	base  string
	found []files.Found
}

func (w *walk) join(name string) string { return path.Join(w.base, name) }

// everywhere matches a pattern that begins with "**/" against every file below
// base. GlobWalk does the same in twice the time: it reads a directory once to
// match in it and once to descend from it.
func (w *walk) everywhere(pattern string) error {
	return fs.WalkDir(os.DirFS(w.base), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() || !doublestar.MatchUnvalidated(pattern, name):
			return nil
		}
		return w.entry(name, d)
	})
}

// below lists all files of the directory and of those in it.
func (w *walk) below() error {
	err := fs.WalkDir(os.DirFS(w.base), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name != "." && errors.Is(err, fs.ErrNotExist):
			return nil // it has vanished since
		case err != nil:
			return err
		case name != "." && hidden(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		return w.entry(name, d)
	})
	return w.name(err)
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// entry adds what a directory names, unless it has vanished since. A link that
// leads nowhere is an error, for a file is missing; but not one with a hidden
// name, which editors make to say that they have a file open.
func (w *walk) entry(name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(w.join(name))
		if errors.Is(err, fs.ErrNotExist) && !hidden(d.Name()) {
			err = leadsNowhere(w.join(name), err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.add(name, info)
}

// leadsNowhere says so of a symbolic link whose file is missing; of anything
// else it gives err back.
func leadsNowhere(link string, err error) error {
	to, no := os.Readlink(link)
	if no != nil {
		return err
	}
	return fmt.Errorf("%s is a symbolic link to %s, which does not exist", link, to)
}

func (w *walk) add(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		w.found = append(w.found, files.Found{Path: w.join(name), Size: info.Size()})
	}
	return nil
}

// name gives an error about something below base its whole path.
func (w *walk) name(err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) || path.IsAbs(at.Path) && strings.HasPrefix(at.Path, w.base) {
		return err
	}
	return &fs.PathError{Op: at.Op, Path: w.join(at.Path), Err: at.Err}
}
