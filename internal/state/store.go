package state

import (
	"encoding/binary"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A store maps keys to values of one type.
//
// Invariant: exactly one of cells, timed and blobs is set. Values without pointers
// lie in cells, or with the time when they were last touched in timed; others are
// encoded in blobs, after 8 bytes of that time if there is a time to live.
type store[V any] struct {
	b        *Backend
	composed bool // keys are composed of several

	name  string
	plan  *codec.Plan[V]
	life  lifetime
	cells *memory.Cells[V]
	timed *memory.Cells[timed[V]]
	blobs *memory.Blobs
	// changed is nil where nobody wants to know; salt is that of the slice.
	changed *changes
	salt    uint32
	cold    *cold

	one          []V    // scratch of length 1
	buf          []byte // scratch
	expiredTimed func(*timed[V]) bool
	expiredBlob  func([]byte) bool
	expiredCold  func([]byte) bool
}

// newStore returns an empty store of the key groups of b. Its keys are those of
// the backend, or composed.
func newStore[V any](b *Backend, d Descriptor, plan *codec.Plan[V], composed bool) (*store[V], error) {
	s := &store[V]{b: b, composed: composed, name: d.Name, plan: plan, life: newLifetime(d.TTL, b.options.Clock), one: make([]V, 1)}
	s.expiredTimed = func(v *timed[V]) bool { return s.life.expired(v.at) }
	s.expiredBlob = func(value []byte) bool { return s.life.expired(stamp(value)) }
	s.expiredCold = s.expiredBlob
	if plan.PointerFree() {
		s.expiredCold = func(value []byte) bool { return s.life.expired(load[timed[V]](value).at) }
	}
	o, integers := b.options, b.kind.Integer() && !composed
	s.cold = newCold(b, integers)
	var err error
	switch {
	case !plan.PointerFree():
		s.blobs, err = memory.NewBlobs(o.First, o.Last, o.Max, integers)
	case s.life.millis > 0:
		s.timed, err = memory.NewCells[timed[V]](o.First, o.Last, o.Max, integers)
	default:
		s.cells, err = memory.NewCells[V](o.First, o.Last, o.Max, integers)
	}
	return s, err
}

// stampBytes is the size of the time before an encoded value.
const stampBytes = 8

func stamp(value []byte) int64 { return int64(binary.LittleEndian.Uint64(value)) }

// fail panics with the error of a user's type.
func (s *store[V]) fail(err error) { panic(&Error{State: s.name, Err: err}) }

// encode returns the encoding of v, after the time if there is a time to live. It is
// valid until the next call.
func (s *store[V]) encode(v V, at int64) []byte {
	s.buf = s.buf[:0]
	if s.life.millis > 0 {
		s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(at))
	}
	s.one[0] = v
	buf, err := s.plan.Append(s.buf, s.one)
	clear(s.one)
	if err != nil {
		s.fail(err)
	}
	s.buf = buf
	return buf
}

func (s *store[V]) decode(value []byte) V {
	if s.life.millis > 0 {
		value = value[stampBytes:]
	}
	vals, _, err := s.plan.Decode(s.one[:0], 1, value)
	if err != nil {
		s.fail(err)
	}
	v := vals[0]
	clear(s.one)
	return v
}

// get returns the value of k, if it has one that is to be seen.
func (s *store[V]) get(k *memory.Key) (v V, ok bool) {
	if s.cold.groups != nil {
		s.fetch(k)
	}
	if s.cells != nil {
		if p, ok := s.cells.Get(k); ok {
			return *p, true
		}
		return v, false
	}
	if s.life.millis > 0 {
		return s.getTimed(k)
	}
	value, ok := s.blobs.Get(k)
	if !ok {
		return v, false
	}
	return s.decode(value), true
}

// getTimed is get with a time to live.
func (s *store[V]) getTimed(k *memory.Key) (v V, ok bool) {
	now := s.life.tick()
	var at int64
	if s.timed != nil {
		var p *timed[V]
		if p, ok = s.timed.Get(k); ok {
			v, at = p.v, p.at
		}
	} else {
		var value []byte
		if value, ok = s.blobs.Get(k); ok {
			v, at = s.decode(value), stamp(value)
		}
	}
	switch {
	case !ok:
	case s.life.expired(at):
		s.delete(k)
		if !s.life.returnExpired {
			v, ok = *new(V), false
		}
	case s.life.onRead && at != now:
		s.mark(k)
		if s.timed != nil {
			p, _ := s.timed.Upsert(k)
			p.at = now
		} else {
			value, _ := s.blobs.Extend(k, 0, stampBytes)
			binary.LittleEndian.PutUint64(value, uint64(now))
		}
	}
	s.sweep(k)
	return v, ok
}

// tick reads the clock and cleans up a little in the group of k.
func (s *store[V]) tick(k *memory.Key) (now int64) {
	now = s.life.tick()
	s.sweep(k)
	return now
}

// sweep removes what has expired among a few keys of the group of k.
func (s *store[V]) sweep(k *memory.Key) {
	if s.timed != nil {
		s.timed.Sweep(k.Hash, swept, s.expiredTimed)
	} else {
		s.blobs.Sweep(k.Hash, swept, s.expiredBlob)
	}
	if s.cold.groups != nil {
		s.cold.sweep(k.Hash, s.expiredCold)
	}
}

// mark notes that k changes.
func (s *store[V]) mark(k *memory.Key) {
	if s.changed != nil {
		s.changed.add(k.Hash, uint32(k.Hash)^s.salt)
	}
}

// put gives k the value v.
func (s *store[V]) put(k *memory.Key, v V) {
	s.mark(k)
	if s.cold.groups != nil {
		s.fetch(k)
	}
	switch {
	case s.cells != nil:
		p, _ := s.cells.Upsert(k)
		*p = v
	case s.timed != nil:
		now := s.tick(k)
		p, _ := s.timed.Upsert(k)
		*p = timed[V]{v, now}
	case s.life.millis > 0:
		s.blobs.Put(k, s.encode(v, s.tick(k)))
	default:
		s.blobs.Put(k, s.encode(v, 0))
	}
}

// ref returns the value of k in place. blobs must be nil.
func (s *store[V]) ref(k *memory.Key) (v *V, created bool) {
	s.mark(k)
	if s.cold.groups != nil {
		s.fetch(k)
	}
	if s.cells != nil {
		return s.cells.Upsert(k)
	}
	now := s.tick(k)
	p, created := s.timed.Upsert(k)
	return s.renew(p, created, now)
}

// renew touches a value in place, which is new if it had expired.
func (s *store[V]) renew(p *timed[V], created bool, now int64) (*V, bool) {
	if !created && s.life.expired(p.at) {
		p.v, created = *new(V), true
	}
	p.at = now
	return &p.v, created
}

// batch is ref for a batch of keys.
func (s *store[V]) batch(b memory.Batch, start int, f func(i int, v *V, created bool)) {
	if s.changed != nil {
		for _, hash := range b.Hashes() {
			s.changed.add(hash, uint32(hash)^s.salt)
		}
	}
	if s.cold.groups != nil {
		var k memory.Key
		for i := range b.Len() {
			k = b.Key(i)
			s.fetch(&k)
		}
	}
	if s.cells != nil {
		s.cells.UpsertBatch(b, start, f)
		return
	}
	now := s.life.tick()
	s.timed.UpsertBatch(b, start, func(i int, p *timed[V], created bool) {
		v, created := s.renew(p, created, now)
		f(i, v, created)
	})
}

// touch fetches what is probably needed for the keys of these hashes.
func (s *store[V]) touch(hashes []uint64) {
	switch {
	case s.composed:
	case s.cells != nil:
		s.cells.Touch(hashes)
	case s.timed != nil:
		s.timed.Touch(hashes)
	default:
		s.blobs.Touch(hashes)
	}
}

func (s *store[V]) delete(k *memory.Key) {
	s.mark(k)
	if s.cold.groups != nil {
		s.fetch(k)
	}
	switch {
	case s.cells != nil:
		s.cells.Delete(k)
	case s.timed != nil:
		s.timed.Delete(k)
	default:
		s.blobs.Delete(k)
	}
	if s.cold.groups != nil {
		s.cold.forget(k)
	}
}

// take removes the value of k and returns it, if it is to be seen.
func (s *store[V]) take(k *memory.Key) (V, bool) {
	v, ok := s.get(k)
	if ok {
		s.delete(k)
	}
	return v, ok
}

// fold sets the value of k to what f makes of it and v, or to v if there is none. f
// must not use the backend.
func (s *store[V]) fold(k *memory.Key, v V, f func(acc, v V) V) V {
	if s.blobs == nil {
		p, created := s.ref(k)
		if !created {
			v = f(*p, v)
		}
		*p = v
		return v
	}
	if acc, ok := s.get(k); ok {
		v = f(acc, v)
	}
	s.put(k, v)
	return v
}

// rangeGroup calls f with the keys of a group and their values, expired ones too.
func (s *store[V]) rangeGroup(group int, f func(k memory.Key, v V) bool) bool {
	all := true
	switch {
	case s.cells != nil:
		all = s.cells.RangeGroup(group, func(k memory.Key, v *V) bool { return f(k, *v) })
	case s.timed != nil:
		all = s.timed.RangeGroup(group, func(k memory.Key, v *timed[V]) bool { return f(k, v.v) })
	default:
		all = s.blobs.RangeGroup(group, func(k memory.Key, value []byte) bool { return f(k, s.decode(value)) })
	}
	return all && s.cold.each(group, func(k memory.Key, value []byte) bool { return f(k, s.valueOf(value)) })
}

// keys calls f with the keys of a group.
func (s *store[V]) keys(group int, f func(k memory.Key) bool) bool {
	all := true
	switch {
	case s.cells != nil:
		all = s.cells.RangeGroup(group, func(k memory.Key, _ *V) bool { return f(k) })
	case s.timed != nil:
		all = s.timed.RangeGroup(group, func(k memory.Key, _ *timed[V]) bool { return f(k) })
	default:
		all = s.blobs.RangeGroup(group, func(k memory.Key, _ []byte) bool { return f(k) })
	}
	return all && s.cold.each(group, func(k memory.Key, _ []byte) bool { return f(k) })
}

func (s *store[V]) len() int {
	n := s.cold.len()
	switch {
	case s.cells != nil:
		return n + s.cells.Len()
	case s.timed != nil:
		return n + s.timed.Len()
	}
	return n + s.blobs.Len()
}

func (s *store[V]) bytes() int {
	n := s.cold.bytes()
	switch {
	case s.cells != nil:
		return n + s.cells.Bytes()
	case s.timed != nil:
		return n + s.timed.Bytes()
	}
	return n + s.blobs.Bytes()
}

func (s *store[V]) settle() {
	switch {
	case s.cells != nil:
		s.cells.Settle()
	case s.timed != nil:
		s.timed.Settle()
	default:
		s.blobs.Settle()
	}
}

// clear removes all keys. The store is then as one made after the snapshot of this
// number.
func (s *store[V]) clear(number uint64) {
	s.cold.clear()
	switch {
	case s.cells != nil:
		s.cells.StartAt(number)
		s.cells.Clear()
	case s.timed != nil:
		s.timed.StartAt(number)
		s.timed.Clear()
	default:
		s.blobs.StartAt(number)
		s.blobs.Clear()
	}
}
