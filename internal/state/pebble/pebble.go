package pebble

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirstream/weir/internal/state/disk"
)

// Shared is what the stores of a process have in common.
type Shared struct {
	fs    vfs.FS
	mu    sync.Mutex
	cache *pebble.Cache // nil until the first store is opened
	bytes int64
}

// NewShared says that stores keep up to so many bytes of what they have read in
// memory together.
func NewShared(cache int64) *Shared { return &Shared{fs: vfs.Default, bytes: cache} }

// InMemory is NewShared with files that are in memory, for tests.
func InMemory(cache int64) *Shared { return &Shared{fs: vfs.NewMem(), bytes: cache} }

// Close gives the memory back, when all stores are closed.
func (s *Shared) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache != nil {
		s.cache.Unref()
		s.cache = nil
	}
}

func (s *Shared) blocks() *pebble.Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil {
		s.cache = pebble.NewCache(s.bytes)
	}
	return s.cache
}

// The sizes of the memory that is written to before files are: twice that is taken,
// and a store that writes more than the disk takes waits at twice that again.
const leastTable, mostTable = 64 << 10, 64 << 20

// Open makes a store in a directory, which is made too, that takes about so many
// bytes of memory for what was written last, which Pebble counts as a part of what is
// read, and as many to know which keys were taken.
func (s *Shared) Open(directory string, memory int64) (disk.Store, error) {
	d := &store{fs: unsynced{s.fs}, directory: directory, table: min(max(leastTable, memory/2), mostTable), taken: newTaken(memory)}
	d.news.L = &d.mu
	o := &pebble.Options{
		FS: d.fs, Cache: s.blocks(), DisableWAL: true, Logger: logger{d}, EventListener: d.listener(),
		FormatMajorVersion: pebble.FormatNewest, MaxOpenFiles: 500,
		MemTableSize: uint64(d.table),
		// A writer that Pebble makes wait would wait for ever when the disk has
		// failed: see store.settle.
		MemTableStopWritesThreshold: 1 << 20, L0StopWritesThreshold: 1 << 20,
		L0CompactionThreshold: 4, LBaseMaxBytes: max(4*d.table, 16<<20),
		CompactionConcurrencyRange: func() (int, int) { return 1, 1 },
	}
	o.Experimental.ReadSamplingMultiplier = -1 // reading is no reason to compact
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // keys that are new are not there
		o.Levels[i].IndexBlockSize = 256 << 10            // one index for a file, not an index of indexes
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	db, err := pebble.Open(directory, o)
	if err != nil {
		return nil, errors.Join(d.wrap("open", err), s.fs.RemoveAll(directory))
	}
	d.db, d.batch = db, db.NewBatch()
	return d, nil
}

// A store is a Pebble.
type store struct {
	db        *pebble.DB
	fs        vfs.FS
	directory string
	table     int64 // the size of the memory that is written to
	batch     *pebble.Batch
	taken     taken
	written   int64 // since settle looked at the backlog

	mu     sync.Mutex
	news   sync.Cond // of what follows
	events int       // flushes and compactions that have ended, well or not
	err    error     // the first of the background
	views  int       // open
	closed bool
}

func (d *store) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the state in %s: %w", what, d.directory, err)
}

// failed returns the first error of the background.
func (d *store) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wrap("keep", d.err)
}

// tell notes something that happened in the background.
func (d *store) tell(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events++
	if d.err == nil {
		d.err = err
	}
	d.news.Broadcast()
}

func (d *store) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: d.tell,
		FlushEnd:        func(i pebble.FlushInfo) { d.tell(nil) },
		CompactionEnd:   func(i pebble.CompactionInfo) { d.tell(nil) },
		DataCorruption:  func(i pebble.DataCorruptionInfo) { d.tell(i.Details) },
	}
}

// logger takes what Pebble would end the process for as an error of the store: every
// use of the store fails from then on.
type logger struct{ d *store }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	f := &fatal{text: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, is := arg.(error); is {
			f.causes = append(f.causes, err)
		}
	}
	l.d.tell(f)
}

// fatal is an error with Pebble's words and the errors that it has put into them.
type fatal struct {
	text   string
	causes []error
}

func (f *fatal) Error() string   { return f.text }
func (f *fatal) Unwrap() []error { return f.causes }

// Take removes a key and returns a copy of its value, in the memory of dst.
func (d *store) Take(dst, key []byte) ([]byte, bool, error) {
	k := takenKeyOf(key)
	if d.taken.has(k) {
		return nil, false, nil
	}
	value, closer, err := d.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, d.wrap("read", err)
	}
	dst = append(dst, value...)
	if err := closer.Close(); err != nil {
		return nil, false, d.wrap("read", err)
	}
	if !d.taken.add(k) {
		return dst, true, d.Delete(key)
	}
	return dst, true, nil
}

// Forget removes from the files what was taken.
func (d *store) Forget(key []byte) error {
	if !d.taken.remove(takenKeyOf(key)) {
		return nil
	}
	return d.Delete(key)
}

// mostBatch is the size from which a batch is written before it is complete.
const mostBatch = 1 << 20

// Put gives a key a value.
func (d *store) Put(key, value []byte) error {
	d.taken.remove(takenKeyOf(key))
	if err := d.batch.Set(key, value, nil); err != nil {
		return d.wrap("write", err)
	}
	if d.batch.Len() >= mostBatch {
		return d.Commit()
	}
	return nil
}

// Commit ends a batch.
func (d *store) Commit() error {
	if d.batch.Empty() {
		return d.failed()
	}
	if err := d.failed(); err != nil {
		return err
	}
	d.written += int64(d.batch.Len())
	if err := d.batch.Commit(pebble.NoSync); err != nil {
		return d.wrap("write", err)
	}
	d.batch.Reset()
	return d.settle()
}

// How much may wait to be written to files, and to be sorted in.
const mostTables, mostSublevels = 4, 20

// settle waits until the background is not too far behind.
func (d *store) settle() error {
	if d.written < d.table/2 {
		return nil
	}
	d.written = 0
	for {
		d.mu.Lock()
		events, err := d.events, d.err
		d.mu.Unlock()
		if err != nil {
			return d.wrap("write", err)
		}
		m := d.db.Metrics()
		if m.MemTable.Count <= mostTables && m.Levels[0].Sublevels <= mostSublevels {
			return nil
		}
		d.mu.Lock()
		for d.events == events {
			d.news.Wait()
		}
		d.mu.Unlock()
	}
}

// Delete removes a key.
func (d *store) Delete(key []byte) error {
	d.written += int64(len(key))
	if err := d.db.Delete(key, pebble.NoSync); err != nil {
		return d.wrap("write", err)
	}
	return d.settle()
}

// DeleteRange removes all keys from one to another.
func (d *store) DeleteRange(from, to []byte) error {
	d.taken.removeRange(from, to)
	return d.wrap("write", d.db.DeleteRange(from, to, pebble.NoSync))
}

// Each calls f with the keys from one to another.
func (d *store) Each(from, to []byte, f func(key, value []byte) bool) error {
	i, err := d.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	return d.wrap("read", each(i, err, &d.taken, f))
}

// each calls f with what an iterator gives that has not been taken, and closes it.
func each(i *pebble.Iterator, err error, taken *taken, f func(key, value []byte) bool) error {
	if err != nil {
		return err
	}
	for ok := i.First(); ok; ok = i.Next() {
		if taken.len > 0 && taken.has(takenKeyOf(i.Key())) {
			continue
		}
		value, err := i.ValueAndErr()
		if err != nil {
			return errors.Join(err, i.Close())
		}
		if !f(i.Key(), value) {
			break
		}
	}
	return errors.Join(i.Error(), i.Close())
}

// View returns what is there now.
func (d *store) View() (disk.Reader, error) {
	if err := d.failed(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.views++
	d.mu.Unlock()
	return &view{d: d, snapshot: d.db.NewSnapshot(), taken: d.taken.clone()}, nil
}

// A view is a store at some moment.
type view struct {
	d        *store
	snapshot *pebble.Snapshot
	taken    taken
}

// Each is that of the store.
func (v *view) Each(from, to []byte, f func(key, value []byte) bool) error {
	i, err := v.snapshot.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	return v.d.wrap("read", each(i, err, &v.taken, f))
}

// Close gives the view up.
func (v *view) Close() error {
	err := v.snapshot.Close()
	v.d.mu.Lock()
	v.d.views--
	last := v.d.closed && v.d.views == 0
	v.d.mu.Unlock()
	if last {
		err = errors.Join(err, v.d.end())
	}
	return v.d.wrap("close", err)
}

// Close removes the store, when the last view is closed too.
func (d *store) Close() error {
	d.mu.Lock()
	d.closed = true
	last := d.views == 0
	d.mu.Unlock()
	if !last {
		return nil
	}
	return d.wrap("close", d.end())
}

// end closes and removes the files. What a disk that has failed says about it is not
// worth telling: it was told before.
func (d *store) end() error {
	err := errors.Join(d.batch.Close(), d.db.Close())
	if d.failed() != nil {
		err = nil
	}
	return errors.Join(err, d.fs.RemoveAll(d.directory))
}
