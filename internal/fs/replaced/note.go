// Package replaced keeps a note in a directory of local files that says which of them do
// not count: those that others have taken the place of, or that are to take it.
//
// It promises that a note is there as a whole or not at all, also after a crash of the
// machine, so that all files of a directory are replaced at one moment for whoever lists
// them by it. It never removes a file that a note names.
package replaced

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// name is that of a note; while it is written there is more behind it.
const name = ".weir-replaced"

// A Note is the text of one, a name in each line; empty: there is none.
type Note string

// Read gives the note of a directory.
func Read(dir string) (Note, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read which files are replaced: %w", err)
	}
	return Note(text), nil
}

// Files are those that the note of a directory names.
func (n Note) Files(dir string) ([]string, error) {
	var files []string
	for line := range bytes.Lines([]byte(n)) {
		file, err := strconv.Unquote(string(bytes.TrimSuffix(line, []byte{'\n'})))
		if err != nil {
			return nil, fmt.Errorf("read which files are replaced: %s has the line %q, want a name in quotes: unless files are being replaced right now, remove it", filepath.Join(dir, name), line)
		}
		files = append(files, filepath.Join(dir, file))
	}
	return files, nil
}

// Write puts a note that names some files below a directory in the place of the one that is
// there. When it returns, a crash of the machine does not undo it.
func Write(dir string, files []string) (Note, error) {
	var text []byte
	for _, file := range files {
		below, err := filepath.Rel(dir, file)
		if err != nil {
			return "", fmt.Errorf("note which files are replaced: %w", err)
		}
		text = append(strconv.AppendQuote(text, below), '\n')
	}
	if err := write(dir, text); err != nil {
		return "", fmt.Errorf("note which files are replaced: %w", err)
	}
	return Note(text), nil
}

func write(dir string, text []byte) error {
	f, err := os.CreateTemp(dir, name+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o644) // whoever lists the directory reads it
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return sync(dir)
}

// Remove removes the note of a directory, once the files that it names are gone or are to
// count, unless another has put one in its place; and what those have left who were killed
// while they wrote one.
func Remove(dir string, own Note) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove the note of replaced files: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name+"-") {
			_ = os.Remove(filepath.Join(dir, e.Name())) // whoever is writing it tries again
		}
	}
	now, err := Read(dir)
	if err != nil || now != own {
		return err
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the note of replaced files: %w", err)
	}
	return nil
}

// sync makes the names in a directory outlive a crash of the machine.
func sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
