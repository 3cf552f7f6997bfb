package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/state/memory"
)

// A snapshot that is based on another one writes, of a group that has changed, only
// the keys that may have. Which ones these are is kept as a filter: a set of hashes,
// cut to so few bits that a key which has not changed is in it now and then. Whoever
// reads the older section leaves out all keys that a newer section's filter has, those
// that were deleted as well as those that the newer section holds; so a deletion needs
// no mark of its own.
//
// The obvious way is to mark entries where they lie. But entries move when a table
// grows, and those that go away lie nowhere.

// A filter is a set of hashes of one key group.
type filter struct {
	bits []uint64 // its length is a power of two; empty: no hash
	set  int
}

// filterBits is how many bits a filter has for each key there was when it was begun.
// With one key of a hundred changed, a quarter more are written than need be.
const filterBits = 4

// add adds a hash to a filter that was begun.
func (f *filter) add(hash uint32) {
	i := hash & uint32(len(f.bits)*64-1)
	if bit := uint64(1) << (i & 63); f.bits[i>>6]&bit == 0 {
		f.bits[i>>6] |= bit
		f.set++
	}
}

func (f *filter) has(hash uint32) bool {
	if len(f.bits) == 0 {
		return false
	}
	i := hash & uint32(len(f.bits)*64-1)
	return f.bits[i>>6]>>(i&63)&1 != 0
}

// crowded says that so much has changed that a group is better written whole.
func (f *filter) crowded() bool { return len(f.bits) > 0 && f.set > len(f.bits)*64/(2*filterBits) }

// A generation is what changed from one freeze to the next, which has this number.
type generation struct {
	number uint64
	groups []filter // by group; never changed once it was frozen
}

// generationsKept is how many generations a state keeps: more than one, because
// not every snapshot becomes one that others are based on.
const generationsKept = 3

// changes are which keys of a state have changed since when.
//
// Invariant: old are in the order of their numbers, which follow each other, and lead
// up to the current one.
type changes struct {
	first, max int // the first group, and the number of all
	current    []filter
	old        []generation
	keys       func() int // how many there are
}

func newChanges(o Options, keys func() int) *changes {
	return &changes{first: o.First, max: o.Max, current: make([]filter, o.Last-o.First+1), keys: keys}
}

// mark notes that the key of this hash may change.
func (c *changes) mark(hash uint64) {
	if c != nil {
		c.add(hash, uint32(hash))
	}
}

// add notes a change of what has the hash lower, in the group of the hash.
func (c *changes) add(hash uint64, lower uint32) {
	f := &c.current[keygroup.Group(hash, c.max)-c.first]
	if f.bits == nil {
		f.bits = make([]uint64, c.words())
	}
	f.add(lower)
}

// words is the size of a filter that is begun now.
func (c *changes) words() int {
	want := filterBits * c.keys() / (len(c.current) * 64)
	return 1 << bits.Len(uint(want))
}

// freeze ends a generation, and gives those that are known.
func (c *changes) freeze(number uint64) []generation {
	if c == nil {
		return nil
	}
	c.old = append(slices.Clone(c.old[max(0, len(c.old)-generationsKept+1):]), generation{number, c.current})
	c.current = make([]filter, len(c.current))
	return c.old
}

// settle makes the state as it is that of number 0.
func (c *changes) settle() {
	if c != nil {
		c.old = nil
		clear(c.current)
	}
}

// recent is what a frozen state knows of its changes.
type recent struct {
	known   []generation
	entries int // of the state, expired ones included
}

func (r recent) history() recent { return r }

// since gives the filters of a group for all changes after the snapshot of this
// number, and false when they are not known, or so many that they are of no use.
// The group counts from the first one. One without changes has no filters.
func (r recent) since(number uint64, group int) (filters []*filter, ok bool) {
	if len(r.known) == 0 || r.known[0].number > number+1 {
		return nil, false
	}
	for _, g := range r.known {
		if f := &g.groups[group]; g.number > number && f.set > 0 {
			if f.crowded() {
				return nil, false
			}
			filters = append(filters, f)
		}
	}
	return filters, true
}

// hashOf returns the hash by which filters know a key.
func hashOf(k memory.Key, words bool) uint32 {
	if words {
		return uint32(keygroup.HashInt(k.Word))
	}
	return uint32(keygroup.HashString(k.Bytes))
}

// salt tells equal keys of different slices, or timers, from each other.
func salt(number int64) uint32 { return uint32(keygroup.HashInt(uint64(number))) }

// appendFilters appends filters as a file holds them: how many there are, and for each
// the logarithm of its bits, how many of them are set, and which, each as the distance
// from the one before.
func appendFilters(dst []byte, filters []*filter) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(filters)))
	for _, f := range filters {
		dst = append(dst, byte(bits.Len(uint(len(f.bits)*64))-1))
		dst = binary.AppendUvarint(dst, uint64(f.set))
		last := uint64(0)
		for w, word := range f.bits {
			for ; word != 0; word &= word - 1 {
				at := uint64(w*64 + bits.TrailingZeros64(word))
				dst = binary.AppendUvarint(dst, at-last)
				last = at
			}
		}
	}
	return dst
}

// A writtenFilter is a filter as it was read.
type writtenFilter struct {
	mask uint32
	set  []uint32 // ascending
}

// newer is what sections that are newer than the one being read say of a state: which
// of its keys are to be left out there.
type newer struct {
	filters []writtenFilter
	// slices, if not nil, are those slices of which older sections hold something.
	slices map[int64]bool
}

// covers says whether a key of this hash is left out.
func (n *newer) covers(hash uint32) bool {
	if n == nil {
		return false
	}
	for _, f := range n.filters {
		if _, found := slices.BinarySearch(f.set, hash&f.mask); found {
			return true
		}
	}
	return false
}

// coversOwner says whether all entries of the map of this key are left out.
func (n *newer) coversOwner(key []byte) bool {
	return n != nil && n.covers(uint32(keygroup.HashString(text(key))))
}

// coversSlice says whether all keys of a slice are left out.
func (n *newer) coversSlice(slice int64) bool { return n != nil && n.slices != nil && !n.slices[slice] }

// read adds what a section says, of a state that has slices or has not.
func (n *newer) read(b []byte, sliced bool) error {
	r := fieldReader{rest: b}
	for range r.count() {
		size := r.byte()
		f := writtenFilter{mask: uint32(1<<size - 1), set: make([]uint32, 0, min(len(r.rest), 1<<16))}
		at := uint64(0)
		for range r.count() {
			if at += r.uvarint(); at > uint64(f.mask) || size > 32 || r.err != nil {
				return fmt.Errorf("a filter of 1<<%d bits has %d set", size, at)
			}
			f.set = append(f.set, uint32(at))
		}
		n.filters = append(n.filters, f)
	}
	if sliced {
		kept := map[int64]bool{}
		for range r.count() {
			if slice := int64(r.uvarint()); n.slices == nil || n.slices[slice] {
				kept[slice] = true
			}
		}
		n.slices = kept
	}
	if r.err == nil && len(r.rest) > 0 {
		return errors.New("bytes are left behind the filters")
	}
	return r.err
}

// count reads a number of things of a byte at least.
func (r *fieldReader) count() uint64 {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.rest, r.err = nil, errShort
		return 0
	}
	return n
}
