package pebble

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// A taken is a set of keys that are in the files and count as removed, since they were
// taken into memory. Most of them are put again: then the new value takes the place of
// the old one, and nothing was ever written to remove it.
//
// The obvious way, to remove what is taken, doubles what is written, and worse: keys
// are put group by group, so that a file has few groups; removals would lie all over
// the keys, and every file would overlap every other.
//
// Keys are known by the first four bytes and by 95 bits of hashes of them all, with
// seeds that nobody else knows. Among 2⁴⁰ keys, with a million of them in the set, two
// are taken for one another with a probability of 10⁻¹⁰.
//
// Invariant: places is empty or a power of two long, with at least one that is zero;
// an entry is reached from its place without meeting a zero.
type taken struct {
	places []takenKey
	len    int
	most   int // entries that there may be
}

// A takenKey is a key as the set knows it; no key is zero.
type takenKey struct{ head, tail uint64 }

// takenBytes is the size of a takenKey.
const takenBytes = 16

var headSeed, tailSeed = maphash.MakeSeed(), maphash.MakeSeed()

func takenKeyOf(key []byte) takenKey {
	return takenKey{
		head: uint64(prefixOf(key))<<32 | maphash.Bytes(headSeed, key)>>32,
		tail: maphash.Bytes(tailSeed, key) | 1,
	}
}

// prefixOf gives the first four bytes of a key, as if zeros followed it.
func prefixOf(key []byte) uint32 {
	var prefix [4]byte
	copy(prefix[:], key)
	return binary.BigEndian.Uint32(prefix[:])
}

// newTaken gives a set that takes at most so many bytes.
func newTaken(bytes int64) taken {
	places := 1 << (bits.Len64(uint64(max(bytes/takenBytes, 1))) - 1)
	return taken{most: fill(places)}
}

// fill is how many entries so many places have at most.
func fill(places int) int { return places * 13 / 16 }

// find gives the place where a key is or belongs.
func (t *taken) find(k takenKey) int {
	mask := len(t.places) - 1
	i := int(k.tail>>32) & mask
	for t.places[i] != k && t.places[i] != (takenKey{}) {
		i = (i + 1) & mask
	}
	return i
}

// has says whether a key is in the set.
func (t *taken) has(k takenKey) bool { return t.len > 0 && t.places[t.find(k)] == k }

// add adds a key that is not in the set, unless it is full.
func (t *taken) add(k takenKey) bool {
	if t.len >= t.most {
		return false
	}
	if t.len >= fill(len(t.places)) {
		old := t.places
		t.places = make([]takenKey, max(64, 2*len(old)))
		for _, k := range old {
			if k != (takenKey{}) {
				t.places[t.find(k)] = k
			}
		}
	}
	t.places[t.find(k)] = k
	t.len++
	return true
}

// remove removes a key and says whether it was in the set. Those behind it move up, as
// far as they were there only because their place was taken.
func (t *taken) remove(k takenKey) bool {
	if !t.has(k) {
		return false
	}
	mask := len(t.places) - 1
	hole := t.find(k)
	for i := (hole + 1) & mask; t.places[i] != (takenKey{}); i = (i + 1) & mask {
		if home := int(t.places[i].tail>>32) & mask; (i-home)&mask >= (i-hole)&mask {
			t.places[hole] = t.places[i]
			hole = i
		}
	}
	t.places[hole] = takenKey{}
	t.len--
	return true
}

// removeRange removes the keys from one to another that it knows to be between them.
// It may leave some that begin like one of the two.
func (t *taken) removeRange(from, to []byte) {
	if t.len == 0 {
		return
	}
	first, end := uint64(prefixOf(from)), uint64(prefixOf(to))
	if len(from) > 4 {
		first++
	}
	var gone []takenKey
	for _, k := range t.places {
		if prefix := k.head >> 32; k != (takenKey{}) && prefix >= first && prefix < end {
			gone = append(gone, k)
		}
	}
	for _, k := range gone {
		t.remove(k)
	}
}

// clone gives a set that does not change with this one.
func (t *taken) clone() taken {
	if t.len == 0 {
		return taken{}
	}
	return taken{places: append([]takenKey(nil), t.places...), len: t.len, most: t.most}
}
