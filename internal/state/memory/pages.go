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
// never zero.
//
// Invariant: pages after list[current] are empty.
type pages struct {
	list    []page
	current int
	bytes   int // of the list and of what it points to
}

// A page points to memory that holds no pointers.
type page struct {
	base       unsafe.Pointer // to an array of words
	used, size uint32         // in words
}

// at returns the row with this ref.
func (p *pages) at(ref uint32) row {
	return row(unsafe.Add(p.list[ref>>offsetBits].base, ref&(maxPageWords-1)*wordBytes))
}

// add makes room for a row, which may hold what an earlier row left there.
func (p *pages) add(words int) (ref uint32, r row) {
	if p.current == len(p.list) || words > int(p.list[p.current].size-p.list[p.current].used) {
		p.next(words)
	}
	pg := &p.list[p.current]
	at := pg.used
	pg.used += uint32(words)
	return uint32(p.current)<<offsetBits | at, row(unsafe.Add(pg.base, at*wordBytes))
}

// next makes current a page with so many free words: the next one that is large
// enough, or a new one.
func (p *pages) next(words int) {
	// Not invariant.Check: its arguments are allocated even when it holds.
	if words > math.MaxUint32/wordBytes {
		invariant.Broken("the bytes of a key and its accumulator, here %d words, fit into 4 GiB", words)
	}
	last := 0
	for i := p.current; i < len(p.list); i++ {
		if pg := p.list[i]; words <= int(pg.size-pg.used) {
			p.current = i
			return
		}
		last = int(p.list[i].size)
	}
	if len(p.list) >= maxPages {
		invariant.Broken("one key group has fewer than %d pages of rows", maxPages)
	}
	size := max(words, min(max(minPageWords, 2*last), maxPageWords))
	p.bytes -= cap(p.list) * int(unsafe.Sizeof(page{}))
	p.current = len(p.list)
	p.list = append(p.list, page{base: unsafe.Pointer(unsafe.SliceData(make([]uint64, size))), size: uint32(size)})
	p.bytes += cap(p.list)*int(unsafe.Sizeof(page{})) + size*wordBytes
}

// clear removes all rows and keeps the pages, except those of a single row.
func (p *pages) clear() {
	kept := p.list[:0]
	for _, pg := range p.list {
		if pg.size > maxPageWords {
			p.bytes -= int(pg.size) * wordBytes
			continue
		}
		pg.used = 0
		kept = append(kept, pg)
	}
	clear(p.list[len(kept):])
	p.list, p.current = kept, 0
}

// A row points to the accumulator, or its number among those kept apart, then
// the length of the key in 4 bytes, then the key. It begins on a word and ends
// before one.
type row unsafe.Pointer

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

// words returns the size of the row of this key, in words.
func (l rowLayout) words(key string) int {
	return (int(l.head) + 4 + len(key) + wordBytes - 1) / wordBytes
}

// key returns the key of the row, which aliases it. No pointer is made to the
// bytes of an empty key: it could lie behind the page.
func (l rowLayout) key(r row) string {
	n := *(*uint32)(unsafe.Add(unsafe.Pointer(r), l.head))
	if n == 0 {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(r), l.head+4)), int(n))
}

// init writes the key and a zero accumulator into the row.
func (l rowLayout) init(r row, key string) {
	clear(unsafe.Slice((*byte)(r), l.head))
	*(*uint32)(unsafe.Add(unsafe.Pointer(r), l.head)) = uint32(len(key))
	if len(key) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r), l.head+4)), len(key)), key)
	}
}
