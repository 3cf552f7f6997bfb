package jobmaster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// adaptiveJob is a source with a coordinator and a keyed sink, of parallelism p, whose
// parallelism follows the slots there are.
func adaptiveJob(p int, settings ...string) *jobgraph.Graph {
	g := restarting(twoVertices(p), "9")
	g.Vertices[0].Operators[0].Coordinator = &jobgraph.Coordinator{Kind: "echo", Spec: "spec"}
	g.Configuration["jobmanager.scheduler"] = "adaptive"
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		g.Configuration[key] = value
	}
	return g
}

// coordinators makes coordinators that echo, and notes with which parallelism.
func coordinators(made *[]int) func(*Options) {
	return func(o *Options) {
		o.Coordinators = coordinator.Kinds{"echo": func(c coordinator.Context) (coordinator.Coordinator, error) {
			*made = append(*made, c.Parallelism)
			return &echo{c: c}, nil
		}}
	}
}

// offer lets the ResourceManager give the job what it has wanted last.
func (m *fakeManager) offer() { m.match(int(m.declared[len(m.declared)-1])) }

// parallelisms are those of the job's vertices.
func parallelisms(v execgraph.View) (all []int) {
	for _, vertex := range v.Vertices {
		all = append(all, len(vertex.Subtasks))
	}
	return all
}

func TestParallelismFollowsSlots(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	rm.taskExecutor("te1", 1)
	var made []int
	m, done := w.start(t, adaptiveJob(3), coordinators(&made))
	w.pass(5 * time.Second)
	v := m.View()
	expect(t, "while it waits", states(v), "CREATED")
	expect(t, "wanted", v.Vertices[0].Parallelism, 3)
	expect(t, "declared", rm.declared, []int{3})
	w.pass(6 * time.Second)
	v = m.View()
	expect(t, "with what there is", states(v), "RUNNING RUNNING RUNNING")
	expect(t, "why", v.Vertices[0].Why, "it wants 1 to 3, and there are slots for 1: 1 in all")

	te2 := rm.taskExecutor("te2", 2)
	rm.offer()
	w.pass(10 * time.Second)
	expect(t, "in the cooldown", parallelisms(m.View()), []int{1, 1})
	w.pass(30 * time.Second)
	v = m.View()
	expect(t, "with all it wants", states(v), "RUNNING RUNNING RUNNING RUNNING RUNNING RUNNING RUNNING")
	expect(t, "attempts", attempts(v), []int{1, 1, 1, 1, 1, 1})
	expect(t, "coordinators", made, []int{3, 1, 3})
	expect(t, "deployed", []int{int(te2.deployed[0].Parallelism), len(te2.deployed[2].Gates[0].Channels)}, []int{3, 3})
	expect(t, "restarts", []int{v.Restarts.All, v.Adaptive.Rescaled, len(v.Failures)}, []int{1, 1, 0})
	last := v.Adaptive.Last
	expect(t, "rescaled", last.Changes(), "Source 1 → 3, Sink 1 → 3")
	if outage, stopped := last.Outage(); !stopped || outage > time.Second {
		t.Errorf("the job did not run for %s", outage)
	}
	expect(t, "history", len(v.Adaptive.Rescales), 0)

	before := w.now
	w.die("te2")
	w.pass(2 * time.Second)
	v = m.View()
	expect(t, "without those that cannot return", states(v), "RUNNING RUNNING RUNNING")
	expect(t, "attempts", attempts(v), []int{2, 2})
	expect(t, "failures", len(v.Failures), 1)
	if back := v.Adaptive.Last.End.Sub(before); back > 1500*time.Millisecond {
		t.Errorf("it ran again after %s", back)
	}
	m.Cancel(func(error) {})
	w.pass(time.Second)
	expect(t, "canceled", (*done)[0].State.String(), "CANCELED")
	w.quiet(t, m)
}

func TestParallelismIsRequired(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te := rm.taskExecutor("te1", 4)
	var made []int
	m, _ := w.start(t, adaptiveJob(2), coordinators(&made))
	w.pass(time.Minute)
	source, sink := m.options.Graph.Vertices[0].ID, m.options.Graph.Vertices[1].ID
	require := func(source, sink ident.VertexID, a, b execgraph.Bounds) (err error) {
		m.Require(map[ident.VertexID]execgraph.Bounds{source: a, sink: b}, func(e error) { err = e })
		return err
	}
	err := require(source, sink, execgraph.Bounds{Lower: 1, Upper: 200}, execgraph.Bounds{Lower: 0, Upper: 1})
	if refused, ok := errors.AsType[*rescale.RefusedError](err); !ok || len(refused.Reasons) != 2 {
		t.Errorf("refused with %v", err)
	}
	for range 2 { // two wishes quickly one after the other: the last one counts
		expect(t, "more", require(source, sink, execgraph.Bounds{Lower: 1, Upper: 4}, execgraph.Bounds{Lower: 1, Upper: 4}), nil)
		expect(t, "another", require(source, sink, execgraph.Bounds{Lower: 1, Upper: 1}, execgraph.Bounds{Lower: 1, Upper: 3}), nil)
	}
	w.pass(time.Second)
	v := m.View()
	expect(t, "as required", parallelisms(v), []int{1, 3})
	expect(t, "bounds", v.Adaptive.Bounds, []execgraph.Bounds{{Lower: 1, Upper: 1}, {Lower: 1, Upper: 3}})
	expect(t, "slots", []int{int(rm.declared[len(rm.declared)-1]), len(te.held)}, []int{3, 3})
	expect(t, "rescaled", v.Adaptive.Rescaled, 1)
	w.pass(time.Minute)

	expect(t, "more than there is", require(source, sink, execgraph.Bounds{Lower: 8, Upper: 8}, execgraph.Bounds{Lower: 1, Upper: 8}), nil)
	w.pass(5 * time.Minute)
	expect(t, "it goes on", states(m.View()), "RUNNING RUNNING RUNNING RUNNING RUNNING")

	fixed, _ := w.start(t, twoVertices(1), nil)
	fixed.Require(nil, func(err error) { expect(t, "fixed", err, rescale.ErrFixed) })
	batch := adaptiveJob(1, "scheduler-mode=REACTIVE")
	batch.Batch = true
	sized, _ := w.start(t, batch, coordinators(&made))
	sized.Require(nil, func(err error) { expect(t, "batch", err, rescale.ErrBatch) })
	all, _ := w.start(t, adaptiveJob(1, "scheduler-mode=REACTIVE"), coordinators(&made))
	all.Require(nil, func(err error) { expect(t, "reactive", err, rescale.ErrReactive) })
}

func TestTooFewSlotsForTooLong(t *testing.T) {
	w := newWorld()
	w.resourceManager()
	var made []int
	m, done := w.start(t, adaptiveJob(3), coordinators(&made))
	w.pass(4 * time.Minute)
	expect(t, "it waits", states(m.View()), "CREATED")
	w.pass(2 * time.Minute)
	v := (*done)[0]
	expect(t, "then", v.State.String(), "FAILED")
	if text := fmt.Sprint(v.Failures[0].Failure); !strings.Contains(text, "Not enough resources available for scheduling. (need at least 1 slots, have 0, waited for 5m0s)") {
		t.Errorf("failed with %s", text)
	}
	w.quiet(t, m)
}

// disk is a Disk of nothing: states are in acknowledgements.
type disk struct{ written []*snapshot.Metadata }

func (d *disk) Probe(fs.Location) error { return nil }
func (d *disk) Write(_ fs.Location, m *snapshot.Metadata) error {
	d.written = append(d.written, m)
	return nil
}
func (d *disk) Read(fs.Location) (*snapshot.Metadata, fs.Location, error) {
	return nil, "", fs.ErrNotExist
}
func (d *disk) Delete(fs.Location, []fs.Location, fs.Location) error { return nil }

// stateful is an echo that is part of checkpoints.
type stateful struct {
	echo
	log *[]string
}

func (s *stateful) Snapshot(id int64) ([]byte, error) { return fmt.Append(nil, "at ", id), nil }
func (s *stateful) Completed(int64)                   {}
func (s *stateful) ResetTo(int, int64)                {}
func (s *stateful) Restore(state []byte) error {
	*s.log = append(*s.log, string(state))
	return nil
}

// acknowledge lets all tasks take part in the checkpoint that was asked for: the sink
// with the key groups it has at its parallelism.
func (t *fakeExecutor) acknowledge(m *Master) {
	id := t.triggered[0].Checkpoint
	t.triggered = nil
	for _, v := range m.graph.Vertices {
		for _, s := range v.Subtasks {
			state := snapshot.SubtaskState{}
			if len(v.Inputs) > 0 {
				first, last := keygroup.Range(s.Subtask, len(v.Subtasks), v.Job.MaxParallelism)
				state.Keyed = []snapshot.KeyedState{{First: first, Last: last, Files: []snapshot.KeyedFile{{Name: "f",
					Handle: snapshot.Handle{Length: 1, Checksum: snapshot.Checksum([]byte{0}), Inline: []byte{0}}}}}}
			}
			part := &snapshot.Metadata{Checkpoint: id, Job: m.job, Operators: []snapshot.OperatorState{
				{ID: v.Job.Operators[0].ID, Parallelism: 1, MaxParallelism: v.Job.MaxParallelism, Subtasks: []snapshot.SubtaskState{state}}}}
			gateway.AcknowledgeCheckpoint.Call(t.system, t.w, t.master, t.fence(), &pb.AcknowledgeCheckpointRequest{
				Attempt: s.Current.ID.String(), Checkpoint: id, State: snapshot.Encode(part, "")}, 0, func(_ *pb.Empty, err error) {
				if err != nil {
					panic(err)
				}
			})
		}
	}
}

// decline lets a task have no part to give in the checkpoint that was asked for.
func (t *fakeExecutor) decline() {
	gateway.DeclineCheckpoint.Send(t.system, t.w, t.master, t.fence(), &pb.DeclineCheckpointRequest{
		Attempt: t.running[0], Checkpoint: t.triggered[0].Checkpoint, Reason: checkpoint.Declined.String()})
	t.triggered = nil
}

// TestRescaleUponACheckpoint rescales a job from the checkpoint that is taken for it:
// coordinators and tasks begin with what is in it.
func TestRescaleUponACheckpoint(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te := rm.taskExecutor("te1", 1)
	var log []string
	job := adaptiveJob(2, "execution.checkpointing.interval=10 min", "execution.checkpointing.tolerable-failed-checkpoints=9")
	m, _ := w.start(t, job, func(o *Options) {
		o.Disk = &disk{}
		o.Coordinators = coordinator.Kinds{"echo": func(c coordinator.Context) (coordinator.Coordinator, error) {
			return &stateful{echo: echo{c: c}, log: &log}, nil
		}}
	})
	w.pass(time.Minute)
	expect(t, "with what there is", parallelisms(m.View()), []int{1, 1})
	expect(t, "not asked for a checkpoint", len(te.triggered), 0)
	rm.executor[0].slots = 2
	rm.offer()
	w.pass(time.Second)
	expect(t, "asked for a checkpoint", len(te.triggered), 1)
	expect(t, "until it is there", states(m.View()), "RUNNING RUNNING RUNNING")
	te.acknowledge(m)
	w.pass(time.Second)
	v := m.View()
	expect(t, "rescaled", parallelisms(v), []int{2, 2})
	expect(t, "all run", states(v), "RUNNING RUNNING RUNNING RUNNING RUNNING")
	expect(t, "the coordinator begins with", log, []string{"at 1"})
	for _, d := range te.deployed[2:] {
		restored, err := snapshot.Decode(d.Restore, "")
		if err != nil || restored.Checkpoint != 1 || len(restored.Operators) != 1 {
			t.Fatalf("attempt %s begins with %+v, %v", d.Attempt, restored, err)
		}
		keyed := restored.Operators[0].Subtasks[0].Keyed
		attempt, _ := ident.ParseAttempt(d.Attempt)
		if attempt.Vertex == job.Vertices[0].ID {
			continue
		}
		want := [2][2]int{{0, 63}, {64, 127}}[attempt.Subtask]
		if len(keyed) != 1 || [2]int{keyed[0].First, keyed[0].Last} != want {
			t.Errorf("attempt %s begins with %+v, want groups %v", d.Attempt, keyed, want)
		}
	}

	// Failed checkpoints: after two it is rescaled without one.
	w.pass(time.Minute)
	source, sink := job.Vertices[0].ID, job.Vertices[1].ID
	m.Require(map[ident.VertexID]execgraph.Bounds{source: {Lower: 1, Upper: 1}, sink: {Lower: 1, Upper: 1}}, func(error) {})
	for i := range 2 {
		w.pass(time.Second)
		expect(t, fmt.Sprint("asked again ", i), len(te.triggered), 1)
		expect(t, "before", parallelisms(m.View()), []int{2, 2})
		te.decline()
	}
	w.pass(time.Second)
	expect(t, "without a checkpoint", parallelisms(m.View()), []int{1, 1})
	expect(t, "begins with", log, []string{"at 1", "at 1"})
	expect(t, "failures", len(m.View().Failures), 0)
}
