package snapshot

import (
	"bytes"
	"iter"

	"github.com/weirstream/weir/internal/fs"
)

// MetadataName is the name of a snapshot's last file: without it there is no
// snapshot.
const MetadataName = "_metadata"

// same reports whether two handles are of the same bytes.
func (h Handle) same(o Handle) bool {
	return h.Location == o.Location && h.Length == o.Length && h.Checksum == o.Checksum && bytes.Equal(h.Inline, o.Inline)
}

// Handles gives all files and inline bytes of the snapshot, each location once.
func (m *Metadata) Handles() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		seen := map[fs.Location]bool{} // looked up, never ranged
		for i := range m.Operators {
			for h := range m.Operators[i].handles() {
				if h.IsZero() || seen[h.Location] {
					continue
				}
				seen[h.Location] = h.Location != ""
				if !yield(h) {
					return
				}
			}
		}
	}
}

func (o *OperatorState) handles() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		if !yield(o.Coordinator) {
			return
		}
		for i := range o.Subtasks {
			for h := range o.Subtasks[i].Handles() {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// Handles gives all files and inline bytes of the subtask's state, some perhaps
// more than once; but once what neighbouring channels have in common.
func (s *SubtaskState) Handles() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		for _, k := range s.Keyed {
			for _, f := range k.Files {
				if !yield(f.Handle) {
					return
				}
			}
		}
		for _, l := range s.Lists {
			if !yield(l.File) {
				return
			}
		}
		var last Handle
		for _, channels := range [][]ChannelState{s.Inputs, s.Outputs} {
			for _, c := range channels {
				if !c.File.same(last) && !yield(c.File) {
					return
				}
				last = c.File
			}
		}
	}
}

// Size is the sum of all bytes the snapshot refers to.
func (m *Metadata) Size() int64 {
	var sum int64
	for h := range m.Handles() {
		sum += h.Length
	}
	return sum
}
