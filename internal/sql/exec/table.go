package exec

import "bytes"

// table numbers keys: each new one has the next number, from 0. It is open addressing
// over the lower bits of hashes.
type table struct {
	packed bool
	slots  []slot // a power of two
	hashes []uint64
	words  []words // by number, of keys of words
	bytes  []byte
	ends   []int // by number, of keys of bytes
}

// slot is a place for a key: one more than its number, and a part of its hash.
type slot struct {
	number int32
	hash   uint32
}

const leastSlots = 1024

func newTable(packed bool) *table {
	return &table{packed: packed, slots: make([]slot, leastSlots)}
}

// len is how many keys there are.
func (t *table) len() int { return len(t.hashes) }

// size is about how many bytes the table takes.
func (t *table) size() int {
	return cap(t.slots)*8 + cap(t.hashes)*8 + cap(t.words)*8*wordsOfKey + cap(t.bytes) + cap(t.ends)*8
}

// reset forgets all keys and gives the memory back.
func (t *table) reset() { *t = *newTable(t.packed) }

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
		return t.words[number] == k.words[r]
	}
	from := 0
	if number > 0 {
		from = t.ends[number-1]
	}
	return bytes.Equal(t.bytes[from:t.ends[number]], k.key(r))
}

// find gives the number of row r's key; -1: it is not there.
func (t *table) find(k *keyer, r int) int32 {
	h := k.hashes[r]
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s.number == 0 {
			return -1
		}
		if s.hash == uint32(h>>32) && t.equal(s.number-1, k, r) {
			return s.number - 1
		}
	}
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
		t.words = append(t.words, k.words[r])
	} else {
		t.bytes = append(t.bytes, k.key(r)...)
		t.ends = append(t.ends, len(t.bytes))
	}
	if len(t.hashes)*4 > len(t.slots)*3 {
		t.grow()
	}
	return number, true
}
