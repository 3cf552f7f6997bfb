package state

import (
	"fmt"
	"io"
	"slices"

	"github.com/weirstream/weir/internal/state/disk"
)

// A Snapshot is the state of a backend at the moment of Freeze. It must be
// released; until then changes to what it has not read yet cost copies.
type Snapshot struct {
	number      uint64
	first, last int
	header      Header
	tables      []frozenTable
	view        disk.Reader // what the tables have on the disk; nil: nothing, or released
}

// A frozenTable is one state of a snapshot.
type frozenTable interface {
	// written says how the values lie in a file.
	written() written
	// changed is that of memory.View.
	changed(group int) uint64
	// history is what is known of changes.
	history() recent
	// write writes the group as blocks of the state of this number.
	write(group int, state uint16, w *blockWriter)
	// releaseGroup gives up a group that is not written, and release all.
	releaseGroup(group int)
	release()
}

// Freeze gives a snapshot of all states. It takes microseconds. Snapshots are
// numbered from 1; 0 is the state as it was restored.
func (b *Backend) Freeze() *Snapshot {
	b.number++
	o := b.options
	s := &Snapshot{number: b.number, first: o.First, last: o.Last}
	if b.disk != nil {
		view, err := b.disk.View()
		if err != nil {
			b.exhausted(err)
		}
		s.view, b.view = view, view
	}
	s.header = Header{Version: fileVersion, Operator: o.Operator, Max: o.Max, Key: b.keySchema}
	for _, t := range b.states {
		f := t.freeze(b.number)
		s.tables = append(s.tables, f)
		s.header.written = append(s.header.written, f.written())
		s.header.States = append(s.header.States, f.written().Descriptor)
	}
	return s
}

// Number returns the number of the snapshot.
func (s *Snapshot) Number() uint64 { return s.number }

// Header returns the header of the file that the snapshot is written to.
func (s *Snapshot) Header() Header { return s.header }

// A Location is where a section of the state of a key group is: a part of a file.
type Location struct {
	Group          int
	File           string
	Offset, Length int64
	Checksum       uint32 // CRC-32C; 0 where it was not written in this process
}

// A Base is an earlier snapshot of the same backend, for what did not change since.
// Locations are in the order of groups, and those of one group from the oldest to the
// newest: the first holds the whole group, the others what changed. A group without
// state has none.
type Base struct {
	Number    uint64
	Locations []Location
}

// Written is what Write wrote. With Number and Locations it is the Base of later
// snapshots.
type Written struct {
	Base
	Bytes  int64 // written to this file
	States []Size
	// Entries is by state how many there are, in this file and others, those included
	// that have expired.
	Entries []int
}

// A Size is the part of one state in a file.
type Size struct {
	Name           string
	Entries, Bytes int64
}

// Write writes the snapshot to w, which becomes the file of this name, and
// releases it group by group. With a base, groups that did not change since are
// not written and keep their locations, and of others, if changes are tracked, only
// what changed is, as one more section. State that has expired is left out. When
// no group has anything to be written, nothing is, and the file is not needed.
func (s *Snapshot) Write(w io.Writer, file string, base *Base) (Written, error) {
	out := Written{Base: Base{Number: s.number}}
	bw := &blockWriter{w: w, header: s.header}
	for i, d := range s.header.States {
		bw.sizes = append(bw.sizes, Size{Name: d.Name})
		out.Entries = append(out.Entries, s.tables[i].history().entries)
	}
	var inFile []Location
	turn := s.renewals(base)
	for group := s.first; group <= s.last; group++ {
		older := base.sections(group)
		whole, changes := s.due(group, base, older, turn[group])
		if !whole && !changes {
			for _, t := range s.tables {
				t.releaseGroup(group)
			}
			out.Locations = append(out.Locations, older...)
			continue
		}
		var l Location
		if changes {
			l = s.writeChanges(group, base.Number, bw)
			out.Locations = append(out.Locations, older...)
		} else {
			l = s.writeGroup(group, bw)
		}
		if bw.err != nil {
			s.Release()
			return Written{}, fmt.Errorf("write key group %d of operator %s to %s at offset %d: %w", group, s.header.Operator, file, bw.off, bw.err)
		}
		if l.File = file; l.Length > 0 {
			inFile, out.Locations = append(inFile, l), append(out.Locations, l)
		}
	}
	if bw.off > 0 {
		bw.write(appendIndex(bw.buf[:0], bw.off, inFile, bw.sizes))
	}
	s.Release()
	if bw.err != nil {
		return Written{}, fmt.Errorf("write the index of operator %s to %s at offset %d: %w", s.header.Operator, file, bw.off, bw.err)
	}
	out.Bytes, out.States = bw.off, bw.sizes
	return out, nil
}

// sections returns the locations of a group.
func (b *Base) sections(group int) []Location {
	if b == nil {
		return nil
	}
	compare := func(l Location, group int) int { return l.Group - group }
	from, _ := slices.BinarySearchFunc(b.Locations, group, compare)
	to, _ := slices.BinarySearchFunc(b.Locations, group+1, compare)
	return b.Locations[from:to]
}

// A group is written whole when its sections of changes have the size of the whole one
// or are mostChanges. So that this happens to few groups at a time, each snapshot
// renews one group in renewedEvery of those that have leastChanges, the longest first.
// So reading a group back takes twice as long at most, but for the files to be opened,
// and with one key of a hundred changed each time a snapshot is a few bytes of a
// hundred every time.
const (
	leastChanges = 16
	mostChanges  = 64
	renewedEvery = 32
)

// changed says whether a group has changed since a snapshot.
func (s *Snapshot) changed(group int, base *Base) bool {
	return slices.ContainsFunc(s.tables, func(t frozenTable) bool { return t.changed(group) > base.Number })
}

// renewals gives the groups that are written whole because it is their turn.
func (s *Snapshot) renewals(base *Base) map[int]bool {
	var long []int
	for group := s.first; group <= s.last; group++ {
		if len(base.sections(group)) > leastChanges && s.changed(group, base) {
			long = append(long, group)
		}
	}
	slices.SortStableFunc(long, func(a, b int) int { return len(base.sections(b)) - len(base.sections(a)) })
	turn := map[int]bool{}
	for _, group := range long[:min(len(long), (s.last-s.first)/renewedEvery+1)] {
		turn[group] = true
	}
	return turn
}

// due says whether a group, of which these are the sections, is to be written, and
// whether whole, as when it is its turn, or only what changed.
func (s *Snapshot) due(group int, base *Base, older []Location, turn bool) (whole, changes bool) {
	if base == nil {
		return true, false
	}
	changed := s.changed(group, base)
	if !changed || len(older) == 0 || len(older) > mostChanges || turn {
		return changed, false
	}
	var bytes int64
	for _, l := range older[1:] {
		bytes += l.Length
	}
	if bytes > older[0].Length {
		return true, false
	}
	for _, t := range s.tables {
		filters, known := t.history().since(base.Number, group-s.first)
		if !known {
			return true, false
		}
		_, sliced := t.(slicedTable)
		changes = changes || len(filters) > 0 || sliced && t.changed(group) > base.Number
	}
	return false, changes
}

// A slicedTable is a frozenTable of which parts go away as a whole.
type slicedTable interface {
	appendKept(dst []byte, base uint64) []byte
}

// writeGroup writes the blocks of a group. A group without state takes nothing.
func (s *Snapshot) writeGroup(group int, w *blockWriter) Location {
	w.group, w.begun, w.blocks, w.changes = group, -1, 0, false
	for i, t := range s.tables {
		t.write(group, uint16(i), w)
	}
	return w.endGroup()
}

// writeChanges writes what may have changed of a group since a snapshot.
func (s *Snapshot) writeChanges(group int, base uint64, w *blockWriter) Location {
	w.group, w.begun, w.blocks, w.changes, w.base = group, -1, 0, true, base
	all := make([][]*filter, len(s.tables))
	for i, t := range s.tables {
		all[i], _ = t.history().since(base, group-s.first)
		sliced, is := t.(slicedTable)
		if len(all[i]) == 0 && !is {
			continue
		}
		buf := appendFilters(w.begin(), all[i])
		if is {
			buf = sliced.appendKept(buf, base)
		}
		w.block(buf, filterState, i)
	}
	for i, t := range s.tables {
		if w.only = all[i]; len(w.only) > 0 {
			t.write(group, uint16(i), w)
		} else {
			t.releaseGroup(group)
		}
	}
	w.only = nil
	return w.endGroup()
}

// endGroup ends the blocks of a group, if there are any.
func (w *blockWriter) endGroup() Location {
	if w.begun < 0 {
		return Location{Group: w.group}
	}
	w.emit(w.begin(), endState, w.blocks)
	return Location{Group: w.group, Offset: w.begun, Length: w.off - w.begun, Checksum: w.sum}
}

// Release gives the snapshot up, written or not. It may be called twice.
func (s *Snapshot) Release() {
	for _, t := range s.tables {
		t.release()
	}
	if s.view != nil {
		_ = s.view.Close() // nothing is written to it
		s.view = nil
	}
}
