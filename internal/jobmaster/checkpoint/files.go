package checkpoint

import (
	"iter"
	"slices"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
)

// files counts who refers to each file. One that nobody refers to any more may
// be deleted, unless it is foreign: of a savepoint that a person owns.
type files struct {
	references map[fs.Location]int
	foreign    map[fs.Location]bool // files, and directories of such savepoints
}

func newFiles() files {
	return files{references: map[fs.Location]int{}, foreign: map[fs.Location]bool{}}
}

// locations gives the files among handles, each once, in order.
func locations(handles iter.Seq[snapshot.Handle]) []fs.Location {
	var all []fs.Location
	for h := range handles {
		if h.Location != "" {
			all = append(all, h.Location)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hold adds a reference to each file.
func (f *files) hold(all []fs.Location) {
	for _, l := range all {
		f.references[l]++
	}
}

// release takes a reference from each file, and gives those that may now be
// deleted.
func (f *files) release(all []fs.Location) []fs.Location {
	for _, l := range all {
		if f.references[l]--; f.references[l] <= 0 {
			delete(f.references, l)
		}
	}
	return f.free(all)
}

// free gives those files that nobody refers to and that may be deleted.
func (f *files) free(all []fs.Location) []fs.Location {
	var free []fs.Location
	for _, l := range all {
		if f.references[l] == 0 && !f.isForeign(l) {
			free = append(free, l)
		}
	}
	slices.Sort(free)
	return slices.Compact(free)
}

// disown leaves files, or all below a directory, to a person.
func (f *files) disown(all ...fs.Location) {
	for _, l := range all {
		f.foreign[l] = true
	}
}

func (f *files) isForeign(l fs.Location) bool {
	for at := l; !f.foreign[at]; at = at.Parent() {
		if at == at.Parent() {
			return false
		}
	}
	return true
}

// heldBelow reports whether there is a file below dir that must stay.
func (f *files) heldBelow(dir fs.Location) bool {
	for l := range f.references { // order: whether there is one
		if _, below := l.Under(dir); below {
			return true
		}
	}
	for l := range f.foreign { // order: whether there is one
		if _, below := l.Under(dir); below || l == dir {
			return true
		}
	}
	return false
}

// A discard is under way. checkpoint is the one that was unstored; 0: none.
type discard struct {
	id         DiscardID
	checkpoint int64
}

// discard deletes files that are free, and the directory tree unless somebody
// refers to a file in it; unstore is the checkpoint to take out of the store, 0:
// none.
func (c *Coordinator) discard(unstore int64, metadata fs.Location, free []fs.Location, tree fs.Location) {
	if tree != "" {
		if c.files.heldBelow(tree) {
			tree = ""
		} else {
			free = slices.DeleteFunc(free, func(l fs.Location) bool { _, below := l.Under(tree); return below })
		}
	}
	if unstore == 0 && metadata == "" && len(free) == 0 && tree == "" {
		return
	}
	c.due++
	c.discarded++
	c.discards = append(c.discards, discard{c.discarded, unstore})
	c.emit(Discard{ID: c.discarded, Unstore: unstore, Metadata: metadata, Files: free, Tree: tree})
}
