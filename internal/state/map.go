package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A Map is a map from UK to UV for each key.
//
// Invariant: one of cells and blobs is set. Values without pointers lie in cells,
// others are encoded in blobs.
type Map[UK comparable, UV any] struct {
	b     *Backend
	desc  Descriptor
	in    *namespace // of the owners; never nil
	keys  *codec.Plan[UK]
	plan  *codec.Plan[UV]
	life  lifetime
	cells *memory.Entries[UV]
	blobs *memory.BlobEntries
	marks *changes // of owners, whose entries keep their order; nil: nobody wants to know
	cold  *cold

	uk     UK         // scratch
	one    []UV       // scratch of length 1
	buf    []byte     // the encoding of a value
	keyBuf []byte     // the bytes of key
	key    memory.Key // of an entry
	visits int        // calls of Each that are going on: entries must not go away

	expiredCell func(*memory.Entry[UV]) bool
	expiredBlob func(at int64) bool
	expiredCold func(value []byte) bool
}

// NewMap opens a state of kind KindMap. It fails as NewValue does, and when UK
// cannot be a key.
func NewMap[UK comparable, UV any](b *Backend, name string, o ...Option) (*Map[UK, UV], error) {
	fail := func(err error) (*Map[UK, UV], error) {
		return nil, fmt.Errorf("open state %q of operator %s: %w", name, b.options.Operator, err)
	}
	plan, err := codec.For[UV]()
	if err != nil {
		return fail(err)
	}
	keys, err := keyPlan[UK]()
	if err != nil {
		return fail(err)
	}
	d, spec := describe(name, KindMap, plan.Schema(), o)
	d.UserKey = keys.Schema()
	if err := b.open(d, spec.in); err != nil {
		return nil, err
	}
	s := &Map[UK, UV]{b: b, cold: newCold(b, false), desc: d, in: spec.in, keys: keys, plan: plan, life: newLifetime(d.TTL, b.options.Clock), one: make([]UV, 1)}
	if s.in == nil {
		s.in = &b.none
	}
	s.expiredBlob = func(at int64) bool { return s.life.expired(at) }
	s.expiredCold = s.allExpired
	s.expiredCell = func(e *memory.Entry[UV]) bool { return s.life.expired(e.At) }
	if plan.PointerFree() {
		s.cells, err = memory.NewEntries[UV](b.options.First, b.options.Last, b.options.Max)
	} else {
		s.blobs, err = memory.NewBlobEntries(b.options.First, b.options.Last, b.options.Max)
	}
	b.states = append(b.states, s)
	return s, err
}

// Descriptor returns what was opened.
func (s *Map[UK, UV]) Descriptor() Descriptor { return s.desc }

func (s *Map[UK, UV]) tables() []table { return []table{s} }

// entry returns the key of an entry of owner, valid until the next call.
func (s *Map[UK, UV]) entry(owner *memory.Key, uk UK) *memory.Key {
	s.uk = uk
	s.keyBuf = s.keys.AppendKey(append(s.keyBuf[:0], owner.Bytes...), &s.uk)
	s.key.Bytes = text(s.keyBuf)
	s.key.Hash = memory.HashWithin(owner.Hash, s.key.Bytes)
	return &s.key
}

func (s *Map[UK, UV]) fail(err error) { panic(&Error{State: s.desc.Name, Err: err}) }

func (s *Map[UK, UV]) encode(v UV) []byte {
	s.one[0] = v
	buf, err := s.plan.Append(s.buf[:0], s.one)
	clear(s.one)
	if err != nil {
		s.fail(err)
	}
	s.buf = buf
	return buf
}

func (s *Map[UK, UV]) decode(value []byte) UV {
	vals, _, err := s.plan.Decode(s.one[:0], 1, value)
	if err != nil {
		s.fail(err)
	}
	v := vals[0]
	clear(s.one)
	return v
}

func (s *Map[UK, UV]) decodeKey(inner string) (uk UK) {
	if _, err := s.keys.DecodeKey(&s.uk, []byte(inner)); err != nil {
		s.fail(err)
	}
	return s.uk
}

// tick reads the clock and cleans up a little in the group of a key.
func (s *Map[UK, UV]) tick(hash uint64) (now int64) {
	if s.life.millis == 0 {
		return 0
	}
	now = s.life.tick()
	if s.visits > 0 {
		return now
	}
	if s.cells != nil {
		s.cells.Sweep(hash, swept, s.expiredCell)
	} else {
		s.blobs.Sweep(hash, swept, s.expiredBlob)
	}
	if s.cold.groups != nil {
		s.cold.sweep(hash, s.expiredCold)
	}
	return now
}

// lookup returns an entry and when it was touched.
func (s *Map[UK, UV]) lookup(k *memory.Key) (v UV, at int64, ok bool) {
	if s.cells != nil {
		if e, ok := s.cells.Get(k); ok {
			return e.Value, e.At, true
		}
		return v, 0, false
	}
	value, at, ok := s.blobs.Get(k)
	if ok {
		v = s.decode(value)
	}
	return v, at, ok
}

// Get returns the value of uk, if there is one.
func (s *Map[UK, UV]) Get(uk UK) (v UV, ok bool) {
	owner := s.owner()
	k := s.entry(owner, uk)
	v, at, ok := s.lookup(k)
	if s.life.millis == 0 {
		return v, ok
	}
	now := s.life.tick()
	switch {
	case !ok:
	case s.life.expired(at):
		s.remove(owner, k)
		if !s.life.returnExpired {
			v, ok = *new(UV), false
		}
	case s.life.onRead:
		s.touch(owner, k, now)
	}
	s.tick(owner.Hash)
	return v, ok
}

func (s *Map[UK, UV]) touch(owner, k *memory.Key, now int64) {
	s.marks.mark(owner.Hash)
	if s.cells != nil {
		e, _ := s.cells.Upsert(owner, k)
		e.At = now
	} else {
		s.blobs.Touch(owner, k, now)
	}
}

// Contains says whether uk has a value.
func (s *Map[UK, UV]) Contains(uk UK) bool {
	_, ok := s.Get(uk)
	return ok
}

// Put gives uk the value v. A new entry comes last in the order of Each.
func (s *Map[UK, UV]) Put(uk UK, v UV) {
	owner := s.owner()
	s.marks.mark(owner.Hash)
	now := s.tick(owner.Hash)
	k := s.entry(owner, uk)
	if s.cells != nil {
		e, _ := s.cells.Upsert(owner, k)
		e.Value, e.At = v, now
		return
	}
	s.blobs.Put(owner, k, s.encode(v), now)
}

// Delete removes uk and says whether it was there.
func (s *Map[UK, UV]) Delete(uk UK) bool {
	owner := s.owner()
	return s.remove(owner, s.entry(owner, uk))
}

func (s *Map[UK, UV]) remove(owner, k *memory.Key) bool {
	s.marks.mark(owner.Hash)
	if s.cells != nil {
		return s.cells.Delete(owner, k)
	}
	return s.blobs.Delete(owner, k)
}

// Each calls f with each entry of the current key, in the order in which they
// were first put, until it returns false. f may delete the entry it is called
// with, and put values of others; it must not delete others, nor set another key or
// namespace.
func (s *Map[UK, UV]) Each(f func(uk UK, v UV) bool) {
	owner := s.owner()
	now, touch := int64(0), int64(0)
	if s.life.millis > 0 {
		now = s.life.tick()
		if s.life.onRead {
			touch = now
			s.marks.mark(owner.Hash)
		}
	}
	s.visits++
	defer func() { s.visits-- }()
	var gone []UK // what has expired is deleted afterwards
	visit := func(inner string, v UV, at int64) bool {
		uk := s.decodeKey(inner)
		if s.life.expired(at) {
			if gone = append(gone, uk); !s.life.returnExpired {
				return true
			}
		}
		return f(uk, v)
	}
	if s.cells != nil {
		s.cells.Each(owner, func(inner string, e *memory.Entry[UV]) bool {
			at := e.At
			if touch != 0 && !s.life.expired(at) {
				s.cells.Touch(owner, e)
				e.At = touch
			}
			return visit(inner, e.Value, at)
		})
	} else {
		s.blobs.Each(owner, touch, s.life.deadline, func(inner string, value []byte, at int64) bool {
			return visit(inner, s.decode(value), at)
		})
	}
	for _, uk := range gone {
		k := s.entry(owner, uk)
		if _, at, ok := s.lookup(k); ok && s.life.expired(at) {
			s.remove(owner, k)
		}
	}
}

// Len returns the number of entries of the current key, expired ones included
// that were not cleaned up.
func (s *Map[UK, UV]) Len() int {
	if s.cells != nil {
		return s.cells.Len(s.owner())
	}
	return s.blobs.Len(s.owner())
}

// Clear removes all entries of the current key.
func (s *Map[UK, UV]) Clear() {
	owner := s.owner()
	s.marks.mark(owner.Hash)
	if s.cells != nil {
		s.cells.Clear(owner, nil)
	} else {
		s.blobs.Clear(owner)
	}
}

func (s *Map[UK, UV]) bytes() int {
	if s.cells != nil {
		return s.cells.Bytes() + s.cold.bytes()
	}
	return s.blobs.Bytes() + s.cold.bytes()
}

// entries is the number of all entries, of which those of an owner on the disk count
// as one.
func (s *Map[UK, UV]) entries() int {
	if s.cells != nil {
		return s.cells.Entries() + s.cold.len()
	}
	return s.blobs.Entries() + s.cold.len()
}

func (s *Map[UK, UV]) track() { s.marks = newChanges(s.b.options, s.entries) }

func (s *Map[UK, UV]) settle() {
	s.marks.settle()
	if s.cells != nil {
		s.cells.Settle()
	} else {
		s.blobs.Settle()
	}
}

func (s *Map[UK, UV]) owners(group int, f func(k memory.Key, composed bool) bool) bool {
	each := func(owner string) bool { return f(memory.Key{Bytes: owner}, true) }
	all := true
	if s.cells != nil {
		all = s.cells.RangeOwners(group, each)
	} else {
		all = s.blobs.RangeOwners(group, each)
	}
	return all && s.cold.each(group, func(k memory.Key, _ []byte) bool { return each(k.Bytes) })
}

// A frozenMap is a map at a freeze.
type frozenMap[UV any] struct {
	desc  written
	plan  *codec.Plan[UV]
	cells *memory.EntriesView[UV]
	blobs *memory.BlobEntriesView
	cold  frozenCold
	life  lifetime

	owners, inner, encoded column
	counts                 []byte
	vals                   []UV
	times                  []byte
	owner                  string // of the entries to come
	owned                  int    // entries of it in the block
	owning                 int    // owners in the block
	entries, size          int
	leaves                 bool // owner is left out
	recent
}

func (s *Map[UK, UV]) freeze(number uint64) frozenTable {
	f := &frozenMap[UV]{desc: written{Descriptor: s.desc, batch: s.cells != nil}, plan: s.plan, life: s.life, cold: s.cold.freeze()}
	f.recent = recent{s.marks.freeze(number), s.entries()}
	if f.life.millis > 0 {
		f.life.tick()
	}
	if s.cells != nil {
		f.cells = s.cells.Freeze(number)
	} else {
		f.blobs = s.blobs.Freeze(number)
	}
	return f
}

func (f *frozenMap[UV]) written() written { return f.desc }

func (f *frozenMap[UV]) changed(group int) uint64 {
	if f.cells != nil {
		return f.cells.Changed(group)
	}
	return f.blobs.Changed(group)
}

func (f *frozenMap[UV]) releaseGroup(group int) {
	if f.cells != nil {
		f.cells.ReleaseGroup(group)
	} else {
		f.blobs.ReleaseGroup(group)
	}
}

func (f *frozenMap[UV]) release() {
	if f.cells != nil {
		f.cells.Release()
	} else {
		f.blobs.Release()
	}
}

func (f *frozenMap[UV]) write(group int, state uint16, w *blockWriter) {
	begin := func(owner string) {
		f.closeOwner()
		f.owner, f.leaves = owner, w.leaves(memory.Key{Bytes: owner}, false, 0)
	}
	if f.cells != nil {
		f.cells.Read(group, &w.buffer, begin, func(inner string, e *memory.Entry[UV]) {
			f.addCell(inner, e.Value, e.At, state, w)
		})
	} else {
		f.blobs.Read(group, &w.buffer, begin, func(inner string, value []byte, at int64) {
			f.addBlob(inner, value, at, state, w)
		})
	}
	f.cold.each(group, w, func(owner memory.Key, value []byte) bool {
		begin(owner.Bytes)
		if f.cells != nil {
			eachColdEntry(value, int(unsafe.Sizeof(*new(UV))), func(inner string, value []byte, at int64) {
				f.addCell(inner, load[UV](value), at, state, w)
			})
		} else {
			eachColdEntry(value, anySize, func(inner string, value []byte, at int64) { f.addBlob(inner, value, at, state, w) })
		}
		f.closeOwner() // whose bytes are gone after this
		return w.err == nil
	})
	f.flush(state, w)
}

func (f *frozenMap[UV]) addCell(inner string, v UV, at int64, state uint16, w *blockWriter) {
	if !f.leaves && !f.life.expired(at) {
		f.vals = append(f.vals, v)
		f.added(inner, at, 0, state, w)
	}
}

func (f *frozenMap[UV]) addBlob(inner string, value []byte, at int64, state uint16, w *blockWriter) {
	if !f.leaves && !f.life.expired(at) {
		f.encoded.add(text(value))
		f.added(inner, at, len(value), state, w)
	}
}

// added adds the inner key of the value that was just added.
func (f *frozenMap[UV]) added(inner string, at int64, size int, state uint16, w *blockWriter) {
	f.inner.add(inner)
	if f.life.millis > 0 {
		f.times = binary.LittleEndian.AppendUint64(f.times, uint64(at))
	}
	f.owned++
	f.entries++
	if f.size += len(inner) + size; f.entries == blockEntries || f.size >= blockBytes {
		f.flush(state, w)
	}
}

// closeOwner ends the entries of the owner in the block.
func (f *frozenMap[UV]) closeOwner() {
	if f.owned > 0 {
		f.owners.add(f.owner)
		f.counts = binary.LittleEndian.AppendUint32(f.counts, uint32(f.owned))
		f.size += len(f.owner)
		f.owned = 0
		f.owning++
	}
}

func (f *frozenMap[UV]) flush(state uint16, w *blockWriter) {
	f.closeOwner()
	if f.entries == 0 {
		return
	}
	buf := binary.LittleEndian.AppendUint32(w.begin(), uint32(f.owning))
	buf = f.inner.appendTo(f.owners.appendTo(append(buf, f.counts...)))
	if f.blobs != nil {
		buf = f.encoded.appendTo(buf)
	} else {
		var err error
		if buf, err = f.plan.Append(buf, f.vals); err != nil {
			w.fail(err)
		}
		f.vals = f.vals[:0]
	}
	w.end(append(buf, f.times...), state, f.entries)
	f.counts, f.times, f.owning, f.entries, f.size = f.counts[:0], f.times[:0], 0, 0, 0
}

// A mapReader reads blocks of a map.
type mapReader[UK comparable, UV any] struct {
	m      *Map[UK, UV]
	from   written
	reader *codec.Reader[UV]
	vals   []UV
	now    int64 // when entries are touched of which it was not written
}

func (s *Map[UK, UV]) restorer(from written) (restorer, error) {
	reader, err := codec.NewReader(from.Value, s.plan)
	if err != nil {
		return nil, err
	}
	r := &mapReader[UK, UV]{m: s, from: from, reader: reader}
	if s.life.millis > 0 {
		r.now = s.life.tick()
	}
	return r.restore, nil
}

func (r *mapReader[UK, UV]) restore(group int, p payload) error {
	head, err := p.take(4)
	if err != nil {
		return err
	}
	owning := int(binary.LittleEndian.Uint32(head))
	counts, err := p.take(owning * 4)
	if err != nil {
		return err
	}
	owners, err := p.bytes(owning)
	if err != nil {
		return err
	}
	inner, err := p.bytes(p.entries)
	if err != nil {
		return err
	}
	value, err := r.values(&p)
	if err != nil {
		return err
	}
	at := func(int) int64 { return r.now }
	if r.from.TTL.Duration > 0 {
		times, err := p.numbers(p.entries)
		if err != nil {
			return err
		}
		at = func(i int) int64 { return int64(times(i)) }
	}
	if err := p.done(); err != nil {
		return err
	}
	if r.m.cells != nil {
		r.m.cells.Reserve(group, p.total)
	} else {
		r.m.blobs.Reserve(group, p.total)
	}
	i := 0
	for o := range owning {
		n := int(binary.LittleEndian.Uint32(counts[o*4:]))
		if n > p.entries-i {
			return errors.New("the entries of owners are more than there are")
		}
		if err := r.m.b.checkKey(memory.Key{Bytes: text(owners(o))}, false, true, group); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if p.newer.coversOwner(owners(o)) {
			i += n
			continue
		}
		if o == 0 && r.m.cold.groups != nil { // a block before this one may have begun it
			r.m.fetch(&memory.Key{Bytes: text(owners(o)), Hash: memory.HashWithin(memory.GroupHash(group, r.m.b.options.Max)<<32, text(owners(o)))})
		}
		for range n {
			if err := r.entry(group, owners(o), inner(i), value, i, at(i)); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			i++
		}
	}
	if i < p.entries {
		return errors.New("the entries of owners are fewer than there are")
	}
	clear(r.vals)
	return nil
}

// values reads the column of values: decoded ones into vals, and encoded ones as
// what it returns.
func (r *mapReader[UK, UV]) values(p *payload) (encoded func(i int) []byte, err error) {
	if !r.from.batch {
		return p.bytes(p.entries)
	}
	r.vals, p.rest, err = r.reader.Decode(r.vals[:0], p.entries, p.rest)
	return nil, err
}

func (r *mapReader[UK, UV]) entry(group int, owner, inner []byte, encoded func(i int) []byte, i int, at int64) error {
	m := r.m
	m.keyBuf = append(append(m.keyBuf[:0], owner...), inner...)
	if encoded != nil && m.blobs != nil && r.reader.Same() {
		if !m.blobs.Restore(group, text(owner), text(m.keyBuf), encoded(i), at) {
			return errTwice
		}
		return nil
	}
	var v UV
	if encoded == nil {
		v = r.vals[i]
	} else {
		vals, rest, err := r.reader.Decode(m.one[:0], 1, encoded(i))
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return fmt.Errorf("%d bytes are left behind the value", len(rest))
		}
		v = vals[0]
	}
	created := false
	if m.cells != nil {
		var e *memory.Entry[UV]
		e, created = m.cells.Restore(group, text(owner), text(m.keyBuf))
		e.Value, e.At = v, at
	} else {
		created = m.blobs.Restore(group, text(owner), text(m.keyBuf), m.encode(v), at)
	}
	if !created {
		return errTwice
	}
	return nil
}
