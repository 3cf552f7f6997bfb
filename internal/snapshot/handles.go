package snapshot

import (
	"iter"

	"github.com/weirstream/weir/internal/fs"
)

// MetadataName is the name of a snapshot's last file: without it there is no
// snapshot.
const MetadataName = "_metadata"

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
// more than once.
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
		for _, channels := range [][]ChannelState{s.Inputs, s.Outputs} {
			for _, c := range channels {
				if !yield(c.File) {
					return
				}
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
