package exec

import (
	"bytes"
	"slices"
)

// table numbers keys: each new one has the next number, from 0. It is open addressing
// over the lower bits of hashes.
type table struct {
	packed bool
	width  int    // of a key of words
	slots  []slot // a power of two
	hashes []uint64
	words  []uint64 // by number, of keys of words: width of each
	bytes  []byte
	ends   []int // by number, of keys of bytes
	near   int32 // only written, so that touch is not left out
}

// slot is a place for a key: one more than its number, and a part of its hash.
type slot struct {
	number int32
	hash   uint32
}

const leastSlots = 1024

// newTable makes a table of keys as a keyer makes them.
func newTable(k *keyer) *table {
	return &table{packed: k.packed, width: k.width, slots: make([]slot, leastSlots)}
}

// len is how many keys there are.
func (t *table) len() int { return len(t.hashes) }

// size is about how many bytes the table takes.
func (t *table) size() int {
	return cap(t.slots)*8 + cap(t.hashes)*8 + cap(t.words)*8 + cap(t.bytes) + cap(t.ends)*8
}

// reset forgets all keys and gives the memory back.
func (t *table) reset() {
	*t = table{packed: t.packed, width: t.width, slots: make([]slot, leastSlots)}
}

func (t *table) grow() {
	t.slots = make([]slot, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for n, h := range t.hashes {
		at := h & mask
		for t.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = slot{int32(n + 1), uint32(h >> 32)}
	}
}

// equal reports whether the key with a number is that of row r.
func (t *table) equal(number int32, k *keyer, r int) bool {
	if t.packed {
		switch t.width {
		case 1:
			return t.words[number] == k.words[r]
		case 2:
			a, b := t.words[2*number:][:2], k.words[2*r:][:2]
			return a[0] == b[0] && a[1] == b[1]
		}
		at := int(number) * t.width
		return slices.Equal(t.words[at:at+t.width], k.wordsAt(r))
	}
	from := 0
	if number > 0 {
		from = t.ends[number-1]
	}
	return bytes.Equal(t.bytes[from:t.ends[number]], k.key(r))
}

// large is how many slots a table has that is not near the processor.
const large = 1 << 15

// touch brings the slots near in which the keys of a batch may be: memory is read for many
// of them at a time, and not for one after the other.
func (t *table) touch(k *keyer) (touched int32) {
	if len(t.slots) < large {
		return 0
	}
	mask := uint64(len(t.slots) - 1)
	for _, h := range k.hashes {
		touched ^= t.slots[h&mask].number
	}
	return touched
}

// find gives the numbers of the rows' keys; -1: it is not there, or equals nothing.
func (t *table) find(k *keyer, numbers []int32) []int32 {
	t.near += t.touch(k)
	numbers = resize(numbers, len(k.hashes))
	mask := uint64(len(t.slots) - 1)
	for r, h := range k.hashes {
		number := int32(-1)
		if k.valid[r] {
			for at := h & mask; t.slots[at].number != 0; at = (at + 1) & mask {
				if s := t.slots[at]; s.hash == uint32(h>>32) && t.equal(s.number-1, k, r) {
					number = s.number - 1
					break
				}
			}
		}
		numbers[r] = number
	}
	return numbers
}

// add gives the number of row r's key, and whether it is new.
func (t *table) add(k *keyer, r int) (number int32, created bool) {
	h := k.hashes[r]
	mask := uint64(len(t.slots) - 1)
	at := h & mask
	for ; t.slots[at].number != 0; at = (at + 1) & mask {
		if s := t.slots[at]; s.hash == uint32(h>>32) && t.equal(s.number-1, k, r) {
			return s.number - 1, false
		}
	}
	number = int32(len(t.hashes))
	t.slots[at] = slot{number + 1, uint32(h >> 32)}
	t.hashes = append(t.hashes, h)
	if t.packed {
		t.words = append(t.words, k.wordsAt(r)...)
	} else {
		t.bytes = append(t.bytes, k.key(r)...)
		t.ends = append(t.ends, len(t.bytes))
	}
	if len(t.hashes)*4 > len(t.slots)*3 {
		t.grow()
	}
	return number, true
}
