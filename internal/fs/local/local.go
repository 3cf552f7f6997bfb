// Package local is the file system of the scheme "file": this machine's disks,
// and what is mounted.
//
// A file is written beside its final name, under a hidden one, synchronised with
// the disk, linked to its name, and then its directory is synchronised, with all
// directories that had to be made. What a crash leaves behind are hidden files,
// which List does not show and DeleteTree removes.
//
// It promises what package fs does, and that a name is taken by one file only,
// also when two processes write it at once; on a file system without hard links
// only when one does.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	weirfs "github.com/weirstream/weir/internal/fs"
)

// Scheme is the scheme of local files.
const Scheme = "file"

// FileSystem is the local one. Its zero value is ready.
type FileSystem struct{}

var _ weirfs.FileSystem = FileSystem{}

// The hidden names of files that are being written.
const hiddenPrefix, hiddenSuffix = ".weir-", ".part"

func hidden(name string) bool {
	return strings.HasPrefix(name, hiddenPrefix) && strings.HasSuffix(name, hiddenSuffix)
}

// place gives the operating system's path of a location.
func place(op string, at weirfs.Location) (string, error) {
	if at.Scheme() != Scheme {
		return "", weirfs.Failed(op, at, -1, fmt.Errorf("%w %q: this is the local file system", weirfs.ErrScheme, at.Scheme()))
	}
	return filepath.FromSlash(at.Path()), nil
}

// Create begins a file, and makes the directories it lies in.
func (FileSystem) Create(ctx context.Context, at weirfs.Location) (weirfs.Writer, error) {
	path, err := place("create", at)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, weirfs.Failed("create", at, -1, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, weirfs.Failed("create", at, -1, weirfs.ErrExist)
	}
	dir := filepath.Dir(path)
	if err := makeDirectories(dir); err != nil {
		return nil, failedWrite("create", at, err)
	}
	f, err := os.CreateTemp(dir, hiddenPrefix+"*"+hiddenSuffix)
	if err != nil {
		return nil, failedWrite("create", at, err)
	}
	return &writer{at: at, path: path, file: f}, nil
}

// makeDirectories makes a directory and those it lies in, each of them durable.
func makeDirectories(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &os.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := makeDirectories(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDirectory(filepath.Dir(dir))
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// failedWrite is the error of an operation that needs room.
func failedWrite(op string, at weirfs.Location, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", weirfs.ErrFull, err)
	}
	return weirfs.Failed(op, at, free(filepath.FromSlash(at.Path())), err)
}

// Open opens a committed file.
func (FileSystem) Open(ctx context.Context, at weirfs.Location) (weirfs.File, error) {
	path, err := place("open", at)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, weirfs.Failed("open", at, -1, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, weirfs.Failed("open", at, -1, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is no file: %w", weirfs.ErrNotExist)
	}
	if err != nil {
		return nil, weirfs.Failed("open", at, -1, errors.Join(err, f.Close()))
	}
	return &file{File: f, at: at, size: info.Size()}, nil
}

// Stat describes a committed file.
func (FileSystem) Stat(ctx context.Context, at weirfs.Location) (weirfs.Entry, error) {
	path, err := place("stat", at)
	if err != nil {
		return weirfs.Entry{}, err
	}
	if err := ctx.Err(); err != nil {
		return weirfs.Entry{}, weirfs.Failed("stat", at, -1, err)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("it is no file: %w", weirfs.ErrNotExist)
	case errors.Is(err, syscall.ENOTDIR): // a file has nothing below it
		err = fmt.Errorf("%w: %w", weirfs.ErrNotExist, err)
	}
	if err != nil {
		return weirfs.Entry{}, weirfs.Failed("stat", at, -1, err)
	}
	return weirfs.Entry{Location: at, Size: info.Size(), Modified: info.ModTime()}, nil
}

// List gives the committed files below a directory.
func (FileSystem) List(ctx context.Context, dir weirfs.Location) ([]weirfs.Entry, error) {
	root, err := place("list", dir)
	if err != nil {
		return nil, err
	}
	var entries []weirfs.Entry
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed while we look
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular() || hidden(d.Name()):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil || below == "." {
			return err // a file is no directory, and holds none
		}
		entries = append(entries, weirfs.Entry{Location: dir.Join(filepath.ToSlash(below)), Size: info.Size(), Modified: info.ModTime()})
		return nil
	})
	if err != nil {
		return nil, weirfs.Failed("list", dir, -1, err)
	}
	slices.SortFunc(entries, func(a, b weirfs.Entry) int { return strings.Compare(string(a.Location), string(b.Location)) })
	return entries, nil
}

// Delete removes a file.
func (FileSystem) Delete(ctx context.Context, at weirfs.Location) error {
	path, err := place("delete", at)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return weirfs.Failed("delete", at, -1, err)
	}
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		return nil // no file is there
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return weirfs.Failed("delete", at, -1, err)
	}
	return nil
}

// mostTries is how often a directory is emptied that others still write into.
const mostTries = 10

// DeleteTree removes a directory and all in it, also what comes into it meanwhile.
func (FileSystem) DeleteTree(ctx context.Context, dir weirfs.Location) error {
	path, err := place("delete", dir)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return weirfs.Failed("delete", dir, -1, err)
	}
	if dir.Path() == "/" {
		return weirfs.Failed("delete", dir, -1, errors.New("the root of the file system is not deleted"))
	}
	for range mostTries {
		if err = os.RemoveAll(path); !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
			break
		}
	}
	return weirfs.Failed("delete", dir, -1, err)
}
