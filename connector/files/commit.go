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
// committed before.
func (c committer) Commit(_ context.Context, all []connector.Committable) (done int, err error) {
	for i, one := range all {
		p, err := decodePending(one.Data)
		if err == nil {
			err = c.commit(&p, one.Again)
		}
		if err != nil {
			return i, fmt.Errorf("write files: %w", err)
		}
	}
	return len(all), nil
}

func (c committer) commit(p *pending, again bool) error {
	if _, err := os.Lstat(p.hidden()); errors.Is(err, fs.ErrNotExist) {
		there, err := committed(*p, c.log)
		if err == nil && !there && !again {
			err = fmt.Errorf("%s is gone before it was to become %s: somebody has removed it", p.hidden(), p.final())
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.final()), 0o777); err != nil {
		return connector.Retriable(err)
	}
	if _, err := os.Lstat(p.final()); err == nil {
		return fmt.Errorf("%s is to become %s, and there is such a file: another program writes into this directory", p.hidden(), p.final())
	}
	if err := os.Rename(p.hidden(), p.final()); err != nil {
		return connector.Retriable(err)
	}
	if err := syncDirectory(filepath.Dir(p.final())); err != nil {
		return connector.Retriable(err)
	}
	_ = os.Remove(filepath.Join(p.Dir, p.Hidden)) // stays as long as it holds something
	return nil
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
