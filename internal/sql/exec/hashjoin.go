package exec

import (
	"github.com/weirstream/weir/batch"
)

// hashJoin finds matches in a table of the build rows. When that is as large as it may
// be, the rows of both sides are cut into parts by the hash of their keys, on disk, and
// joined part by part at the end; a part that is too large is cut again.
type hashJoin struct {
	*joined
	disk   *disk
	memory int
	depth  int

	buildKeys, probeKeys *keyer
	held                 *batch.Columns
	table                *table
	first                []int32 // by key: one more than its last row
	next                 []int32 // by row: one more than the row before of the same key
	marks                batch.Bitmap
	numbers              []int32 // scratch: of the keys of probe rows

	// some and null say of a NullAware join that there are build rows, and one with NULL.
	some, null bool

	builds, probes *file // by part; nil: all is in memory
	picked         [parts][]int32
}

func newHashJoin(j *joined, d *disk, memory int) *hashJoin {
	buildKeys, probeKeys := j.node.RightKeys, j.node.LeftKeys
	if j.node.BuildLeft {
		buildKeys, probeKeys = probeKeys, buildKeys
	}
	h := &hashJoin{joined: j, disk: d, memory: min(memory, 1<<30)}
	h.buildKeys = newKeyer(buildKeys, j.buildSchema(), comparing, j.node.NullSafe)
	h.probeKeys = newKeyer(probeKeys, j.probeSchema(), comparing, j.node.NullSafe)
	if h.buildKeys.packed != h.probeKeys.packed || h.buildKeys.packed && !samePlaces(h.buildKeys, h.probeKeys) {
		h.buildKeys.packed, h.probeKeys.packed = false, false
	}
	h.reset()
	return h
}

// samePlaces reports whether two keyers put their columns alike.
func samePlaces(a, b *keyer) bool {
	for i := range a.places {
		if a.places[i] != b.places[i] {
			return false
		}
	}
	return a.nulls == b.nulls
}

// reset makes the table empty.
func (h *hashJoin) reset() {
	h.held, h.table = newBatch(h.buildSchema()), newTable(h.buildKeys)
	h.first, h.next, h.marks = nil, nil, nil
}

// build adds build rows to the table.
func (h *hashJoin) build(b *batch.Columns) {
	h.buildKeys.of(b)
	if h.node.NullAware {
		h.some = h.some || b.Len() > 0
		key := b.Cols[h.buildKeys.columns[0]]
		for r := range b.Len() {
			h.null = h.null || key.IsNull(at(b.Sel, r))
		}
	}
	if h.builds != nil {
		h.builds.split(b, h.buildKeys.hashes, h.depth, &h.picked)
		return
	}
	from := h.held.N
	addRows(h.held, b, nil)
	h.next = grown(h.next, h.held.N)
	h.table.near += h.table.touch(h.buildKeys)
	for r, valid := range h.buildKeys.valid {
		if !valid {
			continue
		}
		number, created := h.table.add(h.buildKeys, r)
		if created {
			h.first = append(h.first, 0)
		}
		h.next[from+r] = h.first[number]
		h.first[number] = int32(from + r + 1)
	}
	if h.depth < maxDepth && bytesOf(h.held)+h.table.size()+4*(cap(h.first)+cap(h.next)) > h.memory/2 {
		h.spill()
	}
}

// spill moves the build rows to disk.
func (h *hashJoin) spill() {
	h.builds, h.probes = h.disk.create(parts, shape(h.buildSchema())), h.disk.create(parts, shape(h.probeSchema()))
	held := h.held
	h.reset()
	for from := 0; from < held.N; from += batch.MaxRows {
		b := part(held, from, min(held.N, from+batch.MaxRows))
		h.buildKeys.of(b)
		h.builds.split(b, h.buildKeys.hashes, h.depth, &h.picked)
	}
}

// probe finds the matches of probe rows, or puts them on disk beside the build rows.
func (h *hashJoin) probe(b *batch.Columns) {
	h.probeKeys.of(b)
	if h.probes != nil {
		h.probes.split(b, h.probeKeys.hashes, h.depth, &h.picked)
		return
	}
	h.match(b)
}

// match finds the matches of rows whose keys have been made.
func (h *hashJoin) match(b *batch.Columns) {
	if h.marks == nil && h.marksBuild() {
		h.marks = batch.NewBitmap(h.held.N)
	}
	h.begin(b)
	firstOnly := h.firstOnly()
	h.numbers = h.table.find(h.probeKeys, h.numbers)
	for r, number := range h.numbers {
		if number < 0 {
			continue
		}
		row := at(b.Sel, r)
		if firstOnly {
			h.matched[row] = true
			continue
		}
		for k := h.first[number]; k != 0; k = h.next[k-1] {
			h.probeRows, h.buildRows = append(h.probeRows, int32(row)), append(h.buildRows, k-1)
			if len(h.probeRows) >= batch.MaxRows {
				h.flush(h.held, h.marks, 0)
			}
		}
	}
	h.flush(h.held, h.marks, 0)
	if h.node.NullAware {
		h.unknown(b)
	}
	h.end()
}

// unknown lets probe rows count as matched of which nobody can say that they are not.
func (h *hashJoin) unknown(b *batch.Columns) {
	key := b.Cols[h.probeKeys.columns[0]]
	for r := range b.Len() {
		if row := at(b.Sel, r); h.null || h.some && key.IsNull(row) {
			h.matched[row] = true
		}
	}
}

func (h *hashJoin) finish() {
	if h.builds == nil {
		h.endTable()
		return
	}
	h.joinParts()
}

// endTable gives what is to be given of the build rows in the table.
func (h *hashJoin) endTable() {
	if h.marksBuild() {
		if h.marks == nil {
			h.marks = batch.NewBitmap(h.held.N)
		}
		h.endBuild(h.held, h.marks, 0)
	}
	h.reset()
}

// joinParts joins the files of the depth part by part. The table is empty.
func (h *hashJoin) joinParts() {
	builds, probes := h.builds, h.probes
	builds.finish()
	probes.finish()
	h.depth++
	for p := range parts {
		h.builds, h.probes = nil, nil
		if probes.rows[p] == 0 && !h.marksBuild() {
			continue
		}
		builds.each(p, h.build)
		probes.each(p, h.probe)
		h.finish()
	}
	h.depth--
	builds.discard()
	probes.discard()
}
