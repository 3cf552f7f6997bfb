package cluster

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// A lane is a split of a source, by the source's number in the graph.
type lane struct{ source, split int }

// A record is one number of a lane. It is computed with as little as possible: who
// gets it counts it and sends it on, and a vertex without outputs puts it out.
type record struct {
	lane
	number int
}

// An item is what goes along a wire: a record, or the barrier of a checkpoint.
type item struct {
	record
	barrier *barrier // nil: it is a record
	number  int      // of the item on its wire, from 1
}

type barrier struct {
	checkpoint int64
	options    *pb.CheckpointOptions
}

// A wire is one subpartition of one attempt, and who reads it.
type wire struct {
	items  []item
	sent   int
	taken  int
	reader *stream // nil: it is not there yet
	// blocked: its barrier has come, and those of others have not.
	blocked bool
}

type wireKey struct {
	producer     ident.AttemptID
	set          string
	subpartition int
}

// A portion is what a reader has of a split.
type portion struct {
	id, next int
	done     bool
}

// length is how many records a split of a coordinator holds; others have no end.
func (s *checkpoints) length() int {
	if s.hasty {
		return 2
	}
	return 5
}

// A transaction is what a vertex without outputs puts out for one checkpoint. It
// may be committed once that is complete, or a later one.
type transaction struct {
	checkpoint int64
	records    []record
}

// A stream is what a task of a job with checkpoints does.
type stream struct {
	task            *task
	run             *run
	vertex, subtask int
	graph           *jobgraph.Vertex
	in              []*wire
	out             [][]*wire // by produced set and subpartition
	woken           bool      // it will look at its inputs

	portions []portion
	reader   *portionReader // nil: no coordinator gives it splits
	counts   map[lane]int   // records read
	open     transaction    // since the last barrier
	closed   []transaction  // wait for their checkpoints
	upTo     int64          // all closed ones up to this checkpoint were committed

	// current is the newest checkpoint that was heard of; waiting: for its barrier on
	// the wires that are not blocked.
	current int64
	aligned *barrier
	waiting bool
	runs    bool
}

// stream gives a task of a job with checkpoints what it does; nil: it is none.
func (c *Cluster) stream(t *task, d *pb.TaskDeployment) *stream {
	r := c.checkpoints.graphs[t.attempt.Graph]
	if r == nil {
		return nil
	}
	v := indexOf(r.job.graph, t.attempt.Vertex)
	s := &stream{task: t, run: r, vertex: v, subtask: t.attempt.Subtask, graph: r.job.graph.Vertices[v], counts: map[lane]int{}}
	for _, g := range d.Gates {
		channels, err := gateway.Channels(g)
		if err != nil {
			c.checks.broken("layout", "attempt %s is deployed with a gate that cannot be read: %v", t.attempt, err)
			return nil
		}
		for _, ch := range channels {
			producer, err := ident.ParseAttempt(ch.Producer)
			if err != nil {
				c.checks.broken("layout", "attempt %s reads %q: %v", t.attempt, ch.Producer, err)
				return nil
			}
			s.in = append(s.in, c.checkpoints.wire(wireKey{producer, g.DataSet, int(ch.Subpartition)}))
		}
	}
	for _, p := range d.Partitions {
		var wires []*wire
		for i := range int(p.Subpartitions) {
			wires = append(wires, c.checkpoints.wire(wireKey{t.attempt, p.DataSet, i}))
		}
		s.out = append(s.out, wires)
	}
	return s
}

// wire finds the wire that both its ends ask for.
func (s *checkpoints) wire(key wireKey) *wire {
	w := s.wires[key]
	if w == nil {
		w = &wire{}
		s.wires[key] = w
	}
	return w
}

func (s *stream) cluster() *Cluster { return s.task.worker.c }

func (s *stream) source() bool { return len(s.in) == 0 }

func (s *stream) sink() bool { return len(s.out) == 0 }

// after calls f after a while, unless the task has ended.
func (s *stream) after(low, high time.Duration, f func()) {
	s.task.worker.loop.After(s.cluster().checkpoints.span(low, high), func() {
		if !s.task.ended {
			f()
		}
	})
}

// begin lets the task run, with what it was restored with.
func (s *stream) begin() {
	s.runs = true
	if s.sink() {
		s.run.outcome.begins(s)
		s.commit(s.current)
	}
	for _, w := range s.in {
		w.reader = s
	}
	if s.source() {
		if o := s.graph.Operators[0]; o.Coordinator != nil {
			s.reader = &portionReader{s: s, operator: o.ID}
			s.reader.more()
		} else if len(s.portions) == 0 {
			s.portions = []portion{{id: s.subtask}}
		}
		s.after(time.Millisecond, 4*time.Second, s.produce)
		return
	}
	s.wake()
}

// produce sends some records and comes again.
func (s *stream) produce() {
	s.emit(1 + s.cluster().checkpoints.rand.IntN(4))
	if s.cluster().checkpoints.hasty {
		s.after(50*time.Millisecond, 2*time.Second, s.produce)
		return
	}
	s.after(200*time.Millisecond, 8*time.Second, s.produce)
}

// emit sends the next records of the splits, in turns.
func (s *stream) emit(n int) {
	for range n {
		i := slices.IndexFunc(s.portions, func(p portion) bool { return !p.done })
		if i < 0 {
			break
		}
		p := &s.portions[i]
		rec := record{lane{s.vertex, p.id}, p.next}
		p.next++
		if s.reader != nil && p.next == s.cluster().checkpoints.length() {
			p.done = true
			s.reader.more()
		}
		s.pass(rec)
	}
}

// pass counts a record and sends it on.
func (s *stream) pass(rec record) {
	if !s.source() {
		s.counts[rec.lane]++
	}
	if s.sink() {
		s.open.records = append(s.open.records, rec)
	}
	for i, wires := range s.out {
		to := rec.number
		if s.graph.Produces[i].Distribution == jobgraph.AllToAll {
			to = rec.split*7 + rec.source // by key
		}
		wires[to%len(wires)].send(item{record: rec})
	}
}

func (w *wire) send(i item) {
	w.sent++
	i.number = w.sent
	w.items = append(w.items, i)
	if w.reader != nil {
		w.reader.wake()
	}
}

// wake lets the task look at its inputs soon.
func (s *stream) wake() {
	if s.woken || s.task.ended {
		return
	}
	s.woken = true
	s.after(100*time.Microsecond, 200*time.Millisecond, func() {
		s.woken = false
		s.take()
	})
}

// take takes what has come on the wires that are not blocked, a little of each at a
// time.
func (s *stream) take() {
	r := s.cluster().checkpoints.rand
	more := false
	for _, w := range s.in {
		for n := 1 + r.IntN(8); n > 0 && len(w.items) > 0 && !w.blocked && !s.task.ended; n-- {
			next := w.items[0]
			w.items = w.items[1:]
			w.taken++
			if next.number != w.taken {
				s.cluster().checks.broken("15", "%s takes item %d of a wire after %d", s.task.attempt, next.number, w.taken-1)
			}
			if next.barrier == nil {
				s.pass(next.record)
			} else {
				s.arrived(w, next.barrier)
			}
		}
	}
	for _, w := range s.in {
		more = more || len(w.items) > 0 && !w.blocked
	}
	if more {
		s.wake()
	}
}

// arrived takes a barrier.
func (s *stream) arrived(w *wire, b *barrier) {
	switch {
	case b.checkpoint < s.current || b.checkpoint == s.current && !s.waiting:
		return // of a checkpoint that is over
	case b.checkpoint > s.current:
		if s.waiting {
			s.decline(s.current, "CHECKPOINT_DECLINED_SUBSUMED")
			s.release()
		}
		s.current, s.aligned, s.waiting = b.checkpoint, b, true
	}
	w.blocked = true
	for _, other := range s.in {
		if !other.blocked {
			return
		}
	}
	s.waiting = false
	s.part(s.aligned)
	s.release()
}

// release lets all wires go on.
func (s *stream) release() {
	for _, w := range s.in {
		w.blocked = false
	}
	s.wake()
}

// trigger begins a checkpoint in a source.
func (s *stream) trigger(b *barrier) {
	if s.task.ended {
		return
	}
	if !s.source() {
		s.decline(b.checkpoint, "CHECKPOINT_DECLINED_TASK_NOT_READY")
		return
	}
	s.part(b)
	s.emit(s.cluster().checkpoints.rand.IntN(3))
}

// abort gives a checkpoint up, and what may still come of it.
func (s *stream) abort(checkpoint int64) {
	if p := s.reader; p != nil {
		p.waiting = slices.DeleteFunc(p.waiting, func(b *barrier) bool { return b.checkpoint == checkpoint })
	}
	if checkpoint < s.current {
		return
	}
	waited := s.waiting
	s.waiting, s.current = false, checkpoint
	if waited {
		s.release()
	}
}

// complete commits what waited for a checkpoint.
func (s *stream) complete(checkpoint int64) {
	if s.sink() {
		s.after(100*time.Microsecond, 100*time.Millisecond, func() { s.commit(checkpoint) })
	}
}

func (s *stream) commit(checkpoint int64) {
	c := s.cluster()
	var rest []transaction
	for _, t := range s.closed {
		if t.checkpoint > checkpoint {
			rest = append(rest, t)
			continue
		}
		s.run.commits(s, t)
		c.springs(committed, s.run, s.task)
		if s.task.ended {
			return // it died in the act: what it has committed it will commit again
		}
	}
	s.closed, s.upTo = rest, max(s.upTo, checkpoint)
	s.run.watchWhole(s.vertex, s.upTo)
}

// ended lets go of the task's ends of wires.
func (s *stream) ended() {
	for _, w := range s.in {
		w.reader, w.items = nil, nil
	}
}

// triggerTasks and notifyTasks are what a worker hears of checkpoints.
func (w *worker) triggerTasks(r *pb.TriggerCheckpointRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	for _, t := range w.named(r.Attempts) {
		if t.stream == nil || !t.stream.runs {
			w.decline(t, r.Checkpoint, "CHECKPOINT_DECLINED_TASK_NOT_READY", nil)
			continue
		}
		b := readBarrier(r.Checkpoint, r.Options)
		if p := t.stream.reader; p != nil {
			p.await(b, r.Given)
		} else {
			t.stream.trigger(b)
		}
	}
}

func (w *worker) notifyTasks(r *pb.NotifyCheckpointRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	for _, t := range w.named(r.Attempts) {
		switch s := t.stream; {
		case s == nil || !s.runs:
		case r.Complete:
			s.complete(r.Checkpoint)
		default:
			s.abort(r.Checkpoint)
		}
	}
}

// named are those of the attempts that run here.
func (w *worker) named(attempts []string) (all []*task) {
	for _, t := range w.tasks {
		if slices.Contains(attempts, t.attempt.String()) {
			all = append(all, t)
		}
	}
	return all
}
