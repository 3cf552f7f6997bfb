package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/connector"
	"github.com/weirstream/weir/format"
)

// maxOpen bounds the files that one subtask has open.
const maxOpen = 256

// writer writes the files of one subtask.
//
// Invariant: every hidden file of this attempt is in open or closed, or has been
// given by Prepare, or is its claim; no earlier attempt's is left but those that the
// checkpoint it begins with holds.
type writer[T any] struct {
	sink    Sink[T]
	c       connector.SinkContext
	encoder format.Encoder[T]
	prefix  string // of the names of all files of the operation
	hidden  string // where files are until they are committed
	claimed string // path of the claim
	made    bool   // the sink's directory was not there, and no file was begun since

	checkpoint int64                     // prepared last, or restored
	number     int                       // of the next file begun after it
	open       map[string]*inProgress[T] // by partition
	last       *inProgress[T]            // written last, one of open; nil: none
	opened     []*inProgress[T]          // those of open in the order of their age
	closed     []pending                 // not prepared
	saved      map[string]bool           // names of files of open that a checkpoint holds
	kept       map[string]bool           // paths of hidden files that the checkpoint it began with held
}

// inProgress is a file that records are written to.
type inProgress[T any] struct {
	partition string
	name      string
	file      *os.File
	encoder   format.Encoder[T]
	whole     format.FileEncoder[T] // encoder, if the file has an end; nil: it has none
	text      []byte                // not written
	records   int                   // in text
	size      int64                 // with text
	stop      func()                // the interval's; nil: none
}

// Write appends a record.
func (w *writer[T]) Write(v T, _ int64) error {
	f := w.last
	partition := ""
	if w.sink.Partition != nil {
		partition = w.sink.Partition(v)
	}
	if f == nil || f.partition != partition {
		var err error
		if f, err = w.in(partition); err != nil {
			return err
		}
		w.last = f
	}
	before := len(f.text)
	text, err := f.encoder.Append(f.text, v)
	if err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	f.text = text
	if f.whole != nil {
		f.records += f.whole.Count(v)
	} else {
		f.records++
	}
	f.size += int64(len(text) - before)
	if len(text) >= writeBuffer {
		if err := w.flush(f); err != nil {
			return err
		}
	}
	if w.sink.Rolling.Size > 0 && f.size >= w.sink.Rolling.Size {
		return w.roll(f)
	}
	return nil
}

// in gives the open file of a partition.
func (w *writer[T]) in(partition string) (*inProgress[T], error) {
	if f := w.open[partition]; f != nil {
		return f, nil
	}
	if err := checkPartition(partition); err != nil {
		return nil, err
	}
	if len(w.opened) >= maxOpen {
		if err := w.roll(w.opened[0]); err != nil {
			return nil, err
		}
	}
	f, err := w.begin(partition)
	if err != nil {
		return nil, fmt.Errorf("write files: %w", err)
	}
	f.encoder = w.encoder
	if e, ok := w.encoder.(format.FileEncoder[T]); ok {
		f.whole = e.NewFile()
		f.encoder = f.whole
	}
	f.text = f.encoder.AppendHeader(f.text)
	f.size = int64(len(f.text))
	w.open[partition] = f
	w.opened = append(w.opened, f)
	if d := w.sink.Rolling.Interval; d > 0 {
		f.stop = w.c.After(d, func() error {
			f.stop = nil
			return w.roll(f)
		})
	}
	return f, nil
}

// checkPartition refuses a partition that is not below the directory, or that those
// who read it would overlook.
func checkPartition(partition string) error {
	if partition == "" {
		return nil
	}
	if !filepath.IsLocal(partition) || filepath.Clean(partition) != partition {
		return fmt.Errorf("write files: the partition of a record is %q, want a relative path without empty parts, \".\" and \"..\"", partition)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(partition), "/") {
		if strings.HasPrefix(part, ".") {
			return fmt.Errorf("write files: the partition of a record is %q, and %q begins with a dot, as what is hidden does", partition, part)
		}
	}
	return nil
}

// begin makes the next file. Its name is the first that is free: after a restore
// from a checkpoint older than the last, some may be taken. No other attempt gives the
// same name: one that was taken for dead and lives removes its own files when it ends.
func (w *writer[T]) begin(partition string) (*inProgress[T], error) {
	for {
		name := w.name(strconv.FormatInt(w.checkpoint, 10), strconv.Itoa(w.number)+w.sink.Suffix)
		w.number++
		if _, err := os.Lstat(filepath.Join(w.sink.Dir, partition, name)); err == nil {
			continue
		}
		path := filepath.Join(w.hidden, name)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) { // so is the claim
			return nil, w.replaced()
		}
		if err != nil {
			return nil, err
		}
		// Whoever takes the claim away looks for files after that.
		if err := w.holds(); err != nil {
			return nil, errors.Join(err, file.Close(), remove(path))
		}
		w.made = false
		return &inProgress[T]{partition: partition, name: name, file: file}, nil
	}
}

// name is that of a file of this attempt.
func (w *writer[T]) name(checkpoint, rest string) string {
	return w.prefix + strconv.Itoa(w.c.Subtask) + "-" + checkpoint + "-" + strconv.Itoa(w.c.Attempt) + "-" + rest
}

// flush writes what has been collected.
func (w *writer[T]) flush(f *inProgress[T]) error {
	if len(f.text) == 0 {
		return nil
	}
	began := w.c.Now()
	if _, err := f.file.Write(f.text); err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	w.c.Metrics.Sent(f.records, int64(len(f.text)), w.c.Now().Sub(began))
	f.text, f.records = f.text[:0], 0
	if cap(f.text) > 64*writeBuffer { // a part that was encoded at once
		f.text = nil
	}
	return nil
}

// sync brings what has been written to where a crash of the machine does not reach
// it.
func (w *writer[T]) sync(f *inProgress[T]) error {
	if err := w.flush(f); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	return nil
}

// roll closes a file: it is to be committed.
func (w *writer[T]) roll(f *inProgress[T]) error {
	if f.whole != nil {
		before := len(f.text)
		text, err := f.whole.AppendEnd(f.text)
		if err != nil {
			return fmt.Errorf("write files: %w", err)
		}
		f.text = text
		f.size += int64(len(text) - before)
	}
	if err := w.sync(f); err != nil {
		return err
	}
	if err := f.file.Close(); err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	p := w.pending(f)
	p.Held = w.saved[f.name]
	w.forget(f)
	w.closed = append(w.closed, p)
	return nil
}

func (w *writer[T]) pending(f *inProgress[T]) pending {
	return pending{Dir: w.sink.Dir, Hidden: filepath.Base(w.hidden), Partition: f.partition, Name: f.name, Length: f.size}
}

// forget takes a file out of those that are open.
func (w *writer[T]) forget(f *inProgress[T]) {
	if f.stop != nil {
		f.stop()
	}
	delete(w.open, f.partition)
	delete(w.saved, f.name)
	w.opened = slices.DeleteFunc(w.opened, func(g *inProgress[T]) bool { return g == f })
	if w.last == f {
		w.last = nil
	}
}

func (w *writer[T]) rollAll() error {
	for len(w.opened) > 0 {
		if err := w.roll(w.opened[0]); err != nil {
			return err
		}
	}
	return nil
}

// Flush closes all files at the end. What they hold is not seen before, so there is
// nothing to hurry otherwise.
func (w *writer[T]) Flush(end bool) error {
	if end {
		return w.rollAll()
	}
	return nil
}

// Prepare gives the files that have been closed.
func (w *writer[T]) Prepare(checkpoint int64) ([][]byte, error) {
	if w.sink.Rolling.OnCheckpoint || checkpoint == connector.AtEnd {
		if err := w.rollAll(); err != nil {
			return nil, err
		}
	}
	if checkpoint == connector.AtEnd {
		if err := w.settle(); err != nil {
			return nil, fmt.Errorf("write files: %w", err)
		}
	}
	if len(w.closed) > 0 || len(w.opened) > 0 {
		// It is gone if all of them are another job's, of which this one goes on.
		if err := syncDirectory(w.hidden); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("write files: %w", err)
		}
	}
	all, err := encodeAll(w.closed)
	if err != nil {
		return nil, err
	}
	w.closed = nil
	w.checkpoint, w.number = checkpoint, 0
	return all, nil
}

// State gives the files that go on, as long as they are now.
func (w *writer[T]) State() ([][]byte, error) {
	var all []pending
	for _, f := range w.opened {
		if err := w.sync(f); err != nil {
			return nil, err
		}
		all = append(all, w.pending(f))
		if w.saved == nil {
			w.saved = map[string]bool{}
		}
		w.saved[f.name] = true
	}
	return encodeAll(all)
}

// Close removes what no checkpoint holds.
func (w *writer[T]) Close() error {
	var problems []error
	for _, f := range w.opened {
		if f.stop != nil {
			f.stop()
		}
		problems = append(problems, f.file.Close())
		if !w.saved[f.name] {
			problems = append(problems, remove(filepath.Join(w.hidden, f.name)))
		}
	}
	for _, p := range w.closed {
		if !p.Held {
			problems = append(problems, remove(p.hidden()))
		}
	}
	w.opened, w.open, w.closed = nil, nil, nil
	problems = append(problems, remove(w.claimed))
	_ = os.Remove(w.hidden) // stays as long as it holds something
	if w.made {
		_ = os.Remove(w.sink.Dir) // the same
	}
	return errors.Join(problems...)
}

// restore takes the place of earlier attempts of the job, and takes over the files that a
// checkpoint holds; all others of those attempts are removed.
func (w *writer[T]) restore() error {
	w.kept = map[string]bool{}
	var files []pending // that went on
	if r := w.c.Restored; r != nil {
		w.checkpoint = r.Checkpoint
		for _, c := range r.Pending {
			p, err := decodePending(c.Data)
			if err != nil {
				return err
			}
			w.kept[p.hidden()] = true
		}
		for _, s := range r.States {
			p, err := decodePending(s.Data)
			if err != nil {
				return err
			}
			w.kept[p.hidden()] = true
			files = append(files, p)
		}
	}
	if err := w.claim(); err != nil {
		return err
	}
	for _, p := range files {
		if err := w.takeOver(p); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return nil
}

// takeOver closes a file that went on when a checkpoint was taken, as it was then. It
// becomes a new file of the same name: an attempt that was taken for dead and lives may
// go on writing to the old one.
func (w *writer[T]) takeOver(p pending) error {
	from, err := os.Open(p.hidden())
	if errors.Is(err, fs.ErrNotExist) {
		_, err := committed(p, w.c.Logger) // its commit came after the checkpoint
		return err
	}
	if err != nil {
		return err
	}
	defer from.Close()
	if info, err := from.Stat(); err != nil {
		return err
	} else if info.Size() < p.Length {
		return fmt.Errorf("%s has %d bytes, and had %d when checkpoint %d was taken", p.hidden(), info.Size(), p.Length, w.c.Restored.Checkpoint)
	}
	// Whoever takes the place of this attempt removes the copy: then the file is his.
	copied := filepath.Join(filepath.Dir(p.hidden()), w.name("0", "copy"))
	err = copyFile(copied, io.LimitReader(from, p.Length))
	if err == nil {
		err = w.holds()
	}
	if err == nil {
		err = os.Rename(copied, p.hidden())
	}
	if err != nil {
		return errors.Join(err, remove(copied))
	}
	p.Held = true
	w.closed = append(w.closed, p)
	return nil
}

// copyFile makes a file of what is read, safe from a crash of the machine.
func copyFile(path string, from io.Reader) error {
	to, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}
