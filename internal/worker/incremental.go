package worker

import (
	"fmt"
	"slices"
	"sync"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/state"
)

// bases are what the attempt's parts of earlier checkpoints consist of, on which later
// ones may be based. Which one, the JobMaster says: it keeps the files. From any
// goroutine.
type bases struct {
	mu  sync.Mutex
	all map[ident.OperatorID][]*base // in the order of the checkpoints
}

// A base is the keyed state of one operator in one checkpoint.
type base struct {
	checkpoint int64
	state.Base
	files []snapshot.KeyedFile // that the locations are in
	sizes []snapshot.StateInfo // of the states
}

// find gives the part of a checkpoint, and forgets those of older ones: what later
// ones are based on is never older. It is nil if the attempt has none.
func (b *bases) find(op ident.OperatorID, checkpoint int64) *base {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.DeleteFunc(b.all[op], func(one *base) bool { return one.checkpoint < checkpoint })
	b.all[op] = all
	if len(all) == 0 || all[0].checkpoint != checkpoint {
		return nil
	}
	return all[0]
}

// add notes a part.
func (b *bases) add(op ident.OperatorID, one *base) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all[op]
	at, _ := slices.BinarySearchFunc(all, one.checkpoint, func(o *base, id int64) int { return int(o.checkpoint - id) })
	b.all[op] = slices.Insert(all, at, one)
}

// sectionsOf describes the sections that locations name, in files of which some are
// older: it gives those that are needed, and the sections.
func sectionsOf(locations []state.Location, files []snapshot.KeyedFile) (used []snapshot.KeyedFile, sections []snapshot.Section) {
	places := map[string]int{} // in used; looked up, never ranged
	for _, l := range locations {
		at, known := places[l.File]
		if !known {
			i := slices.IndexFunc(files, func(f snapshot.KeyedFile) bool { return f.Name == l.File })
			at = len(used)
			places[l.File] = at
			used = append(used, files[i])
		}
		sections = append(sections, snapshot.Section{Group: l.Group, File: at, Offset: l.Offset, Length: l.Length, Checksum: l.Checksum})
	}
	return used, sections
}

// locationsOf is the reverse of sectionsOf.
func locationsOf(k snapshot.KeyedState) []state.Location {
	all := make([]state.Location, len(k.Sections))
	for i, s := range k.Sections {
		all[i] = state.Location{Group: s.Group, File: k.Files[s.File].Name, Offset: s.Offset, Length: s.Length, Checksum: s.Checksum}
	}
	return all
}

// restoredBase makes what an operator was restored from a base. It is nil when
// something of it cannot be one: parts without sections, or with state that the
// operator has no more, which must not come back with a later program.
func restoredBase(checkpoint int64, parts []snapshot.KeyedState, b *state.Backend) *base {
	all := &base{checkpoint: checkpoint}
	for _, k := range parts {
		if len(k.Sections) == 0 || k.Key != string(b.KeySchema()) {
			return nil
		}
		for _, info := range k.States {
			if !slices.ContainsFunc(b.Descriptors(), func(d state.Descriptor) bool { return d.Name == info.Name }) {
				return nil
			}
			all.sizes = append(all.sizes, info)
		}
		for _, f := range k.Files {
			if i := slices.IndexFunc(all.files, func(o snapshot.KeyedFile) bool { return o.Name == f.Name }); i < 0 {
				all.files = append(all.files, f)
			}
		}
		all.Locations = append(all.Locations, locationsOf(k)...)
	}
	slices.SortStableFunc(all.Locations, func(a, b state.Location) int { return a.Group - b.Group })
	return all
}

// bytesOf estimates how many bytes of a state are in the sections of a checkpoint:
// those that were written for it, and of the others a share of what there was.
func (b *base) bytesOf(name string, kept int64) int64 {
	if b == nil {
		return 0
	}
	var all, state int64
	for _, l := range b.Locations {
		all += l.Length
	}
	for _, info := range b.sizes {
		if info.Name == name {
			state += info.Bytes
		}
	}
	return int64(float64(state) * float64(kept) / float64(max(all, 1)))
}

// shared is the file of keyed state that later checkpoints may refer to: no other
// attempt writes it.
func (c *checkpoints) shared(o *pb.CheckpointOptions, op ident.OperatorID, checkpoint int64) fs.Location {
	return fs.Location(o.Shared).Join(fmt.Sprintf("%s-%d-%d-%d", op, c.attempt.Subtask, c.attempt.Attempt, checkpoint))
}
