package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/weirstream/weir/connector"
)

// announcing is a writer of files that are told of when they are seen. Its last
// committable stands for that.
type announcing[T any] struct{ connector.Writer[T] }

// announcement is the committable that tells of the files before it.
var announcement = []byte("tell of what is there")

// Prepare gives the new files, and that they are told of.
func (a announcing[T]) Prepare(checkpoint int64) ([][]byte, error) {
	all, err := a.Writer.Prepare(checkpoint)
	if err == nil && checkpoint == connector.AtEnd {
		all = append(all, announcement)
	}
	return all, err
}

// announcer commits files and then makes one of no bytes beside them.
type announcer struct {
	connector.Committer
	dir        string
	partitions bool // those without a new file have nothing to tell
	name       string
	tried      bool // to commit
}

// Commit commits all that is to be told of, and tells of it. Which directories have new
// files depends on all committables, so that a part of them does not count as done.
func (a *announcer) Commit(ctx context.Context, all []connector.Committable) (done int, err error) {
	last := len(all) - 1
	if last < 0 || string(all[last].Data) != string(announcement) {
		return 0, errors.New("write files: the list of new files has no end")
	}
	rest := slices.Clone(all[:last])
	for i := range rest { // after a failure some have their names already
		rest[i].Again = rest[i].Again || a.tried
	}
	a.tried = true
	for len(rest) > 0 {
		done, err := a.Committer.Commit(ctx, rest)
		if err != nil {
			return 0, err
		}
		rest = rest[done:]
	}
	dirs := []string{a.dir}
	if a.partitions {
		dirs = nil
	}
	for _, c := range all[:last] {
		if string(c.Data) == string(removal) || !a.partitions {
			continue
		}
		p, err := decodePending(c.Data)
		if err != nil {
			return 0, err
		}
		if dir := filepath.Dir(p.final()); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := a.tell(dir); err != nil {
			return 0, connector.Retriable(fmt.Errorf("write files: %w", err))
		}
	}
	return len(all), nil
}

// tell makes the file, so that a crash of the machine leaves it there.
func (a *announcer) tell(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, a.name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), syncDirectory(dir))
	}
	return err
}
