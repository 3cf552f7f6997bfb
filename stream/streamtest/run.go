package streamtest

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/coordinator/alignment/message"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/task"
)

// run is the tasks of a pipeline, from its beginning to its end.
type run struct {
	compiled *streamgraph.Compiled
	registry *local.Registry
	tasks    []*member
	wg       sync.WaitGroup
	failed   once
	barriers int64 // how many have been sent

	mu      sync.Mutex
	changed *sync.Cond
}

// member is one task of a run.
type member struct {
	*task.Task
	run      *run
	chain    *streamgraph.Chain
	subtask  int
	restored map[ident.OperatorID]*operatorState

	// These are guarded by run.mu.
	ended   bool
	passed  int64  // the last barrier that has passed the task
	written int64  // the last letter that it has read
	into    *taken // what the next barrier's part is written to; nil: nothing
}

// start runs a program from a snapshot, or from nothing.
func start(compiled *streamgraph.Compiled, clock *clock, from *Snapshot) (*run, error) {
	r := &run{compiled: compiled, registry: local.NewRegistry(local.Settings{Depth: 8, FrameBytes: 32 << 10, Wait: time.Minute})}
	r.changed = sync.NewCond(&r.mu)
	var assigned assignment
	if from != nil {
		var err error
		if assigned, err = from.taken.assign(compiled); err != nil {
			return nil, err
		}
	}
	for _, v := range compiled.Graph.Vertices {
		for i := range v.Parallelism {
			r.tasks = append(r.tasks, r.member(compiled.Chains[v.ID], i, clock, assigned))
		}
	}
	for _, m := range r.tasks {
		r.wg.Go(m.Run)
	}
	return r, nil
}

func attempt(c *streamgraph.Chain, subtask int) ident.AttemptID {
	return ident.AttemptID{Vertex: c.Vertex.ID, Subtask: subtask}
}

func (r *run) member(c *streamgraph.Chain, subtask int, clock *clock, assigned assignment) *member {
	m := &member{run: r, chain: c, subtask: subtask, restored: assigned.of(subtask)}
	m.Task = task.New(task.Spec{
		Job: r.compiled.Graph.Name, Attempt: attempt(c, subtask), Parallelism: c.Vertex.Parallelism, MaxParallelism: c.Vertex.MaxParallelism,
		Chain: c, BufferTimeout: time.Minute, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: clock, Checkpoints: m,
		Partitions: m.partitions, Gates: m.gates,
		Ask:    m.ask,
		Report: m.report,
	})
	return m
}

// ask answers for coordinators. That of an alignment lets the source go as far as it
// can: the test says what it sends.
func (m *member) ask(op ident.OperatorID, _ []byte, then func([]byte, error)) {
	for i, n := range m.chain.Nodes {
		if m.chain.Vertex.Operators[i].ID == op && n.CoordinatorKind == message.Kind {
			then(json.Marshal(message.Answer{Allowed: math.MaxInt64}))
			return
		}
	}
	then(nil, errNoCoordinator)
}

func (m *member) partitions(done <-chan struct{}) (all []task.Partition, err error) {
	for i, e := range m.chain.Outputs {
		n := e.To.Parallelism
		if e.Partitioner == streamgraph.Forward {
			n = 1
		}
		id := ident.PartitionID{DataSet: m.chain.Vertex.Produces[i].ID, Producer: attempt(m.chain, m.subtask)}
		all = append(all, m.run.registry.Create(id, n, e.Stream().(operator.Stream).Serializer, done))
	}
	return all, nil
}

func (m *member) gates(wake func(), done <-chan struct{}) (all []task.Gate, err error) {
	for i, e := range m.chain.Inputs {
		producer := m.run.producer(e)
		first, last, sub := 0, producer.Vertex.Parallelism-1, m.subtask
		if e.Partitioner == streamgraph.Forward {
			first, last, sub = m.subtask, m.subtask, 0
		}
		g := local.NewGate(last-first+1, wake, done)
		for p := first; p <= last; p++ {
			g.Connect(p-first, m.run.registry, ident.PartitionID{DataSet: m.chain.Vertex.Inputs[i].DataSet, Producer: attempt(producer, p)}, shuffle.One(sub))
		}
		all = append(all, g)
	}
	return all, nil
}

// producer is the chain that an edge leaves.
func (r *run) producer(e *streamgraph.Edge) *streamgraph.Chain {
	for _, v := range r.compiled.Graph.Vertices {
		for _, out := range r.compiled.Chains[v.ID].Outputs {
			if out == e {
				return r.compiled.Chains[v.ID]
			}
		}
	}
	return nil
}

func (m *member) report(s status.Execution, f *status.Failure) {
	if f != nil && f.Kind != status.FailureConsumer {
		m.run.failed.set(fmt.Errorf("%s (%d/%d): %w", m.chain.Vertex.Name, m.subtask+1, m.chain.Vertex.Parallelism, f))
	}
	if s.Terminal() {
		m.run.mu.Lock()
		m.ended = true
		m.run.changed.Broadcast()
		m.run.mu.Unlock()
	}
}

func (r *run) failure() error { return r.failed.get() }

// cancel ends all tasks.
func (r *run) cancel() {
	for _, m := range r.tasks {
		m.Cancel()
	}
	r.wg.Wait()
	r.registry.Close()
}

// settle waits until all that the tasks have been told has had its effect: all of them
// have read their mail, and then a barrier has passed through all. What they keep is
// written to into, unless it is nil.
func (r *run) settle(into *taken) error {
	if r.failure() != nil {
		return r.failure()
	}
	r.barriers++
	n := r.barriers
	for _, m := range r.tasks {
		m.Mail(func() { m.set(func() { m.written = n }) })
	}
	r.await(func(m *member) bool { return m.written == n })
	// All of them know where to before the first one has the barrier to pass on.
	for _, m := range r.tasks {
		m.set(func() { m.into = into })
	}
	for _, m := range r.tasks {
		if len(m.chain.Inputs) == 0 {
			m.Trigger(task.Barrier{Checkpoint: n})
		}
	}
	r.await(func(m *member) bool { return m.passed >= n })
	return r.failure()
}

// await waits until there is enough of each task, or it has ended, or one has failed.
func (r *run) await(enough func(m *member) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		waits := false
		for _, m := range r.tasks {
			waits = waits || !m.ended && !enough(m)
		}
		if !waits || r.failure() != nil {
			return
		}
		r.changed.Wait()
	}
}

func (m *member) set(f func()) {
	m.run.mu.Lock()
	f()
	m.run.changed.Broadcast()
	m.run.mu.Unlock()
}

// complete says that what was written last is complete.
func (r *run) complete() {
	for _, m := range r.tasks {
		m.Complete(r.barriers)
	}
}

// Purpose says that a barrier is a checkpoint's.
func (m *member) Purpose(task.Barrier) task.Purpose { return task.Purpose{} }

// Finished reports whether an operator does not run again.
func (m *member) Finished(op ident.OperatorID) bool {
	s := m.restored[op]
	return s != nil && s.Finished
}

// Restore loads what an operator kept.
func (m *member) Restore(op ident.OperatorID, k operator.Kept) error {
	if s := m.restored[op]; s != nil {
		return load(s, k)
	}
	return nil
}

// Take is given what the task keeps.
func (m *member) Take(t task.Taken) {
	m.run.mu.Lock()
	into := m.into
	m.run.mu.Unlock()
	for _, p := range t.Parts {
		if into != nil {
			if err := into.add(m.subtask, p); err != nil {
				m.run.failed.set(err)
			}
		} else if p.Keyed != nil {
			p.Keyed.Release()
		}
	}
	m.set(func() { m.passed = t.Checkpoint })
}

// Decline is told that the task has nothing to give.
func (m *member) Decline(b task.Barrier, _ error) { m.set(func() { m.passed = b.Checkpoint }) }
