package exec

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// joined turns pairs of rows that may match into what a join gives. One side is held,
// the build side, and batches of the other, the probe side, come one after the other.
type joined struct {
	node   *plan.Join
	emit   emitter
	signal *operator.Signal
	left   []types.Type
	right  []types.Type

	condition *evaluation
	// keepProbe and keepBuild say that rows of a side without a match are given with NULLs
	// for the other.
	keepProbe, keepBuild bool
	// pairs says that matches are given; if not, it is a Semi or Anti, of the probe side
	// or, if ofBuild is set, of the build side.
	pairs, ofBuild bool

	probe      *batch.Columns // the batch that is being probed
	matched    []bool         // by the row in it
	probeRows  []int32        // candidates
	buildRows  []int32
	candidates *batch.Columns
	out        *batch.Columns
	sel        []int32
}

func (e *environment) newJoined(n *plan.Join, signal *operator.Signal, emit emitter) *joined {
	j := &joined{node: n, emit: emit, signal: signal, left: n.Inputs[0].Common().Types(), right: n.Inputs[1].Common().Types()}
	if n.Condition != nil {
		j.condition = e.compile(n.Condition)
	}
	keepLeft := n.Kind == plan.LeftOuter || n.Kind == plan.FullOuter
	keepRight := n.Kind == plan.RightOuter || n.Kind == plan.FullOuter
	if j.keepProbe, j.keepBuild = keepLeft, keepRight; n.BuildLeft {
		j.keepProbe, j.keepBuild = keepRight, keepLeft
	}
	j.pairs = n.Kind != plan.Semi && n.Kind != plan.Anti
	j.ofBuild = !j.pairs && n.BuildLeft
	j.candidates = newBatch(append(append([]types.Type(nil), j.left...), j.right...))
	if j.pairs {
		j.out = newBatch(n.Types())
	}
	return j
}

// buildSchema are the columns of the side that is held, and probeSchema of the other.
func (j *joined) buildSchema() []types.Type {
	if j.node.BuildLeft {
		return j.left
	}
	return j.right
}

func (j *joined) probeSchema() []types.Type {
	if j.node.BuildLeft {
		return j.right
	}
	return j.left
}

// marksBuild reports whether it counts which build rows have had a match.
func (j *joined) marksBuild() bool { return j.keepBuild || j.ofBuild }

// marksProbe reports whether it matters which probe rows have had a match.
func (j *joined) marksProbe() bool { return j.keepProbe || !j.pairs && !j.ofBuild }

// firstOnly reports whether one match of a probe row is as good as all.
func (j *joined) firstOnly() bool { return !j.pairs && !j.ofBuild && j.condition == nil }

// begin takes a batch to be probed.
func (j *joined) begin(b *batch.Columns) {
	j.probe = b
	if j.marksProbe() {
		j.matched = resize(j.matched, b.N)
		clear(j.matched)
	}
}

// pair adds a candidate: a row of the probed batch and one of build.
func (j *joined) pair(probeRow, buildRow int32, build *batch.Columns, marks batch.Bitmap, base int) {
	j.probeRows = append(j.probeRows, probeRow)
	j.buildRows = append(j.buildRows, buildRow)
	if len(j.probeRows) >= batch.MaxRows {
		j.flush(build, marks, base)
	}
}

// flush decides about the candidates, which are of one build batch. marks are the build
// rows that have had a match, in which that batch begins at base.
func (j *joined) flush(build *batch.Columns, marks batch.Bitmap, base int) {
	if len(j.probeRows) == 0 {
		return
	}
	j.signal.Attend() // many candidates may be no match
	probeRows, buildRows := j.probeRows, j.buildRows
	if j.condition != nil {
		probeRows, buildRows = j.decide(build)
	}
	if j.marksProbe() {
		for _, p := range probeRows {
			j.matched[p] = true
		}
	}
	if marks != nil && j.marksBuild() {
		for _, b := range buildRows {
			marks.Set(base + int(b))
		}
	}
	if j.pairs && len(probeRows) > 0 {
		clearBatch(j.out)
		j.gather(j.out, build, probeRows, buildRows)
		j.emit(j.out)
	}
	j.probeRows, j.buildRows = j.probeRows[:0], j.buildRows[:0]
}

// gather puts pairs of rows side by side, the left columns first.
func (j *joined) gather(out, build *batch.Columns, probeRows, buildRows []int32) {
	probeAt, buildAt := 0, len(j.left)
	if j.node.BuildLeft {
		probeAt, buildAt = len(j.left), 0
	}
	for i, c := range j.probe.Cols {
		out.Cols[probeAt+i].AppendRows(c, probeRows)
	}
	for i, c := range build.Cols {
		out.Cols[buildAt+i].AppendRows(c, buildRows)
	}
	out.N += len(probeRows)
}

// decide keeps the candidates for which the condition holds, or is unknown if that is as
// good.
func (j *joined) decide(build *batch.Columns) (probeRows, buildRows []int32) {
	clearBatch(j.candidates)
	j.gather(j.candidates, build, j.probeRows, j.buildRows)
	holds := j.condition.eval(j.candidates)[0]
	n := 0
	for r := range j.probeRows {
		if unknown := holds.IsNull(r); unknown && j.node.NullAware || !unknown && holds.Bool[r] {
			j.probeRows[n], j.buildRows[n] = j.probeRows[r], j.buildRows[r]
			n++
		}
	}
	return j.probeRows[:n], j.buildRows[:n]
}

// end gives what is to be given of the probed batch besides matches. Candidates must have
// been flushed.
func (j *joined) end() {
	if j.pairs && !j.keepProbe || j.ofBuild {
		return
	}
	want := j.node.Kind == plan.Semi
	j.sel = j.sel[:0]
	for r := range j.probe.Len() {
		if row := at(j.probe.Sel, r); j.matched[row] == want {
			j.sel = append(j.sel, int32(row))
		}
	}
	if len(j.sel) == 0 {
		return
	}
	if j.pairs {
		j.pad(j.probe, j.sel, !j.node.BuildLeft)
		return
	}
	out := *j.probe
	out.Sel = j.sel
	j.emit(&out)
}

// pad gives rows of one side with NULLs for the other.
func (j *joined) pad(b *batch.Columns, rows []int32, left bool) {
	other := j.right
	if !left {
		other = j.left
	}
	nulls := newBatch(other)
	for _, c := range nulls.Cols {
		for range rows {
			c.AppendNull()
		}
	}
	out := &batch.Columns{N: len(rows)}
	for _, c := range b.Cols {
		out.Cols = append(out.Cols, c.Rows(rows))
	}
	if left {
		out.Cols = append(out.Cols, nulls.Cols...)
	} else {
		out.Cols = append(nulls.Cols, out.Cols...)
	}
	j.emit(out)
}

// endBuild gives what is to be given of a build batch once all has been probed.
func (j *joined) endBuild(build *batch.Columns, marks batch.Bitmap, base int) {
	if !j.marksBuild() {
		return
	}
	want := j.node.Kind == plan.Semi
	for from := 0; from < build.N; from += batch.MaxRows {
		rows := []int32{}
		for i := from; i < min(build.N, from+batch.MaxRows); i++ {
			if marks.Get(base+i) == want {
				rows = append(rows, int32(i))
			}
		}
		switch {
		case len(rows) == 0:
		case j.pairs:
			j.pad(build, rows, j.node.BuildLeft)
		default:
			out := *build
			out.Sel = rows
			j.emit(&out)
		}
	}
}

// joiner is the algorithm of a join.
type joiner interface {
	// build takes a batch of the side that is held, and probe, after the last of those, one
	// of the other.
	build(b *batch.Columns)
	probe(b *batch.Columns)
	// finish is called at the end of both.
	finish()
}

// join makes the operator of a Join.
func (e *environment) join(n *plan.Join) (operator.Factory, error) {
	if n.NullAware && (n.Kind != plan.Anti || n.Strategy == plan.MergeJoin || n.Strategy == plan.HashJoin && (n.Condition != nil || len(n.LeftKeys) != 1 || n.BuildLeft)) {
		return nil, fmt.Errorf("a null-aware join of kind %d by strategy %d with %d keys: want an Anti that holds its right side, with one key and no condition, or a NestedLoop", n.Kind, n.Strategy, len(n.LeftKeys))
	}
	return managing{operator.FactoryFunc(func(c *operator.Context, out any) any {
		o := operator.Output[*batch.Columns](out)
		d := newDisk(c)
		j := e.newJoined(n, c.Signal, emitTo(c, o))
		var by joiner
		memory := budget(c)
		if !e.waits && n.Strategy != plan.MergeJoin {
			memory /= 2 // the rest is for probe rows that come too early
		}
		switch n.Strategy {
		case plan.NestedLoop:
			by = newNestedLoop(j, d, memory)
		case plan.MergeJoin:
			by = newMergeJoin(j, d, memory)
		default:
			by = newHashJoin(j, d, memory)
		}
		probe, finish := by.probe, by.finish
		if !e.waits && n.Strategy != plan.MergeJoin {
			early := newStore(d, j.probeSchema(), memory/2)
			probe = early.add
			finish = func() {
				rows := early.reader()
				for b := rows.next(); b != nil; b = rows.next() {
					by.probe(b)
				}
				early.discard()
				by.finish()
			}
		}
		build := receiver(stage{by.build, finish}, o)
		probing := receiver(stage{probe, finish}, o)
		if n.BuildLeft {
			return operator.Inputs{build, probing}
		}
		return operator.Inputs{probing, build}
	})}, nil
}
