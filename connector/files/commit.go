package files

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/weirstream/weir/connector"
)

// pending is a file that is complete and not seen, as a checkpoint holds it.
type pending struct {
	Dir       string `json:"dir"`
	Hidden    string `json:"hidden"` // the hidden directory in it
	Partition string `json:"partition,omitzero"`
	Name      string `json:"name"`
	Length    int64  `json:"length"`
	// Held says that a checkpoint holds the file, so that it must not be removed.
	Held bool `json:"-"`
}

func (p *pending) hidden() string { return filepath.Join(p.Dir, p.Hidden, p.Name) }
func (p *pending) final() string  { return filepath.Join(p.Dir, p.Partition, p.Name) }

// encodeAll writes files down for a checkpoint.
func encodeAll(files []pending) (all [][]byte, err error) {
	for _, p := range files {
		text, err := json.Marshal(p)
		if err != nil { // a path that is not UTF-8
			return nil, fmt.Errorf("write files: write down the name of %q: %w", p.final(), err)
		}
		all = append(all, text)
	}
	return all, nil
}

func decodePending(text []byte) (p pending, err error) {
	plain := func(name string) bool { return name == filepath.Base(name) && filepath.IsLocal(name) && name != "." }
	if err = json.Unmarshal(text, &p); err == nil && (!plain(p.Name) || !plain(p.Hidden) || p.Partition != "" && !filepath.IsLocal(p.Partition)) {
		err = fmt.Errorf("name %q in %q, partition %q", p.Name, p.Hidden, p.Partition)
	}
	if err != nil {
		return p, fmt.Errorf("read which file of a checkpoint is to be committed: %w", err)
	}
	return p, nil
}

// committer gives files their names.
type committer struct{ log *slog.Logger }

// Commit renames files to where they are seen. One that is there already was
// committed before. They count as done when a crash of the machine does not undo it.
func (c committer) Commit(_ context.Context, all []connector.Committable) (done int, err error) {
	var touched []string // directories, each once
	for done < len(all) && err == nil {
		var p pending
		if p, err = decodePending(all[done].Data); err == nil {
			err = c.commit(&p, all[done].Again, &touched)
		}
		if err == nil {
			done++
		}
	}
	for _, dir := range touched {
		if unsafe := syncDirectory(dir); unsafe != nil {
			return 0, connector.Retriable(fmt.Errorf("write files: %w", unsafe))
		}
	}
	if err != nil {
		return done, fmt.Errorf("write files: %w", err)
	}
	return done, nil
}

// commit renames one file, and notes which directories it has changed.
func (c committer) commit(p *pending, again bool, touched *[]string) error {
	if _, err := os.Lstat(p.hidden()); errors.Is(err, fs.ErrNotExist) {
		there, err := committed(*p, c.log)
		if err == nil && !there && !again {
			err = fmt.Errorf("%s is gone before it was to become %s: somebody has removed it", p.hidden(), p.final())
		}
		return err
	}
	dir := filepath.Dir(p.final())
	if err := makeBelow(p.Dir, dir, touched); err != nil {
		return connector.Retriable(err)
	}
	if _, err := os.Lstat(p.final()); err == nil {
		if _, err := os.Lstat(p.hidden()); errors.Is(err, fs.ErrNotExist) {
			_, err := committed(*p, c.log) // just now, by an attempt that was taken for dead
			return err
		}
		return fmt.Errorf("%s is to become %s, and there is such a file: another program writes into this directory", p.hidden(), p.final())
	}
	if err := os.Rename(p.hidden(), p.final()); err != nil {
		return connector.Retriable(err)
	}
	touch(touched, dir)
	_ = os.Remove(filepath.Join(p.Dir, p.Hidden)) // stays as long as it holds something
	return nil
}

// makeBelow makes a directory that is base or below it, and notes those that then
// have a new entry.
func makeBelow(base, dir string, touched *[]string) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for dir != base && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		touch(touched, dir)
	}
	return nil
}

func touch(touched *[]string, dir string) {
	if !slices.Contains(*touched, dir) {
		*touched = append(*touched, dir)
	}
}

// committed reports whether a file whose hidden one is gone has been committed. If
// neither is there, whoever reads the directory has taken it away.
func committed(p pending, log *slog.Logger) (there bool, err error) {
	info, err := os.Lstat(p.final())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		log.Warn("a file of the checkpoint is neither pending nor finished: it counts as finished and taken away", "file", p.final())
		return false, nil
	case err != nil:
		return false, connector.Retriable(err)
	case info.Size() < p.Length:
		return false, fmt.Errorf("%s has %d bytes, and had %d when the checkpoint was taken", p.final(), info.Size(), p.Length)
	case info.Size() > p.Length:
		log.Warn("a finished file holds records of after the checkpoint, which will be written again", "file", p.final(), "bytes", info.Size(), "then", p.Length)
	}
	return true, nil
}

// syncDirectory makes the names in a directory outlive a crash of the machine.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
