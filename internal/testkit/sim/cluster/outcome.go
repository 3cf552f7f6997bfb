package cluster

import "github.com/weirstream/weir/internal/ident"

// An outcome is what a run has committed, as whoever reads it sees it.
type outcome struct {
	committed map[transactionKey]int // with how many records
	seen      map[place]map[record]int
	lanes     map[place]map[lane]*committedLane
	// sinks are the newest tasks of each vertex without outputs, as they have begun;
	// graph is whose attempts are the newest.
	sinks map[place]*stream
	graph ident.GraphID
}

type transactionKey struct {
	place
	checkpoint int64
}

// committedLane is what one vertex has put out of a split.
type committedLane struct{ records, highest int }

func newOutcome() outcome {
	return outcome{committed: map[transactionKey]int{}, seen: map[place]map[record]int{}, lanes: map[place]map[lane]*committedLane{}, sinks: map[place]*stream{}}
}

// begins notes a task that puts records out. One of an earlier attempt may begin
// late, where nobody has reached it to stop it.
func (o *outcome) begins(s *stream) {
	at := place{s.vertex, s.subtask}
	before := o.sinks[at]
	if s.task.attempt.Graph == o.graph && (before == nil || before.task.attempt.Graph != o.graph || before.task.attempt.Attempt < s.task.attempt.Attempt) {
		o.sinks[at] = s
	}
}

// commits puts a transaction out. One that was put out before is not put out again.
// No record is put out more often than ways lead to it (14).
func (r *run) commits(s *stream, t transaction) {
	o, k := &r.outcome, r.c.checks
	key := transactionKey{place{s.vertex, s.subtask}, t.checkpoint}
	if n, before := o.committed[key]; before {
		k.met["transactions committed again"]++
		if n != len(t.records) {
			k.broken("14", "job %s: subtask %d of %s commits %d records for checkpoint %d, and had committed %d", r.job.id, s.subtask, s.graph.Name, len(t.records), t.checkpoint, n)
		}
		return
	}
	o.committed[key] = len(t.records)
	k.met["transactions committed"]++
	at := place{vertex: s.vertex}
	if o.seen[at] == nil {
		o.seen[at], o.lanes[at] = map[record]int{}, map[lane]*committedLane{}
	}
	for _, rec := range t.records {
		o.seen[at][rec]++
		if n := o.seen[at][rec]; n > r.paths[rec.source][s.vertex] && !r.spoilt {
			k.broken("14", "job %s: %s has put out record %d of split %d of source %d for the %d. time, by checkpoint %d", r.job.id, s.graph.Name, rec.number, rec.split, rec.source, n, t.checkpoint)
		}
		l := o.lanes[at][rec.lane]
		if l == nil {
			l = &committedLane{highest: -1}
			o.lanes[at][rec.lane] = l
		}
		l.records++
		l.highest = max(l.highest, rec.number)
	}
}

// watchWhole checks, when all subtasks of a vertex have committed the same
// checkpoint, that what is put out is what was read before that, and no more (14).
func (r *run) watchWhole(vertex int, checkpoint int64) {
	cut := r.cuts[checkpoint]
	if cut == nil || r.spoilt || len(r.c.checkpoints.shelf.torn) > 0 {
		return
	}
	g := r.job.graph.Vertices[vertex]
	for s := range g.Parallelism {
		if o := r.outcome.sinks[place{vertex, s}]; o == nil || o.upTo != checkpoint {
			return
		}
	}
	k := r.c.checks
	k.met["committed output that was exactly a prefix"]++
	at := place{vertex: vertex}
	for l, next := range cut.next { // order: each is looked at by itself
		want := next * r.paths[l.source][vertex]
		got := r.outcome.lanes[at][l]
		if got == nil {
			got = &committedLane{highest: -1}
		}
		if got.records != want || want > 0 && got.highest != next-1 {
			k.broken("14", "job %s: all of %s has committed checkpoint %d, with %d records of split %d of source %d up to number %d, want %d up to %d",
				r.job.id, g.Name, checkpoint, got.records, l.split, l.source, got.highest, want, next-1)
		}
	}
	for l := range r.outcome.lanes[at] { // order: each is looked at by itself
		if _, read := cut.next[l]; !read {
			k.broken("14", "job %s: %s has put out records of split %d of source %d, of which checkpoint %d knows nothing", r.job.id, g.Name, l.split, l.source, checkpoint)
		}
	}
}
