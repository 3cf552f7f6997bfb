package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/state/memory"
)

// A frozenMap is a map at a freeze.
type frozenMap[UV any] struct {
	desc  written
	plan  *codec.Plan[UV]
	cells *memory.EntriesView[UV]
	blobs *memory.BlobEntriesView
	cold  frozenCold
	life  lifetime

	owners, inner, encoded column
	counts                 []byte
	vals                   []UV
	times                  []byte
	owner                  string // of the entries to come
	owned                  int    // entries of it in the block
	owning                 int    // owners in the block
	entries, size          int
	leaves                 bool // owner is left out
	recent
}

func (s *Map[UK, UV]) freeze(number uint64) frozenTable {
	f := &frozenMap[UV]{desc: written{Descriptor: s.desc, batch: s.cells != nil}, plan: s.plan, life: s.life, cold: s.cold.freeze()}
	f.recent = recent{s.marks.freeze(number), s.entries()}
	if f.life.millis > 0 {
		f.life.tick()
	}
	if s.cells != nil {
		f.cells = s.cells.Freeze(number)
	} else {
		f.blobs = s.blobs.Freeze(number)
	}
	return f
}

func (f *frozenMap[UV]) written() written { return f.desc }

func (f *frozenMap[UV]) changed(group int) uint64 {
	if f.cells != nil {
		return f.cells.Changed(group)
	}
	return f.blobs.Changed(group)
}

func (f *frozenMap[UV]) releaseGroup(group int) {
	if f.cells != nil {
		f.cells.ReleaseGroup(group)
	} else {
		f.blobs.ReleaseGroup(group)
	}
}

func (f *frozenMap[UV]) release() {
	if f.cells != nil {
		f.cells.Release()
	} else {
		f.blobs.Release()
	}
}

func (f *frozenMap[UV]) write(group int, state uint16, w *blockWriter) {
	begin := func(owner string) {
		f.closeOwner()
		f.owner, f.leaves = owner, w.leaves(memory.Key{Bytes: owner}, false, 0)
	}
	if f.cells != nil {
		f.cells.Read(group, &w.buffer, begin, func(inner string, e *memory.Entry[UV]) {
			f.addCell(inner, e.Value, e.At, state, w)
		})
	} else {
		f.blobs.Read(group, &w.buffer, begin, func(inner string, value []byte, at int64) {
			f.addBlob(inner, value, at, state, w)
		})
	}
	f.cold.each(group, w, func(owner memory.Key, value []byte) bool {
		begin(owner.Bytes)
		if f.cells != nil {
			eachColdEntry(value, int(unsafe.Sizeof(*new(UV))), func(inner string, value []byte, at int64) {
				f.addCell(inner, load[UV](value), at, state, w)
			})
		} else {
			eachColdEntry(value, anySize, func(inner string, value []byte, at int64) { f.addBlob(inner, value, at, state, w) })
		}
		f.closeOwner() // whose bytes are gone after this
		return w.err == nil
	})
	f.flush(state, w)
}

func (f *frozenMap[UV]) addCell(inner string, v UV, at int64, state uint16, w *blockWriter) {
	if !f.leaves && !f.life.expired(at) {
		f.vals = append(f.vals, v)
		f.added(inner, at, 0, state, w)
	}
}

func (f *frozenMap[UV]) addBlob(inner string, value []byte, at int64, state uint16, w *blockWriter) {
	if !f.leaves && !f.life.expired(at) {
		f.encoded.add(text(value))
		f.added(inner, at, len(value), state, w)
	}
}

// added adds the inner key of the value that was just added.
func (f *frozenMap[UV]) added(inner string, at int64, size int, state uint16, w *blockWriter) {
	f.inner.add(inner)
	if f.life.millis > 0 {
		f.times = binary.LittleEndian.AppendUint64(f.times, uint64(at))
	}
	f.owned++
	f.entries++
	if f.size += len(inner) + size; f.entries == blockEntries || f.size >= blockBytes {
		f.flush(state, w)
	}
}

// closeOwner ends the entries of the owner in the block.
func (f *frozenMap[UV]) closeOwner() {
	if f.owned > 0 {
		f.owners.add(f.owner)
		f.counts = binary.LittleEndian.AppendUint32(f.counts, uint32(f.owned))
		f.size += len(f.owner)
		f.owned = 0
		f.owning++
	}
}

func (f *frozenMap[UV]) flush(state uint16, w *blockWriter) {
	f.closeOwner()
	if f.entries == 0 {
		return
	}
	buf := binary.LittleEndian.AppendUint32(w.begin(), uint32(f.owning))
	buf = f.inner.appendTo(f.owners.appendTo(append(buf, f.counts...)))
	if f.blobs != nil {
		buf = f.encoded.appendTo(buf)
	} else {
		var err error
		if buf, err = f.plan.Append(buf, f.vals); err != nil {
			w.fail(err)
		}
		f.vals = f.vals[:0]
	}
	w.end(append(buf, f.times...), state, f.entries)
	f.counts, f.times, f.owning, f.entries, f.size = f.counts[:0], f.times[:0], 0, 0, 0
}

// A mapReader reads blocks of a map.
type mapReader[UK comparable, UV any] struct {
	m      *Map[UK, UV]
	from   written
	reader *codec.Reader[UV]
	vals   []UV
	now    int64 // when entries are touched of which it was not written
}

func (s *Map[UK, UV]) restorer(from written) (restorer, error) {
	reader, err := codec.NewReader(from.Value, s.plan)
	if err != nil {
		return nil, err
	}
	r := &mapReader[UK, UV]{m: s, from: from, reader: reader}
	if s.life.millis > 0 {
		r.now = s.life.tick()
	}
	return r.restore, nil
}

func (r *mapReader[UK, UV]) restore(group int, p payload) error {
	c, err := r.columns(&p)
	if err != nil {
		return err
	}
	if r.m.cells != nil {
		r.m.cells.Reserve(group, p.total)
	} else {
		r.m.blobs.Reserve(group, p.total)
	}
	i := 0
	for o := range c.owning {
		n := int(binary.LittleEndian.Uint32(c.counts[o*4:]))
		if n > p.entries-i {
			return errors.New("the entries of owners are more than there are")
		}
		if err := r.m.b.checkKey(memory.Key{Bytes: text(c.owners(o))}, false, true, group); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if p.newer.coversOwner(c.owners(o)) {
			i += n
			continue
		}
		if o == 0 && r.m.cold.groups != nil { // a block before this one may have begun it
			r.m.fetch(&memory.Key{Bytes: text(c.owners(o)), Hash: memory.HashWithin(memory.GroupHash(group, r.m.b.options.Max)<<32, text(c.owners(o)))})
		}
		for range n {
			if err := r.entry(group, c.owners(o), c.inner(i), c.value, i, c.at(i)); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			i++
		}
	}
	if i < p.entries {
		return errors.New("the entries of owners are fewer than there are")
	}
	clear(r.vals)
	return nil
}

// mapColumns are the columns of a block of a map.
type mapColumns struct {
	owning               int    // keys that own entries
	counts               []byte // how many, four bytes each
	owners, inner, value func(i int) []byte
	at                   func(i int) int64 // when an entry was last touched
}

func (r *mapReader[UK, UV]) columns(p *payload) (c mapColumns, err error) {
	head, err := p.take(4)
	if err != nil {
		return c, err
	}
	c.owning = int(binary.LittleEndian.Uint32(head))
	if c.counts, err = p.take(c.owning * 4); err != nil {
		return c, err
	}
	if c.owners, err = p.bytes(c.owning); err != nil {
		return c, err
	}
	if c.inner, err = p.bytes(p.entries); err != nil {
		return c, err
	}
	if c.value, err = r.values(p); err != nil {
		return c, err
	}
	c.at = func(int) int64 { return r.now }
	if r.from.TTL.Duration > 0 {
		times, err := p.numbers(p.entries)
		if err != nil {
			return c, err
		}
		c.at = func(i int) int64 { return int64(times(i)) }
	}
	return c, p.done()
}

// values reads the column of values: decoded ones into vals, and encoded ones as
// what it returns.
func (r *mapReader[UK, UV]) values(p *payload) (encoded func(i int) []byte, err error) {
	if !r.from.batch {
		return p.bytes(p.entries)
	}
	r.vals, p.rest, err = r.reader.Decode(r.vals[:0], p.entries, p.rest)
	return nil, err
}

func (r *mapReader[UK, UV]) entry(group int, owner, inner []byte, encoded func(i int) []byte, i int, at int64) error {
	m := r.m
	m.keyBuf = append(append(m.keyBuf[:0], owner...), inner...)
	if encoded != nil && m.blobs != nil && r.reader.Same() {
		if !m.blobs.Restore(group, text(owner), text(m.keyBuf), encoded(i), at) {
			return errTwice
		}
		return nil
	}
	var v UV
	if encoded == nil {
		v = r.vals[i]
	} else {
		vals, rest, err := r.reader.Decode(m.one[:0], 1, encoded(i))
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return fmt.Errorf("%d bytes are left behind the value", len(rest))
		}
		v = vals[0]
	}
	created := false
	if m.cells != nil {
		var e *memory.Entry[UV]
		e, created = m.cells.Restore(group, text(owner), text(m.keyBuf))
		e.Value, e.At = v, at
	} else {
		created = m.blobs.Restore(group, text(owner), text(m.keyBuf), m.encode(v), at)
	}
	if !created {
		return errTwice
	}
	return nil
}
