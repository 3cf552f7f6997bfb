package state

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A frozenStore is a store at a freeze. As in the store, one of the views is set.
type frozenStore[V any] struct {
	plan     *codec.Plan[V]
	cells    *memory.View[V]
	timed    *memory.View[timed[V]]
	blobs    *memory.BlobsView
	cold     frozenCold
	life     lifetime // its deadline is that of the freeze
	words    bool
	stamped  bool // blobs begin with a time
	keys     keyColumn
	vals     []V
	encoded  column
	times    []byte
	entries  int
	prefix   []byte // of each block's payload
	salt     uint32 // of the slice
	gathered int    // bytes of encoded values and keys
}

func (s *store[V]) freeze(number uint64, words bool) *frozenStore[V] {
	f := &frozenStore[V]{plan: s.plan, life: s.life, words: words, cold: s.cold.freeze()}
	f.keys.words = words
	switch {
	case s.cells != nil:
		f.cells = s.cells.Freeze(number)
	case s.timed != nil:
		f.life.tick()
		f.timed = s.timed.Freeze(number)
	default:
		if f.life.millis > 0 {
			f.life.tick()
			f.stamped = true
		}
		f.blobs = s.blobs.Freeze(number)
	}
	return f
}

func (f *frozenStore[V]) changed(group int) uint64 {
	switch {
	case f.cells != nil:
		return f.cells.Changed(group)
	case f.timed != nil:
		return f.timed.Changed(group)
	}
	return f.blobs.Changed(group)
}

func (f *frozenStore[V]) releaseGroup(group int) {
	switch {
	case f.cells != nil:
		f.cells.ReleaseGroup(group)
	case f.timed != nil:
		f.timed.ReleaseGroup(group)
	default:
		f.blobs.ReleaseGroup(group)
	}
}

func (f *frozenStore[V]) release() {
	switch {
	case f.cells != nil:
		f.cells.Release()
	case f.timed != nil:
		f.timed.Release()
	default:
		f.blobs.Release()
	}
}

// batch says whether values are written as batches.
func (f *frozenStore[V]) batch() bool { return f.blobs == nil }

// write writes a group: what is in memory, and then what is on the disk.
func (f *frozenStore[V]) write(group int, state uint16, w *blockWriter) {
	switch {
	case f.cells != nil:
		add := func(k memory.Key, v *V) bool {
			if w.leaves(k, f.words, f.salt) {
				return true
			}
			f.vals = append(f.vals, *v)
			return f.added(k, state, w)
		}
		f.cells.Read(group, &w.buffer, add)
		f.cold.each(group, w, func(k memory.Key, value []byte) bool {
			v := load[V](value)
			return add(k, &v)
		})
	case f.timed != nil:
		add := func(k memory.Key, v *timed[V]) bool {
			if w.leaves(k, f.words, f.salt) || f.life.expired(v.at) {
				return true
			}
			f.vals = append(f.vals, v.v)
			f.times = binary.LittleEndian.AppendUint64(f.times, uint64(v.at))
			return f.added(k, state, w)
		}
		f.timed.Read(group, &w.buffer, add)
		f.cold.each(group, w, func(k memory.Key, value []byte) bool {
			v := load[timed[V]](value)
			return add(k, &v)
		})
	default:
		add := func(k memory.Key, value []byte) bool { return f.addBlob(k, value, state, w) }
		f.blobs.Read(group, &w.buffer, add)
		f.cold.each(group, w, add)
	}
	f.flush(state, w)
}

// addBlob adds a value that is encoded.
func (f *frozenStore[V]) addBlob(k memory.Key, value []byte, state uint16, w *blockWriter) bool {
	if w.leaves(k, f.words, f.salt) {
		return true
	}
	if f.stamped {
		if f.life.expired(stamp(value)) {
			return true
		}
		f.times = append(f.times, value[:stampBytes]...)
		value = value[stampBytes:]
	}
	f.encoded.add(text(value))
	f.gathered += len(value)
	return f.added(k, state, w)
}

// added adds the key of the value that was just added.
func (f *frozenStore[V]) added(k memory.Key, state uint16, w *blockWriter) bool {
	f.keys.add(k)
	f.entries++
	if f.gathered += len(k.Bytes); f.entries == blockEntries || f.gathered >= blockBytes {
		f.flush(state, w)
	}
	return w.err == nil
}

func (f *frozenStore[V]) flush(state uint16, w *blockWriter) {
	if f.entries == 0 {
		return
	}
	buf := f.keys.appendTo(append(w.begin(), f.prefix...))
	if f.blobs != nil {
		buf = f.encoded.appendTo(buf)
	} else {
		var err error
		if buf, err = f.plan.Append(buf, f.vals); err != nil {
			w.fail(err)
		}
		f.vals = f.vals[:0]
	}
	buf = append(buf, f.times...)
	w.end(buf, state, f.entries)
	f.times, f.entries, f.gathered = f.times[:0], 0, 0
}

// A storeReader reads blocks of a store.
type storeReader[V any] struct {
	store  *store[V]
	reader *codec.Reader[V]
	from   written
	vals   []V
}

func (s *store[V]) reader(from written) (*storeReader[V], error) {
	reader, err := codec.NewReader(from.Value, s.plan)
	if err != nil {
		return nil, err
	}
	return &storeReader[V]{store: s, reader: reader, from: from}, nil
}

var errTwice = errors.New("a key is there twice")

// restore adds what a block holds, of which the caller has read what comes before
// the keys.
func (r *storeReader[V]) restore(group int, p payload) error {
	keys, err := p.keys(p.entries, r.from.words)
	if err != nil {
		return err
	}
	var encoded func(i int) []byte
	if r.from.batch {
		if r.vals, p.rest, err = r.reader.Decode(r.vals[:0], p.entries, p.rest); err != nil {
			return err
		}
		defer func() { clear(r.vals) }()
	} else if encoded, err = p.bytes(p.entries); err != nil {
		return err
	}
	times, err := r.times(&p)
	if err != nil {
		return err
	}
	r.store.reserve(group, p.total)
	for i := range p.entries {
		k := keys(i)
		if err := r.store.b.checkKey(k, r.from.words, r.store.composed, group); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if p.newer != nil && p.newer.covers(hashOf(k, r.from.words)^p.salt) {
			continue
		}
		if encoded != nil && r.reader.Same() && r.store.blobs != nil {
			if !r.store.restoreEncoded(group, k, encoded(i), times(i)) {
				return errTwice
			}
			continue
		}
		var v V
		if encoded == nil {
			v = r.vals[i]
		} else if v, err = r.decode(encoded(i)); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if !r.store.restore(group, k, v, times(i)) {
			return errTwice
		}
	}
	return p.done()
}

// times reads when the values were touched: now if that was not written.
func (r *storeReader[V]) times(p *payload) (func(i int) int64, error) {
	if r.from.TTL.Duration == 0 {
		var now int64
		if r.store.life.millis > 0 {
			now = r.store.life.tick()
		}
		return func(int) int64 { return now }, nil
	}
	times, err := p.numbers(p.entries)
	return func(i int) int64 { return int64(times(i)) }, err
}

// decode decodes a value that was encoded by itself.
func (r *storeReader[V]) decode(b []byte) (v V, err error) {
	vals, rest, err := r.reader.Decode(r.vals[:0], 1, b)
	if err != nil {
		return v, err
	}
	if len(rest) > 0 {
		return v, fmt.Errorf("%d bytes are left behind the value", len(rest))
	}
	r.vals = vals
	return vals[0], nil
}

// reserve makes room for so many keys of a group.
func (s *store[V]) reserve(group, keys int) {
	switch {
	case s.cells != nil:
		s.cells.Reserve(group, keys)
	case s.timed != nil:
		s.timed.Reserve(group, keys)
	default:
		s.blobs.Reserve(group, keys)
	}
}

// restore gives a key of a group a value, unless it has one.
func (s *store[V]) restore(group int, k memory.Key, v V, at int64) (created bool) {
	switch {
	case s.cells != nil:
		p, created := s.cells.Restore(group, k)
		*p = v
		return created
	case s.timed != nil:
		p, created := s.timed.Restore(group, k)
		*p = timed[V]{v, at}
		return created
	}
	return s.blobs.Restore(group, k, s.encode(v, at))
}

// restoreEncoded is restore of a value that is encoded already.
func (s *store[V]) restoreEncoded(group int, k memory.Key, value []byte, at int64) (created bool) {
	if s.life.millis > 0 {
		s.buf = append(binary.LittleEndian.AppendUint64(s.buf[:0], uint64(at)), value...)
		value = s.buf
	}
	return s.blobs.Restore(group, k, value)
}
