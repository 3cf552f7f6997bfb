package memory

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/weirstream/weir/internal/invariant"
)

// The sizes of pages, in words of 8 bytes. The first page of a group is small,
// because most jobs have few keys in many groups; each next one has twice the
// size, up to the size where refs can still count the words of a page. A row
// that is longer than that has a page of its own.
const (
	wordBytes    = 8
	offsetBits   = 13
	minPageWords = 32              // 256 bytes
	maxPageWords = 1 << offsetBits // 64 KiB
	maxPages     = 1<<(32-offsetBits) - 1
)

// pages is the memory of the rows of one key group, in the order in which they
// were added. Rows never move. A ref is the number of a page and the word in it
// where the row begins; the highest page number is unused so that ref+1 is
// never zero. What finding a row does not need is in the log, to keep the key
// groups of a table small enough for the first-level cache.
type pages struct {
	bases []unsafe.Pointer // to arrays of words that hold no pointers
	log   *pageLog         // nil when there are no pages
}

// A pageLog says how full pages are.
//
// Invariant: sizes[i] belongs to bases[i]; pages after current are empty.
type pageLog struct {
	sizes   []pageSize
	current int
	words   int // of all pages
	dead    int // words of rows that were deleted
}

type pageSize struct{ used, words uint32 }

func (s pageSize) fits(words int) bool { return words <= int(s.words-s.used) }

// at returns the row with this ref.
func (p *pages) at(ref uint32) row {
	return row(unsafe.Add(p.bases[ref>>offsetBits], ref&(maxPageWords-1)*wordBytes))
}

// add makes room for a row, which may hold what an earlier row left there.
func (p *pages) add(words int) (ref uint32, r row) {
	if p.log == nil || !p.log.sizes[p.log.current].fits(words) {
		p.next(words)
	}
	size := &p.log.sizes[p.log.current]
	ref = uint32(p.log.current)<<offsetBits | size.used
	size.used += uint32(words)
	return ref, p.at(ref)
}

// next makes current a page with so many free words: the next one that is large
// enough, or a new one.
func (p *pages) next(words int) {
	// Not invariant.Check: its arguments are allocated even when it holds.
	if words > math.MaxInt32/wordBytes {
		invariant.Broken("the bytes of a key and its accumulator, here %d words, fit into 2 GiB", words)
	}
	if p.log == nil {
		p.log = new(pageLog)
	}
	log, last := p.log, 0
	for i := log.current; i < len(log.sizes); i++ {
		if log.sizes[i].fits(words) {
			log.current = i
			return
		}
		last = max(last, int(log.sizes[i].words))
	}
	if len(log.sizes) >= maxPages {
		invariant.Broken("one key group has fewer than %d pages of rows", maxPages)
	}
	size := max(words, min(max(minPageWords, 2*min(last, maxPageWords)), maxPageWords))
	log.current = len(log.sizes)
	log.sizes = append(log.sizes, pageSize{words: uint32(size)})
	log.words += size
	p.bases = append(p.bases, unsafe.Pointer(unsafe.SliceData(make([]uint64, size))))
}

// append adds a page that is one row, whatever its size, and leaves current alone.
func (p *pages) append(base unsafe.Pointer, words int) (page uint32) {
	if p.log == nil {
		p.next(minPageWords)
	}
	if len(p.log.sizes) >= maxPages {
		invariant.Broken("one key group has fewer than %d pages", maxPages)
	}
	p.bases = append(p.bases, base)
	p.log.sizes = append(p.log.sizes, pageSize{used: uint32(words), words: uint32(words)})
	p.log.words += words
	return uint32(len(p.bases) - 1)
}

// replace puts another page that is one row, or none, in the place of one.
func (p *pages) replace(page uint32, base unsafe.Pointer, words int) {
	p.log.words += words - int(p.log.sizes[page].words)
	p.bases[page], p.log.sizes[page] = base, pageSize{used: uint32(words), words: uint32(words)}
}

// extents returns what is used of the pages.
func (p *pages) extents() []extent {
	if p.log == nil {
		return nil
	}
	extents := make([]extent, len(p.bases))
	for i, base := range p.bases {
		extents[i] = extent{base, uintptr(p.log.sizes[i].used) * wordBytes}
	}
	return extents
}

// copied returns pages of which these are copies.
func copied(bases []unsafe.Pointer, extents []extent) pages {
	if len(bases) == 0 {
		return pages{}
	}
	log := &pageLog{sizes: make([]pageSize, len(bases))}
	for i, x := range extents {
		words := uint32(x.bytes / wordBytes)
		log.sizes[i] = pageSize{used: words, words: words}
	}
	return pages{bases: bases, log: log}
}

// clear removes all rows and keeps the pages, except those of a single row.
func (p *pages) clear() {
	if p.log == nil {
		return
	}
	kept := 0
	for i, size := range p.log.sizes {
		if size.words > maxPageWords {
			p.log.words -= int(size.words)
			continue
		}
		p.bases[kept], p.log.sizes[kept] = p.bases[i], pageSize{words: size.words}
		kept++
	}
	if kept == 0 {
		*p = pages{}
		return
	}
	clear(p.bases[kept:])
	p.bases, p.log.sizes, p.log.current, p.log.dead = p.bases[:kept], p.log.sizes[:kept], 0, 0
}

// memory returns the bytes of the pages and of what finds them.
func (p *pages) memory() int {
	if p.log == nil {
		return 0
	}
	return p.log.words*wordBytes + cap(p.bases)*8 + cap(p.log.sizes)*8 + int(unsafe.Sizeof(*p.log))
}

// A row points to the accumulator, or its number among those kept apart, then
// the length of the key in 4 bytes, then the key. It begins on a word and ends
// before one. The uppermost bit of the length is set when the row was deleted.
type row unsafe.Pointer

const dead = 1 << 31

// A rowLayout says where the parts of a row are.
type rowLayout struct {
	apart bool    // accumulators are not in rows, because they hold pointers
	head  uintptr // bytes before the length of the key
}

func layoutOf[V any]() rowLayout {
	var v V
	if holdsPointers(reflect.TypeFor[V]()) {
		return rowLayout{apart: true, head: 4}
	}
	return rowLayout{head: (unsafe.Sizeof(v) + 3) &^ 3}
}

// words returns the size of the row of a key of this length, in words.
func (l rowLayout) words(key int) int {
	return (int(l.head) + 4 + key + wordBytes - 1) / wordBytes
}

// length returns the place of the length of the key of a row.
func (l rowLayout) length(r row) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(r), l.head))
}

// key returns the key of the row, which aliases it. No pointer is made to the
// bytes of an empty key: it could lie behind the page.
func (l rowLayout) key(r row) string {
	n := l.keyLen(r)
	if n == 0 {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(r), l.head+4)), n)
}

// keyLen returns the length of the key of the row, deleted or not.
func (l rowLayout) keyLen(r row) int { return int(*l.length(r) &^ dead) }

// live says whether the row was not deleted.
func (l rowLayout) live(r row) bool { return *l.length(r)&dead == 0 }

// holds says whether the key of the row is this one. Up to 16 bytes are two
// words, or two halves, that overlap where the length is not a multiple.
func (l rowLayout) holds(r row, key string) bool {
	n := len(key)
	if n == 0 || l.keyLen(r) != n {
		return n == l.keyLen(r)
	}
	p, q := unsafe.Add(unsafe.Pointer(r), l.head+4), unsafe.Pointer(unsafe.StringData(key))
	switch {
	case n > 16:
		return unsafe.String((*byte)(p), n) == key
	case n >= 8:
		return load64(p, 0) == load64(q, 0) && load64(p, n-8) == load64(q, n-8)
	case n >= 4:
		return load32(p, 0) == load32(q, 0) && load32(p, n-4) == load32(q, n-4)
	}
	for i := range n {
		if load8(p, i) != load8(q, i) {
			return false
		}
	}
	return true
}

func load64(p unsafe.Pointer, i int) uint64 { return *(*uint64)(unsafe.Add(p, i)) }

func load32(p unsafe.Pointer, i int) uint32 { return *(*uint32)(unsafe.Add(p, i)) }

func load8(p unsafe.Pointer, i int) uint8 { return *(*uint8)(unsafe.Add(p, i)) }

// init writes the key and a zero accumulator into the row.
func (l rowLayout) init(r row, key string) {
	clear(unsafe.Slice((*byte)(r), l.head))
	*l.length(r) = uint32(len(key))
	if len(key) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r), l.head+4)), len(key)), key)
	}
}
