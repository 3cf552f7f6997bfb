package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
)

// mergeJoin sorts both sides by their keys and walks through both, holding the build rows
// of one key.
type mergeJoin struct {
	*joined
	builds, probes       *sorter
	buildKeys, probeKeys *keyer
	buildAt, probeAt     []int // the keys' columns

	sorted iterator // build rows
	rows   *batch.Columns
	next   int            // of rows
	group  *batch.Columns // build rows of one key; empty: there are none left
	marks  batch.Bitmap
}

func newMergeJoin(j *joined, d *disk, memory int) *mergeJoin {
	m := &mergeJoin{joined: j, buildAt: j.node.RightKeys, probeAt: j.node.LeftKeys}
	if j.node.BuildLeft {
		m.buildAt, m.probeAt = m.probeAt, m.buildAt
	}
	m.buildKeys = newKeyer(m.buildAt, j.buildSchema(), comparing, j.node.NullSafe)
	m.probeKeys = newKeyer(m.probeAt, j.probeSchema(), comparing, j.node.NullSafe)
	m.builds = newSorter(d, j.buildSchema(), ascending(m.buildAt), -1, memory/2)
	m.probes = newSorter(d, j.probeSchema(), ascending(m.probeAt), -1, memory/2)
	m.group = newBatch(j.buildSchema())
	return m
}

func ascending(columns []int) (o ordering) {
	for _, c := range columns {
		o = append(o, plan.SortKey{Column: c})
	}
	return o
}

func (m *mergeJoin) build(b *batch.Columns) { m.builds.add(b) }
func (m *mergeJoin) probe(b *batch.Columns) { m.probes.add(b) }

func (m *mergeJoin) finish() {
	m.sorted = m.builds.finish()
	m.advance()
	probes := m.probes.finish()
	for b := probes.next(); b != nil; b = probes.next() {
		m.walk(b)
	}
	for m.group.N > 0 {
		m.endGroup()
	}
}

// walk finds the matches of probe rows, which go on in order.
func (m *mergeJoin) walk(b *batch.Columns) {
	m.probeKeys.of(b)
	m.begin(b)
	for r := range b.N {
		if !m.probeKeys.valid[r] {
			continue
		}
		for m.group.N > 0 && m.compare(m.group, 0, b, r) < 0 {
			m.flush(m.group, m.marks, 0)
			m.endGroup()
		}
		if m.group.N == 0 || m.compare(m.group, 0, b, r) > 0 {
			continue
		}
		for k := range m.group.N {
			m.pair(int32(r), int32(k), m.group, m.marks, 0)
		}
	}
	m.flush(m.group, m.marks, 0)
	m.end()
}

// compare orders a build row and a probe row by their keys.
func (m *mergeJoin) compare(build *batch.Columns, i int, probe *batch.Columns, k int) int {
	for c := range m.buildAt {
		if order := compareNullable(build.Cols[m.buildAt[c]], i, probe.Cols[m.probeAt[c]], k); order != 0 {
			return order
		}
	}
	return 0
}

// endGroup is done with the build rows of a key, and goes on to the next.
func (m *mergeJoin) endGroup() {
	if m.marksBuild() {
		m.endBuild(m.group, m.marks, 0)
	}
	m.advance()
}

// advance gathers the build rows of the next key. Those that match nothing are given on
// the way.
func (m *mergeJoin) advance() {
	clearBatch(m.group)
	for m.load() {
		i := m.next
		if !m.buildKeys.valid[i] {
			m.next++
			m.unmatched(i)
			continue
		}
		if m.group.N > 0 && m.builds.order.compare(m.group, 0, m.rows, i) != 0 {
			break
		}
		addRows(m.group, m.rows, []int32{int32(i)})
		m.next++
	}
	if m.marksBuild() {
		m.marks = batch.NewBitmap(m.group.N)
	}
}

// load reads on; false: there are no build rows left.
func (m *mergeJoin) load() bool {
	if m.rows != nil && m.next < m.rows.N {
		return true
	}
	m.next = 0
	if m.rows = m.sorted.next(); m.rows == nil {
		return false
	}
	m.buildKeys.of(m.rows)
	return true
}

// unmatched gives what is to be given of a build row whose key equals nothing.
func (m *mergeJoin) unmatched(i int) {
	if m.marksBuild() {
		one := &batch.Columns{N: 1}
		for _, c := range m.rows.Cols {
			one.Cols = append(one.Cols, c.Rows([]int32{int32(i)}))
		}
		m.endBuild(one, batch.NewBitmap(1), 0)
	}
}
