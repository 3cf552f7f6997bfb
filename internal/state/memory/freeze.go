package memory

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// imageBytes is the unit in which memory is kept before it changes. It is small,
// so that a batch of updates spread over all of a table keeps little.
const imageBytes = 4 << 10

type image [imageBytes]byte

// images are recycled, as fresh memory costs several times as much as warm.
var images = sync.Pool{New: func() any { return new(image) }}

// passed stands for the image of a page that the view needs no more.
var passed = new(image)

// An extent is memory without pointers, as much of it as was used at a freeze.
type extent struct {
	base  unsafe.Pointer
	bytes uintptr
}

// A frozen is the memory of one key group as it was at a freeze. The table goes on
// writing to that memory; before it changes a page for the first time it keeps an
// image of it here. The goroutine of the view takes a copy of everything, images
// where there are any, and then nothing has to be kept any more.
//
// What the table does not write to again, since it has moved on to other memory,
// it simply forgets: the frozen still refers to it.
type frozen struct {
	older   *frozen  // of the same group, not done when this one was made
	extents []extent // never changes
	done    atomic.Bool

	// mu is held while a page is kept and while some are copied, which takes tens
	// of microseconds. kept is written by the table's goroutine alone, with mu
	// held, so that this goroutine may read it without.
	mu   sync.Mutex
	kept [][]*image // by extent and page; nil: the page is unchanged
	next progress   // pages before it were taken
}

// A progress is a page of an extent.
type progress struct{ extent, page int }

// unchanged is in the place of the frozen of a group that no view needs, while the
// group has not been written to: the first write shall be announced.
var unchanged = func() *frozen {
	f := new(frozen)
	f.done.Store(true)
	return f
}()

// alive returns f or the newest older one that still needs images.
func (f *frozen) alive() *frozen {
	for f != nil && f.done.Load() {
		f = f.older
	}
	if f != nil {
		f.older = f.older.alive()
	}
	return f
}

// keep makes sure that n bytes at off of an extent can change, for all freezes of
// the group.
func (f *frozen) keep(extent int, off, n uintptr) {
	for ; f != nil; f = f.older {
		if extent >= len(f.extents) || off >= f.extents[extent].bytes || f.done.Load() {
			continue
		}
		end := min(off+n, f.extents[extent].bytes)
		for page := off / imageBytes; page*imageBytes < end; page++ {
			if f.kept == nil || f.kept[extent] == nil || f.kept[extent][page] == nil {
				f.keepPage(extent, int(page))
			}
		}
	}
}

func (f *frozen) keepPage(extent, page int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = make([][]*image, len(f.extents))
	}
	x := f.extents[extent]
	if f.kept[extent] == nil {
		f.kept[extent] = make([]*image, (x.bytes+imageBytes-1)/imageBytes)
	}
	if f.done.Load() || extent < f.next.extent || extent == f.next.extent && page < f.next.page {
		f.kept[extent][page] = passed
		return
	}
	from := uintptr(page) * imageBytes
	kept := images.Get().(*image)
	copy(kept[:], unsafe.Slice((*byte)(unsafe.Add(x.base, from)), min(imageBytes, x.bytes-from)))
	f.kept[extent][page] = kept
}

// takeBytes is how much is copied while the table's goroutine may have to wait.
const takeBytes = 64 * imageBytes

// take copies all extents to the buffer, as they were at the freeze, and releases
// f. It is called by the goroutine of the view.
func (f *frozen) take(b *Buffer) []unsafe.Pointer {
	bases := make([]unsafe.Pointer, len(f.extents))
	for i, x := range f.extents {
		if x.bytes == 0 {
			continue
		}
		bases[i] = b.next(x.bytes)
		to := unsafe.Slice((*byte)(bases[i]), x.bytes)
		for from := uintptr(0); from < x.bytes; from += takeBytes {
			f.takeSome(i, from, to[from:min(from+takeBytes, x.bytes)])
		}
	}
	f.release()
	return bases
}

// takeSome copies len(to) bytes of an extent.
func (f *frozen) takeSome(extent int, from uintptr, to []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	live := unsafe.Slice((*byte)(unsafe.Add(f.extents[extent].base, from)), len(to))
	first := int(from / imageBytes)
	pages := (len(to) + imageBytes - 1) / imageBytes
	f.next = progress{extent, first + pages}
	if f.kept == nil || f.kept[extent] == nil {
		copy(to, live)
		return
	}
	for i := range pages {
		start, end := i*imageBytes, min((i+1)*imageBytes, len(to))
		if kept := f.kept[extent][first+i]; kept != nil {
			copy(to[start:end], kept[:])
		} else {
			copy(to[start:end], live[start:end])
		}
	}
}

// release says that nothing has to be kept any more.
func (f *frozen) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done.Swap(true) {
		return
	}
	for _, pages := range f.kept {
		for _, kept := range pages {
			if kept != nil && kept != passed {
				images.Put(kept)
			}
		}
	}
}

// A Buffer is the memory to which groups of a view are copied. What was read with
// it is valid until it is used again. One goroutine owns it.
type Buffer struct {
	words []uint64
	used  int
	total int // words that were asked for since the last reset
}

// reset gives all memory back, and makes as much as was used.
func (b *Buffer) reset() {
	if b.total > len(b.words) {
		b.words = make([]uint64, b.total+b.total/8)
	}
	b.used, b.total = 0, 0
}

// next returns memory of n bytes, which holds anything.
func (b *Buffer) next(n uintptr) unsafe.Pointer {
	words := int(n+wordBytes-1) / wordBytes
	b.total += words
	if len(b.words)-b.used < words {
		b.words, b.used = make([]uint64, max(words, 2*len(b.words))), 0
	}
	p := unsafe.Pointer(&b.words[b.used])
	b.used += words
	return p
}

// changes tells which groups of a table were written to since which freeze.
type changes struct {
	number uint64   // of the newest freeze
	last   []uint64 // by group: 1 + the number of the newest freeze before its last change; 0: none
}

// mark notes a change of a group.
func (c *changes) mark(index int) { c.last[index] = c.number + 1 }
