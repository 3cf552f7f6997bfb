package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A List is a list of V for each key. Elements are kept encoded, each by itself,
// one after the other:
//
//	number of elements u32 │ element │ element │ …
//
// and where there is a time to live
//
//	number u32, when it was last touched i64 │ when i64, length u32, element │ …
type List[V any] struct {
	b      *Backend
	desc   Descriptor
	in     *namespace // nil: none
	plan   *codec.Plan[V]
	life   lifetime
	blobs  *memory.Blobs
	cold   *cold
	marks  *changes // nil: nobody wants to know
	one    []V      // scratch of length 1
	buf    []byte   // scratch
	expire func(value []byte) bool
}

// The parts of a list.
const (
	countBytes   = 4
	elementBytes = stampBytes + 4 // before each element, with a time to live
)

// NewList opens a state of kind KindList. It fails as NewValue does.
func NewList[V any](b *Backend, name string, o ...Option) (*List[V], error) {
	plan, err := codec.For[V]()
	if err != nil {
		return nil, fmt.Errorf("open state %q of operator %s: %w", name, b.options.Operator, err)
	}
	d, spec := describe(name, KindList, plan.Schema(), o)
	if err := b.open(d, spec.in); err != nil {
		return nil, err
	}
	blobs, err := memory.NewBlobs(b.options.First, b.options.Last, b.options.Max, b.kind.Integer() && spec.in == nil)
	if err != nil {
		return nil, err
	}
	s := &List[V]{b: b, desc: d, in: spec.in, plan: plan, life: newLifetime(d.TTL, b.options.Clock), blobs: blobs, cold: newCold(b, b.kind.Integer() && spec.in == nil), one: make([]V, 1)}
	s.expire = func(value []byte) bool { return s.life.expired(stamp(value[countBytes:])) }
	b.states = append(b.states, s)
	return s, nil
}

// Descriptor returns what was opened.
func (s *List[V]) Descriptor() Descriptor { return s.desc }

func (s *List[V]) tables() []table { return []table{s} }

// key returns the current key, whose list is then in memory.
func (s *List[V]) key() *memory.Key {
	k := &s.b.key
	if s.in != nil {
		k = s.in.composed()
	}
	if s.cold.groups != nil {
		s.cold.fetchBlob(s.blobs, k)
	}
	return k
}

// sweep removes what has expired among a few keys of the group of k.
func (s *List[V]) sweep(k *memory.Key) {
	s.blobs.Sweep(k.Hash, swept, s.expire)
	if s.cold.groups != nil {
		s.cold.sweep(k.Hash, s.expire)
	}
}

// headBytes is the size of what is before the elements.
func (s *List[V]) headBytes() int {
	if s.life.millis > 0 {
		return countBytes + stampBytes
	}
	return countBytes
}

// Get returns the elements of the current key, in order; nil if there are none.
// The caller owns the slice.
func (s *List[V]) Get() []V {
	k := s.key()
	value, ok := s.blobs.Get(k)
	if !ok {
		return nil
	}
	vals := make([]V, 0, min(1<<16, binary.LittleEndian.Uint32(value)))
	s.visit(k, value, func(v V) bool { vals = append(vals, v); return true })
	if len(vals) == 0 {
		return nil
	}
	return vals
}

// Each calls f with the elements of the current key, in order, until it returns
// false. f must not use the backend.
func (s *List[V]) Each(f func(v V) bool) {
	k := s.key()
	if value, ok := s.blobs.Get(k); ok {
		s.visit(k, value, f)
	}
}

// visit calls f with the elements of k that are to be seen, which value holds.
func (s *List[V]) visit(k *memory.Key, value []byte, f func(v V) bool) {
	if s.life.millis == 0 {
		if err := eachElement(s.plan.Decode, s.one, value, false, func(v V, _ int64) bool { return f(v) }); err != nil {
			panic(&Error{State: s.desc.Name, Err: err})
		}
		return
	}
	now := s.life.tick()
	seen, expired := 0, 0
	err := eachElement(s.plan.Decode, s.one, value, true, func(v V, at int64) bool {
		if s.life.expired(at) {
			if expired++; !s.life.returnExpired {
				return true
			}
		}
		seen++
		return f(v)
	})
	if err != nil {
		panic(&Error{State: s.desc.Name, Err: err})
	}
	switch {
	case expired == int(binary.LittleEndian.Uint32(value)):
		s.marks.mark(k.Hash)
		s.remove(k)
	case s.life.onRead && seen > 0:
		s.marks.mark(k.Hash)
		s.touch(k, now)
	}
	s.sweep(k)
}

// touch keeps all elements of k alive that have not expired.
func (s *List[V]) touch(k *memory.Key, now int64) {
	value, _ := s.blobs.Extend(k, 0, math.MaxInt32)
	binary.LittleEndian.PutUint64(value[countBytes:], uint64(now))
	for at := s.headBytes(); at < len(value); {
		if !s.life.expired(stamp(value[at:])) {
			binary.LittleEndian.PutUint64(value[at:], uint64(now))
		}
		at += elementBytes + int(binary.LittleEndian.Uint32(value[at+stampBytes:]))
	}
}

// eachElement calls f with the elements of a list and when they were touched.
func eachElement[V any](decode func([]V, int, []byte) ([]V, []byte, error), one []V, value []byte, stamped bool, f func(v V, at int64) bool) error {
	if len(value) < countBytes || stamped && len(value) < countBytes+stampBytes {
		return errors.New("a list is shorter than its head")
	}
	count, rest := binary.LittleEndian.Uint32(value), value[countBytes:]
	if stamped {
		rest = rest[stampBytes:]
	}
	for i := range count {
		var at int64
		element := rest
		if stamped {
			if len(rest) < elementBytes || uint64(len(rest)-elementBytes) < uint64(binary.LittleEndian.Uint32(rest[stampBytes:])) {
				return fmt.Errorf("element %d of %d of a list is cut short", i, count)
			}
			at = stamp(rest)
			element = rest[elementBytes : elementBytes+binary.LittleEndian.Uint32(rest[stampBytes:])]
			rest = rest[elementBytes+len(element):]
		}
		vals, left, err := decode(one[:0], 1, element)
		if err != nil {
			return fmt.Errorf("element %d of %d of a list: %w", i, count, err)
		}
		if !stamped {
			rest = left
		} else if len(left) > 0 {
			return fmt.Errorf("element %d of %d of a list has %d bytes too many", i, count, len(left))
		}
		if !f(vals[0], at) {
			return nil
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes are left behind the %d elements of a list", len(rest), count)
	}
	return nil
}

// appendElement appends the encoding of an element.
func (s *List[V]) appendElement(dst []byte, v V, at int64) []byte {
	start := len(dst)
	if s.life.millis > 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
		dst = append(dst, 0, 0, 0, 0)
	}
	s.one[0] = v
	out, err := s.plan.Append(dst, s.one)
	clear(s.one)
	if err != nil {
		panic(&Error{State: s.desc.Name, Err: err})
	}
	if s.life.millis > 0 {
		binary.LittleEndian.PutUint32(out[start+stampBytes:], uint32(len(out)-start-elementBytes))
	}
	return out
}

// tick reads the clock and cleans up a little in the group of k.
func (s *List[V]) tick(k *memory.Key) (now int64) {
	if s.life.millis > 0 {
		now = s.life.tick()
		s.sweep(k)
	}
	return now
}

// Add appends v. Its cost does not depend on the length of the list.
func (s *List[V]) Add(v V) {
	k := s.key()
	now := s.tick(k)
	s.buf = s.appendElement(s.buf[:0], v, now)
	s.extend(k, s.buf, 1, now)
}

// AddAll appends all of vals.
func (s *List[V]) AddAll(vals []V) {
	if len(vals) == 0 {
		return
	}
	k := s.key()
	now := s.tick(k)
	s.buf = s.buf[:0]
	for _, v := range vals {
		s.buf = s.appendElement(s.buf, v, now)
	}
	s.extend(k, s.buf, len(vals), now)
}

// extend appends elements that are encoded.
func (s *List[V]) extend(k *memory.Key, elements []byte, count int, now int64) {
	s.marks.mark(k.Hash)
	head := s.headBytes()
	value, created := s.blobs.Extend(k, len(elements), head)
	if created {
		value, _ = s.blobs.Extend(k, head, len(elements)+head)
		clear(value[:head])
	}
	copy(value[len(value)-len(elements):], elements)
	binary.LittleEndian.PutUint32(value, binary.LittleEndian.Uint32(value)+uint32(count))
	if s.life.millis > 0 {
		binary.LittleEndian.PutUint64(value[countBytes:], uint64(now))
	}
}

// Set replaces the list. With no vals it is Clear.
func (s *List[V]) Set(vals []V) {
	k := s.key()
	s.marks.mark(k.Hash)
	if len(vals) == 0 {
		s.remove(k)
		return
	}
	now := s.tick(k)
	s.buf = binary.LittleEndian.AppendUint32(s.buf[:0], uint32(len(vals)))
	if s.life.millis > 0 {
		s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(now))
	}
	for _, v := range vals {
		s.buf = s.appendElement(s.buf, v, now)
	}
	s.blobs.Put(k, s.buf)
}

// Take removes the list and returns its elements.
func (s *List[V]) Take() []V {
	vals := s.Get()
	s.Clear()
	return vals
}

// remove removes the list of k.
func (s *List[V]) remove(k *memory.Key) {
	s.blobs.Delete(k)
	if s.cold.groups != nil {
		s.cold.forget(k)
	}
}

// Clear removes the list.
func (s *List[V]) Clear() {
	k := s.key()
	s.marks.mark(k.Hash)
	s.remove(k)
}

func (s *List[V]) bytes() int { return s.blobs.Bytes() + s.cold.bytes() }

func (s *List[V]) evict(group int) { evictBlobs(s.cold, s.blobs, group) }

func (s *List[V]) len() int { return s.blobs.Len() + s.cold.len() }

func (s *List[V]) track() { s.marks = newChanges(s.b.options, s.len) }

func (s *List[V]) settle() {
	s.marks.settle()
	s.blobs.Settle()
}

func (s *List[V]) owners(group int, f func(k memory.Key, composed bool) bool) bool {
	each := func(k memory.Key, _ []byte) bool { return f(k, s.in != nil) }
	return s.blobs.RangeGroup(group, each) && s.cold.each(group, each)
}

type frozenList struct {
	desc  written
	blobs *memory.BlobsView
	cold  frozenCold
	life  lifetime
	recent
}

func (s *List[V]) freeze(number uint64) frozenTable {
	f := &frozenList{desc: written{Descriptor: s.desc, words: s.b.kind.Integer() && s.in == nil}, life: s.life, cold: s.cold.freeze()}
	f.recent = recent{s.marks.freeze(number), s.len()}
	if f.life.millis > 0 {
		f.life.tick()
	}
	f.blobs = s.blobs.Freeze(number)
	return f
}

func (f *frozenList) written() written { return f.desc }

func (f *frozenList) changed(group int) uint64 { return f.blobs.Changed(group) }

func (f *frozenList) releaseGroup(group int) { f.blobs.ReleaseGroup(group) }

func (f *frozenList) release() { f.blobs.Release() }

func (f *frozenList) write(group int, state uint16, w *blockWriter) {
	keys := keyColumn{words: f.desc.words}
	var lists column
	entries, size := 0, 0
	flush := func() {
		if entries > 0 {
			w.end(lists.appendTo(keys.appendTo(w.begin())), state, entries)
			entries, size = 0, 0
		}
	}
	add := func(k memory.Key, value []byte) bool {
		if w.leaves(k, f.desc.words, 0) || f.life.millis > 0 && f.life.expired(stamp(value[countBytes:])) {
			return true
		}
		keys.add(k)
		lists.add(text(value))
		entries++
		if size += len(k.Bytes) + len(value); entries == blockEntries || size >= blockBytes {
			flush()
		}
		return w.err == nil
	}
	f.blobs.Read(group, &w.buffer, add)
	f.cold.each(group, w, add)
	flush()
}

func (s *List[V]) restorer(from written) (restorer, error) {
	reader, err := codec.NewReader(from.Value, s.plan)
	if err != nil {
		return nil, err
	}
	stamped := from.TTL.Duration > 0
	same := reader.Same() && stamped == (s.life.millis > 0)
	return func(group int, p payload) error {
		keys, err := p.keys(p.entries, from.words)
		if err != nil {
			return err
		}
		lists, err := p.bytes(p.entries)
		if err != nil {
			return err
		}
		s.blobs.Reserve(group, p.total)
		for i := range p.entries {
			list := lists(i)
			if err := s.b.checkKey(keys(i), from.words, s.in != nil, group); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			if p.newer != nil && p.newer.covers(hashOf(keys(i), from.words)) {
				continue
			}
			if !same {
				if list, err = s.convert(list, reader, stamped); err != nil {
					return fmt.Errorf("entry %d: %w", i, err)
				}
			} else if len(list) < s.headBytes() {
				return fmt.Errorf("entry %d: a list is shorter than its head", i)
			}
			if !s.blobs.Restore(group, keys(i), list) {
				return errTwice
			}
		}
		return p.done()
	}, nil
}

// convert returns a list that was written with another schema or without times as
// it is kept now. It is valid until the next call.
func (s *List[V]) convert(list []byte, reader *codec.Reader[V], stamped bool) ([]byte, error) {
	now := int64(0)
	if s.life.millis > 0 {
		now = s.life.tick()
	}
	s.buf = append(s.buf[:0], make([]byte, s.headBytes())...)
	count, newest := uint32(0), int64(math.MinInt64)
	err := eachElement(reader.Decode, make([]V, 1), list, stamped, func(v V, at int64) bool {
		if !stamped {
			at = now
		}
		newest = max(newest, at)
		count++
		s.buf = s.appendElement(s.buf, v, at)
		return true
	})
	binary.LittleEndian.PutUint32(s.buf, count)
	if s.life.millis > 0 {
		binary.LittleEndian.PutUint64(s.buf[countBytes:], uint64(newest))
	}
	return s.buf, err
}
