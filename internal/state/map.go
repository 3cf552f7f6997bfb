package state

import (
	"fmt"

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

func (s *Map[UK, UV]) remove(owner, k *memory.Key) (had bool) {
	s.marks.mark(owner.Hash)
	if s.cells != nil {
		had = s.cells.Delete(owner, k)
	} else {
		had = s.blobs.Delete(owner, k)
	}
	if s.cold.groups != nil && s.len(owner) == 0 {
		s.cold.forget(owner)
	}
	return had
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
	if s.cold.groups != nil {
		s.cold.forget(owner)
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
