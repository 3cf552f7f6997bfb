package state

import (
	"fmt"
	"io"
	"slices"
)

// A Snapshot is the state of a backend at the moment of Freeze. It must be
// released; until then changes to what it has not read yet cost copies.
type Snapshot struct {
	number      uint64
	first, last int
	header      Header
	tables      []frozenTable
}

// A frozenTable is one state of a snapshot.
type frozenTable interface {
	// written says how the values lie in a file.
	written() written
	// changed is that of memory.View.
	changed(group int) uint64
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

// A Location is where the state of a key group is: a part of a file.
type Location struct {
	Group          int
	File           string
	Offset, Length int64
}

// A Base is an earlier snapshot of the same backend, for groups that did not
// change since. Locations are in the order of groups; a group without state has
// none.
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
}

// A Size is the part of one state in a file.
type Size struct {
	Name           string
	Entries, Bytes int64
}

// Changed returns the key groups that Write would write with this base: those that
// changed since, or all if it is nil.
func (s *Snapshot) Changed(base *Base) []int {
	var groups []int
	for group := s.first; group <= s.last; group++ {
		changed := base == nil
		for _, t := range s.tables {
			changed = changed || t.changed(group) > base.Number
		}
		if changed {
			groups = append(groups, group)
		}
	}
	return groups
}

// Write writes the snapshot to w, which becomes the file of this name, and
// releases it group by group. With a base, groups that did not change since are
// not written and keep their locations. State that has expired is left out. When
// no group has anything to be written, nothing is, and the file is not needed.
func (s *Snapshot) Write(w io.Writer, file string, base *Base) (Written, error) {
	out := Written{Base: Base{Number: s.number}}
	bw := &blockWriter{w: w, header: s.header}
	for _, d := range s.header.States {
		bw.sizes = append(bw.sizes, Size{Name: d.Name})
	}
	var inFile []Location
	changed := s.Changed(base)
	for group := s.first; group <= s.last; group++ {
		if _, ok := slices.BinarySearch(changed, group); !ok {
			for _, t := range s.tables {
				t.releaseGroup(group)
			}
		}
	}
	for _, group := range changed {
		l := s.writeGroup(group, bw)
		if bw.err != nil {
			s.Release()
			return Written{}, fmt.Errorf("write key group %d of operator %s to %s at offset %d: %w", group, s.header.Operator, file, bw.off, bw.err)
		}
		if l.File = file; l.Length > 0 {
			inFile = append(inFile, l)
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
	out.Locations = merge(base, changed, inFile)
	return out, nil
}

// merge returns the locations of the groups that were written and of those of base
// that did not change.
func merge(base *Base, changed []int, inFile []Location) []Location {
	var all []Location
	if base != nil {
		for _, l := range base.Locations {
			for len(changed) > 0 && changed[0] < l.Group {
				changed = changed[1:]
			}
			if len(changed) > 0 && changed[0] == l.Group {
				continue
			}
			for len(inFile) > 0 && inFile[0].Group < l.Group {
				all, inFile = append(all, inFile[0]), inFile[1:]
			}
			all = append(all, l)
		}
	}
	return append(all, inFile...)
}

// writeGroup writes the blocks of a group. A group without state takes nothing.
func (s *Snapshot) writeGroup(group int, w *blockWriter) Location {
	w.group, w.begun, w.blocks = group, -1, 0
	for i, t := range s.tables {
		t.write(group, uint16(i), w)
	}
	if w.begun < 0 {
		return Location{Group: group}
	}
	w.emit(w.begin(), endState, w.blocks)
	return Location{Group: group, Offset: w.begun, Length: w.off - w.begun}
}

// Release gives the snapshot up, written or not. It may be called twice.
func (s *Snapshot) Release() {
	for _, t := range s.tables {
		t.release()
	}
}
