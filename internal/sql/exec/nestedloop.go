package exec

import "github.com/weirstream/weir/batch"

// nestedLoop compares every probe row with every build row.
type nestedLoop struct {
	*joined
	rows  *store
	marks batch.Bitmap
}

func newNestedLoop(j *joined, d *disk, memory int) *nestedLoop {
	return &nestedLoop{joined: j, rows: newStore(d, j.buildSchema(), memory/2)}
}

func (n *nestedLoop) build(b *batch.Columns) { n.rows.add(b) }

// mark makes room for the build rows' marks, once all are there.
func (n *nestedLoop) mark() {
	if n.marks == nil && n.marksBuild() {
		n.marks = batch.NewBitmap(int(n.rows.rows))
	}
}

func (n *nestedLoop) probe(b *batch.Columns) {
	n.mark()
	n.begin(b)
	rows, base := n.rows.reader(), 0
	for build := rows.next(); build != nil; build = rows.next() {
		for r := range b.Len() {
			row := at(b.Sel, r)
			if !n.pairs && !n.ofBuild && n.matched[row] {
				continue
			}
			for k := range build.N {
				n.pair(int32(row), int32(k), build, n.marks, base)
			}
		}
		n.flush(build, n.marks, base)
		base += build.N
	}
	n.end()
}

func (n *nestedLoop) finish() {
	n.mark()
	rows, base := n.rows.reader(), 0
	for build := rows.next(); build != nil && n.marksBuild(); build = rows.next() {
		n.endBuild(build, n.marks, base)
		base += build.N
	}
	n.rows.discard()
}
