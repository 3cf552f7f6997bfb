package operator

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/weirstream/weir/internal/codec"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/spill"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/state/memory"
)

// An overflow keeps a table of partial aggregates within its memory: it moves
// the whole table to disk when that is full, and merges at the end.
//
// On disk the keys are cut into parts by their hash. At the end the parts are
// merged one after the other in the same table; a part that is too large for it
// is moved to disk and cut again, by another hash.
//
// The partial aggregates of a key are merged in the order in which they were
// made, so that Merge need not be commutative.
type overflow[K comparable, A any] struct {
	c     *Context
	table *memory.Table[K, A]
	merge func(acc *A, created bool, other A)
	plan  *codec.Plan[Partial[K, A]]
	hash  *keygroup.Hasher[K]
	limit *limit[K, A]

	buffer int             // bytes a writer gathers
	open   []*spill.Writer // by depth, nil where nothing is on disk; to be discarded
	parts  [parts][]Partial[K, A]
	most   int // records of a part that are gathered

	room []byte // for reading
	vals []Partial[K, A]
	keys []K
}

const (
	// parts is into how many parts the keys of a file are cut.
	parts = 32
	// maxDepth is how often they are cut. Keys that are still together then have
	// one hash, or are so few that cutting them is of no use.
	maxDepth = 6
	// maxBlockBytes is about how long a block may be when accumulators are long.
	maxBlockBytes = 256 << 10
)

// newOverflow makes the overflow of a table. What cannot be encoded is refused
// now, and not when the memory is used up.
func newOverflow[K comparable, A any](c *Context, table *memory.Table[K, A], merge func(acc *A, created bool, other A)) *overflow[K, A] {
	plan, err := codec.For[Partial[K, A]]()
	if err != nil {
		Abort(fmt.Errorf("%s aggregates in batch mode and may have to put its keys and accumulators on disk, but they cannot be encoded: %w", c.Operator, err))
	}
	encode, err := KeyEncoder[K]()
	Check(err)
	hash, err := keygroup.NewHasher(encode)
	Check(err)
	// Three quarters are the table's; the rest is for what is on its way to disk.
	all := budget(c)
	size := int(reflect.TypeFor[Partial[K, A]]().Size()) + 1
	return &overflow[K, A]{
		c: c, table: table, merge: merge, plan: plan, hash: hash, limit: newLimit[K, A](all/4*3, c.managed()),
		buffer: max(64<<10, min(4<<20, all/8)), most: max(16, min(1024, all/(8*parts*size))),
	}
}

// spillIfFull moves the table to disk if it has grown to its limit.
func (v *overflow[K, A]) spillIfFull() {
	if v.limit.reached(v.table) {
		v.spill(0)
	}
}

// spill moves the table to the file of a depth.
func (v *overflow[K, A]) spill(depth int) {
	w := v.writer(depth)
	rows := min(v.most, max(1, maxBlockBytes/(v.limit.each+1)))
	v.table.Range(func(k K, acc *A) bool {
		part := partOf(v.hash.Hash(k), depth)
		if v.parts[part] = append(v.parts[part], Partial[K, A]{k, *acc}); len(v.parts[part]) >= rows {
			v.write(w, part)
		}
		return true
	})
	for part := range v.parts {
		if len(v.parts[part]) > 0 {
			v.write(w, part)
		}
	}
	v.table.Clear()
}

// partOf is the part of a key at a depth. The table looks at the hash as it is,
// so the parts are cut by what is independent of it.
func partOf(hash uint64, depth int) int {
	return int(keygroup.HashInt(hash+uint64(depth)) >> 32 * parts >> 32)
}

// writer gives the file of a depth, which it makes if there is none.
func (v *overflow[K, A]) writer(depth int) *spill.Writer {
	if v.open == nil {
		if v.merge == nil {
			Abort(fmt.Errorf("the keys of %s need more than %d bytes, and its aggregate has no Merge with which they could be put on disk", v.c.Operator, budget(v.c)))
		}
		if v.c.Scratch == nil {
			Abort(fmt.Errorf("the keys of %s need more than %d bytes, and there is no directory for temporary files (io.tmp.dirs)", v.c.Operator, budget(v.c)))
		}
		v.open = make([]*spill.Writer, maxDepth)
		v.c.OnClose(func(bool) {
			for depth := range v.open {
				v.discard(depth)
			}
		})
	}
	if v.open[depth] == nil {
		w, err := spill.NewWriter(v.c.Scratch, fmt.Sprintf("%s-%d-%d", v.c.Operator, v.c.Subtask, depth), parts, v.buffer)
		v.check(err)
		v.open[depth] = w
		v.c.Logger.Info("aggregates are put on disk", "keys", v.table.Len(), "budget", budget(v.c), "depth", depth)
	}
	return v.open[depth]
}

// discard gives the file of a depth back.
func (v *overflow[K, A]) discard(depth int) {
	if w := v.open[depth]; w != nil {
		v.open[depth] = nil
		_ = w.Discard() // what cannot be removed now goes with its directory
	}
}

// write writes what is gathered of a part.
func (v *overflow[K, A]) write(w *spill.Writer, part int) {
	v.c.Signal.Attend()
	dst, err := w.Begin()
	if err == nil {
		dst, err = v.plan.Append(dst, v.parts[part])
	}
	if err == nil {
		err = w.End(part, len(v.parts[part]), dst)
	}
	v.check(err)
	clear(v.parts[part])
	v.parts[part] = v.parts[part][:0]
}

func (v *overflow[K, A]) check(err error) {
	if err != nil {
		Abort(fmt.Errorf("the aggregates of %s on disk: %w", v.c.Operator, err))
	}
}

// finish calls emit once with every key and its whole aggregate.
func (v *overflow[K, A]) finish(emit func(k K, acc *A)) {
	if v.open == nil {
		v.emit(emit)
		return
	}
	v.spill(0)
	v.mergeFile(0, emit)
}

// emit gives out the table and clears it.
func (v *overflow[K, A]) emit(emit func(k K, acc *A)) {
	v.table.Range(func(k K, acc *A) bool {
		emit(k, acc)
		return true
	})
	v.table.Clear()
}

// mergeFile merges the parts of the file of a depth, and discards it. The table
// is empty.
func (v *overflow[K, A]) mergeFile(depth int, emit func(k K, acc *A)) {
	data, err := v.open[depth].Finish()
	v.check(err)
	for part := range parts {
		if v.mergePart(data, part, depth) {
			v.spill(depth + 1)
			v.mergeFile(depth+1, emit)
		} else {
			v.emit(emit)
		}
	}
	v.discard(depth)
}

// mergePart merges a part of the file of a depth into the table, which is
// empty. Deeper says that the table did not hold all of it, and that some is on
// disk again.
func (v *overflow[K, A]) mergePart(data *spill.Data, part, depth int) (deeper bool) {
	r, err := data.Read(shuffle.One(part), v.room)
	v.check(err)
	for {
		v.c.Signal.Attend()
		records, encoded, err := r.Next()
		v.check(err)
		if encoded == nil {
			v.room = r.Room()
			return deeper
		}
		v.check(v.fold(records, encoded))
		if depth+1 < maxDepth && v.table.Len() > 1 && v.limit.reached(v.table) {
			deeper = true
			v.spill(depth + 1)
		}
	}
}

// fold merges a block into the table.
func (v *overflow[K, A]) fold(records int, encoded []byte) error {
	vals, rest, err := v.plan.Decode(v.vals[:0], records, encoded)
	if err == nil && len(rest) > 0 {
		err = errors.New("bytes are left over")
	}
	if err != nil {
		return fmt.Errorf("decode %d partial aggregates: %w", records, err)
	}
	v.keys = v.keys[:0]
	for i := range vals {
		v.keys = append(v.keys, vals[i].Key)
	}
	v.table.UpsertBatch(v.keys, func(i int, acc *A, created bool) { v.merge(acc, created, vals[i].Acc) })
	clear(vals)
	v.vals = vals[:0]
	return nil
}
