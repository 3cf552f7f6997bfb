package operator

import (
	"math"
	"slices"
	"unsafe"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/state"
	"github.com/weirstream/weir/internal/state/memory"
)

// A suffixes keeps what the slices of a sliding window come to, merged, so that a
// window costs a few merges for each of its keys, however many slices it has.
//
//	slices    1  2  3  4 │ 5  6  7 │ 8 ...
//	               back  │  front  │ not taken yet
//	                    turn     taken
//
// The front has, of each key, all its slices as one accumulator. The back has, of
// each key and each slice that the key is in, what this slice and all younger ones
// of the back come to. So a window that begins in the back is, for each key, one
// entry of the back, that of the key's first slice in the window, and the front. The
// next slice is added to the front. When a window begins behind the turn, its slices
// become a new back, and the front is empty: one merge for each key and slice, once
// in the length of a window.
//
// All that is made from slices, and made anew after a restore: it is in no
// checkpoint. What a late record changes is mended, key by key.
//
// Invariant: an accumulator that is here is what the slices in its range come to,
// merged in the order of time, for each key that is not stale.
type suffixes[K comparable, A any] struct {
	width int64
	merge func(acc *A, other A)
	keyed *state.Keyed[K]
	accs  *state.Sliced[A]
	// The key groups, and the number of all.
	first, last, max int

	valid       bool
	base        int64 // slices up to here are not in the back
	turn, taken int64
	numbers     *memory.Cells[uint32] // by key
	hashes      *memory.Keys[K]
	keys        []suffixKey[K] // by number
	front       accumulators[A]
	back        accumulators[A]
	links       []suffixLink // of the entries of the back
	made        int          // entries that the back had when it was made
	stale       map[K]staleness
	wait        int // so many windows come before memory is asked for again
	scratch     *A
	m           memory.Key // scratch
}

// A suffixKey is what is kept of a key, besides its accumulator in the front.
type suffixKey[K comparable] struct {
	key   K
	back  uint32 // 1 + the number of its oldest entry in the back; 0: it has none
	front bool   // it is in the front
}

// A suffixLink is where an entry of the back stands.
type suffixLink struct {
	slice uint32 // counted from base
	next  uint32 // as suffixKey.back: the key's next younger entry
}

// staleness says which parts of a key have changed since they were merged.
type staleness uint8

const (
	staleBack staleness = 1 << iota
	staleFront
)

// refusedWindows is for how many windows there is no other try when memory was short.
const refusedWindows = 64

// newSuffixes gives nil where windows share too little for merging to pay.
func newSuffixes[K comparable, A any](c *Context, s Sliding, keyed *state.Keyed[K], accs *state.Sliced[A], merge func(*A, A)) *suffixes[K, A] {
	if s.Size/3 < s.Slide || s.Size/s.slice() > math.MaxInt32 {
		return nil
	}
	encode, err := KeyEncoder[K]()
	Check(err)
	hashes, err := memory.NewKeys(encode)
	Check(err)
	first, last := c.OwnKeyGroups()
	return &suffixes[K, A]{
		first: first, last: last, max: c.MaxParallelism,
		width: s.slice(), merge: merge, keyed: keyed, accs: accs, hashes: hashes,
		front: newAccumulators[A](), back: newAccumulators[A](), stale: map[K]staleness{}, scratch: new(A),
		taken: batch.NoTimestamp,
	}
}

// changed is told the keys of records that are added to a slice.
func (s *suffixes[K, A]) changed(slice int64, keys []K) {
	if !s.valid || slice > s.taken {
		return
	}
	part := staleFront
	if slice <= s.turn {
		part = staleBack
	}
	for _, k := range keys {
		s.stale[k] |= part
	}
	if len(s.stale) > len(s.keys)/2 {
		s.valid = false // making all of it anew is cheaper than mending
	}
}

// each calls f with each key of a window and what its slices come to, and says
// whether it did: not if there is no memory. Windows come in the order of their
// ends; within are the slices of this one, in order.
func (s *suffixes[K, A]) each(w Window, within []int64, f func(k K, acc *A)) bool {
	if s.wait > 0 {
		s.wait--
		return false
	}
	if !s.ready(w, within) || !s.keyed.HoldBeside(s.bytes()) {
		s.wait = refusedWindows
		s.drop()
		return false
	}
	start := (w.Start - s.base) / s.width
	for i := range s.keys {
		k := &s.keys[i]
		for k.back != 0 && int64(s.links[k.back-1].slice) <= start {
			k.back = s.links[k.back-1].next
		}
		if k.back == 0 && !k.front {
			continue
		}
		if s.back.plan != nil {
			s.scratch = new(A) // a result may refer to it
		}
		switch {
		case k.back == 0:
			*s.scratch = s.front.at(i)
		default:
			*s.scratch = s.back.at(int(k.back - 1))
			if k.front {
				s.merge(s.scratch, s.front.at(i))
			}
		}
		f(k.key, s.scratch)
	}
	return true
}

// ready brings what is kept up to the end of a window, and says whether there is
// memory for it.
func (s *suffixes[K, A]) ready(w Window, within []int64) bool {
	if !s.valid || w.Start > s.turn || len(s.links) > 2*s.made+len(s.keys) {
		return s.turnOver(w, within)
	}
	for k, parts := range s.stale {
		s.mend(k, parts, within)
	}
	clear(s.stale)
	for _, slice := range within {
		if slice > s.taken {
			s.take(slice)
		}
	}
	s.taken = w.End
	return true
}

// take adds a slice to the front.
func (s *suffixes[K, A]) take(slice int64) {
	s.accs.Range(slice, func(group int, m memory.Key, v A) bool {
		s.add(s.numberOf(group, m), &v)
		return true
	})
}

// add merges an accumulator into the front of a key.
func (s *suffixes[K, A]) add(i int, v *A) {
	if !s.keys[i].front {
		s.keys[i].front = true
		s.front.set(i, v)
		return
	}
	if s.front.plan == nil {
		s.merge(&s.front.vals[i], *v)
		return
	}
	*s.scratch = s.front.at(i)
	s.merge(s.scratch, *v)
	s.front.set(i, s.scratch)
}

// turnOver makes the back of the slices of a window, and empties the front.
func (s *suffixes[K, A]) turnOver(w Window, within []int64) bool {
	entries := 0
	for _, slice := range within {
		entries += s.accs.Len(slice)
	}
	var acc A
	least := entries * int(unsafe.Sizeof(suffixLink{})+unsafe.Sizeof(acc))
	if entries >= math.MaxInt32 || !s.keyed.HoldBeside(max(least, s.bytes())) {
		s.keyed.HoldBeside(0)
		return false
	}
	s.reset(entries)
	s.base = w.Start
	for _, slice := range slices.Backward(within) {
		s.accs.Range(slice, func(group int, m memory.Key, v A) bool {
			s.prepend(s.numberOf(group, m), slice, &v)
			return true
		})
		if !s.keyed.HoldBeside(s.bytes()) {
			return false
		}
	}
	s.made = entries
	s.valid, s.turn, s.taken = true, w.End, w.End
	return true
}

// prepend adds an older slice of a key to the back.
func (s *suffixes[K, A]) prepend(i int, slice int64, v *A) {
	k := &s.keys[i]
	if k.back == 0 {
		s.back.append(v)
	} else {
		*s.scratch = *v
		s.merge(s.scratch, s.back.at(int(k.back-1)))
		s.back.append(s.scratch)
	}
	s.links = append(s.links, suffixLink{uint32((slice - s.base) / s.width), k.back})
	k.back = uint32(len(s.links))
}

// mend makes the stale parts of a key anew. Its old entries of the back are nobody's.
func (s *suffixes[K, A]) mend(key K, parts staleness, within []int64) {
	hash := s.keyed.Hash(key)
	s.keyed.SetKey(key, hash)
	s.hashes.Set(&s.m, key, hash)
	number, created := s.numbers.Upsert(&s.m)
	if created {
		*number = s.newKey(key)
	}
	i := int(*number)
	if parts&staleBack != 0 {
		s.keys[i].back = 0
		for _, slice := range slices.Backward(within) {
			if slice <= s.turn {
				if v, some := s.accs.Get(slice); some {
					s.prepend(i, slice, &v)
				}
			}
		}
	}
	if parts&staleFront != 0 {
		s.keys[i].front = false
		for _, slice := range within {
			if slice > s.turn && slice <= s.taken {
				if v, some := s.accs.Get(slice); some {
					s.add(i, &v)
				}
			}
		}
	}
}

// numberOf gives the number of a key, which is new if need be.
func (s *suffixes[K, A]) numberOf(group int, m memory.Key) int {
	number, created := s.numbers.Restore(group, m)
	if created {
		*number = s.newKey(s.keyed.Of(m))
	}
	return int(*number)
}

func (s *suffixes[K, A]) newKey(key K) uint32 {
	s.keys = append(s.keys, suffixKey[K]{key: key})
	s.front.append(new(A))
	return uint32(len(s.keys) - 1)
}

// reset forgets all, and makes room for so many entries of the back.
func (s *suffixes[K, A]) reset(entries int) {
	if s.numbers == nil || cap(s.links) > 4*entries {
		s.drop()
		numbers, err := memory.NewCells[uint32](s.first, s.last, s.max, s.hashes.Kind().Integer())
		Check(err)
		s.numbers = numbers
	}
	s.numbers.Clear()
	clear(s.keys)
	s.keys, s.links = s.keys[:0], grown(s.links[:0], entries)
	s.front.clear()
	s.back.clear()
	s.back.grow(entries)
	clear(s.stale)
}

// drop gives up all memory.
func (s *suffixes[K, A]) drop() {
	if s.numbers == nil {
		return
	}
	s.valid, s.numbers, s.keys, s.links = false, nil, nil, nil
	s.front.free()
	s.back.free()
	clear(s.stale)
	s.keyed.HoldBeside(0)
}

// bytes is the memory that is taken. What keys point to is as much as the table of
// their numbers has.
func (s *suffixes[K, A]) bytes() int {
	n := cap(s.keys)*int(unsafe.Sizeof(suffixKey[K]{})) + cap(s.links)*int(unsafe.Sizeof(suffixLink{})) + s.front.bytes() + s.back.bytes()
	if s.numbers == nil {
		return n
	}
	n += s.numbers.Bytes()
	if !s.numbers.Integers() {
		n += s.numbers.Bytes()
	}
	return n
}
