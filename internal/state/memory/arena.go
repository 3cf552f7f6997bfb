package memory

import (
	"math/bits"
	"unsafe"
)

// An arena is the memory of the values of one key group: chunks in pages, whose
// sizes are of few classes, so that a chunk that was freed serves again. A value
// that needs more than a page has one of its own.
//
// A chunk begins with its size in words in 4 bytes; the bytes of the value follow.
// A free one has the ref of the next free chunk of its class in their place, plus
// one.
type arena struct {
	pages  pages
	free   *[arenaClasses]uint32 // the first free chunk of each class, plus one; nil: there are none
	unused []uint32              // pages whose large chunk was freed
	freed  int                   // words of free chunks
	frozen *frozen               // not nil: writes must be announced to arena.writes
}

const (
	chunkHead    = 4
	smallClasses = 8 // of 1 to 8 words; then four to each doubling, up to a page
	arenaClasses = smallClasses + 4*(offsetBits-3)
)

// A Span says where the bytes of a value are in the arena of its key group. The
// zero Span is of no bytes.
type Span struct {
	ref uint32 // plus one; 0: there is no chunk
	len uint32
}

// sizeClass returns the class of chunks that hold so many words, and their size.
func sizeClass(words int) (class, size int) {
	if words <= smallClasses {
		return words - 1, words
	}
	n := bits.Len(uint(words - 1)) // words is in (2^(n-1), 2^n]
	step := 1 << (n - 3)
	quarter := (words - 1 - 1<<(n-1)) / step
	return smallClasses + 4*(n-4) + quarter, 1<<(n-1) + (quarter+1)*step
}

// wordsFor returns the words of a chunk for a value of n bytes.
func wordsFor(n int) int { return (n + chunkHead + wordBytes - 1) / wordBytes }

// capacity returns the bytes that the chunk of a span holds.
func (a *arena) capacity(s Span) int {
	if s.ref == 0 {
		return 0
	}
	return int(*(*uint32)(a.pages.at(s.ref - 1)))*wordBytes - chunkHead
}

// bytes returns the value, which aliases the arena.
func (a *arena) bytes(s Span) []byte {
	if s.len == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(a.pages.at(s.ref-1)), chunkHead)), s.len)
}

// writes must come before n bytes at off of a chunk change.
func (a *arena) writes(ref uint32, off, n int) {
	if a.frozen == nil {
		return
	}
	if a.frozen = a.frozen.alive(); a.frozen != nil {
		a.frozen.keep(int(ref>>offsetBits), uintptr(ref&(maxPageWords-1))*wordBytes+uintptr(off), uintptr(n))
	}
}

// alloc returns the span of n bytes that hold anything and may be written.
func (a *arena) alloc(n int) Span {
	if n == 0 {
		return Span{}
	}
	words := wordsFor(n)
	if words > maxPageWords {
		return a.allocLarge(n, words)
	}
	class, words := sizeClass(words)
	if a.free != nil && a.free[class] != 0 {
		ref := a.free[class] - 1
		a.free[class] = *(*uint32)(unsafe.Add(unsafe.Pointer(a.pages.at(ref)), chunkHead))
		a.freed -= words
		a.writes(ref, 0, words*wordBytes)
		return Span{ref + 1, uint32(n)}
	}
	ref, r := a.pages.add(words) // no view knows this end of the page
	*(*uint32)(r) = uint32(words)
	return Span{ref + 1, uint32(n)}
}

func (a *arena) allocLarge(n, words int) Span {
	words += words / 8
	r := unsafe.Pointer(unsafe.SliceData(make([]uint64, words)))
	*(*uint32)(r) = uint32(words)
	if last := len(a.unused) - 1; last >= 0 {
		page := a.unused[last]
		a.unused = a.unused[:last]
		a.pages.replace(page, r, words)
		return Span{page<<offsetBits + 1, uint32(n)}
	}
	return Span{a.pages.append(r, words)<<offsetBits + 1, uint32(n)}
}

// release frees the chunk of a span.
func (a *arena) release(s Span) {
	if s.ref == 0 {
		return
	}
	ref := s.ref - 1
	r := unsafe.Pointer(a.pages.at(ref))
	words := int(*(*uint32)(r))
	if words > maxPageWords {
		a.pages.replace(ref>>offsetBits, nil, 0)
		a.unused = append(a.unused, ref>>offsetBits)
		return
	}
	class, _ := sizeClass(words)
	if a.free == nil {
		a.free = new([arenaClasses]uint32)
	}
	a.writes(ref, chunkHead, 4)
	*(*uint32)(unsafe.Add(r, chunkHead)) = a.free[class]
	a.free[class] = ref + 1
	a.freed += words
}

// put returns the span of a copy of value, in place of s.
func (a *arena) put(s Span, value []byte) Span {
	if room := a.capacity(s); len(value) > room || room > 64 && len(value) < room/4 {
		a.release(s)
		s = a.alloc(len(value))
	} else if len(value) > 0 {
		a.writes(s.ref-1, chunkHead, len(value))
	}
	s.len = uint32(len(value))
	copy(a.bytes(s), value)
	return s
}

// extend returns the span of the value of s and n more bytes. These and the first
// head bytes may be written. Its cost is that of n and head bytes, amortised.
func (a *arena) extend(s Span, n, head int) Span {
	size := int(s.len) + n
	if size <= a.capacity(s) {
		if s.ref != 0 && a.frozen != nil {
			a.writes(s.ref-1, chunkHead, min(head, size))
			a.writes(s.ref-1, chunkHead+int(s.len), n)
		}
		s.len = uint32(size)
		return s
	}
	longer := a.alloc(max(size, 2*int(s.len)))
	longer.len = uint32(size)
	copy(a.bytes(longer), a.bytes(s))
	a.release(s)
	return longer
}

// worthMoving says whether so much of the arena is free that its values should be
// moved to a new one, and no view needs it.
func (a *arena) worthMoving() bool {
	if a.freed < leastDead || a.freed < a.pages.log.words/2 {
		return false
	}
	if a.frozen != nil {
		a.frozen = a.frozen.alive()
	}
	return a.frozen == nil
}

func (a *arena) memory() int {
	bytes := int(unsafe.Sizeof(*a)) + a.pages.memory() + 4*cap(a.unused)
	if a.free != nil {
		bytes += int(unsafe.Sizeof(*a.free))
	}
	return bytes
}

// memoryOf is what arenas hold together.
func memoryOf(arenas []arena) int {
	bytes := 0
	for i := range arenas {
		bytes += arenas[i].memory()
	}
	return bytes
}
