package jobmaster

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/status"
)

// A slowStore is read after a while.
type slowStore struct {
	checkpointing.Memory
	w *world
}

func (s *slowStore) All(then func([]checkpoint.Pointer, error)) {
	s.w.After(10*time.Second, func() { s.Memory.All(then) })
}

// withCheckpoints gives a job checkpoints, of which an earlier JobMaster may have
// left some, and restarts it after failures.
func (w *world) withCheckpoints(graph *jobgraph.Graph) func(*Options) {
	graph.Configuration = map[string]string{"execution.checkpointing.interval": "5 s",
		"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "3", "restart-strategy.fixed-delay.delay": "0 s"}
	return func(o *Options) {
		o.Disk = storage.Disk{Files: mem.New(w.Now)}
		o.CheckpointStore = func(ident.JobID) checkpointing.Store { return &slowStore{w: w} }
	}
}

// What fails while the store of checkpoints is read is no end of the job.
func TestACoordinatorFailsBeforeTheJobIsStarted(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	rm.taskExecutor("te1", 2)
	graph := twoVertices(2)
	m, _ := w.start(t, graph, w.withCheckpoints(graph))
	w.pass(time.Second)
	m.Fail(errors.New("no files"))
	w.pass(time.Second)
	expect(t, "while it waits", m.View().State, status.JobCreated)
	w.pass(20 * time.Second)
	v := m.View()
	expect(t, "then", v.State, status.JobRunning)
	if len(v.Failures) != 1 || v.Failures[0].Failure.Error() != "no files" {
		t.Errorf("failures %+v", v.Failures)
	}
	m.Cancel(func(error) {})
	w.pass(time.Minute)
	w.quiet(t, m)
}

// A coordinator is started once it is known what the job begins with: before, it would
// look for work that a checkpoint may have already, and may no longer find it.
func TestACoordinatorStartsWithWhatTheJobBeginsWith(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	rm.taskExecutor("te1", 2)
	graph := twoVertices(2)
	graph.Vertices[0].Operators[0].Coordinator = &jobgraph.Coordinator{Kind: "sizing"}
	s := &sizing{}
	checkpoints, coordinators := w.withCheckpoints(graph), kinds(s)
	m, _ := w.start(t, graph, func(o *Options) {
		checkpoints(o)
		coordinators(o)
	})
	w.pass(9 * time.Second)
	expect(t, "while the store of checkpoints is read", s.started, 0)
	w.pass(11 * time.Second)
	expect(t, "then", s.started, 1)
	m.Cancel(func(error) {})
	w.pass(time.Minute)
	w.quiet(t, m)
}

// A task that is being canceled is given no work any more: the coordinator may have
// been restored to what it had before.
func TestACanceledTaskIsGivenNothing(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 2)
	graph := twoVertices(2)
	graph.Vertices[0].Operators[0].Coordinator = &jobgraph.Coordinator{Kind: "echo", Spec: "spec"}
	change := w.withCheckpoints(graph)
	e := &echo{}
	m, _ := w.start(t, graph, func(o *Options) {
		change(o)
		o.Coordinators = coordinator.Kinds{"echo": func(c coordinator.Context) (coordinator.Coordinator, error) { e.c = c; return e, nil }}
	})
	w.pass(20 * time.Second)
	source, answer := te1.running[0], ""
	w.lose = func(_ rpc.Address, method string) bool { return method == gateway.CancelTask.Name }
	m.Fail(errors.New("again"))
	w.pass(time.Millisecond)
	gateway.RequestOperator.Call(te1.system, w, te1.master, te1.fence(), &pb.OperatorRequest{Attempt: source, Operator: graph.Vertices[0].Operators[0].ID.String(), Payload: []byte("hi")}, 0,
		func(r *pb.OperatorResponse, err error) { answer = string(r.GetPayload()) + err.Error() })
	w.pass(time.Second)
	if !strings.Contains(answer, "is not running") {
		t.Errorf("answered %q", answer)
	}
}

// A task may decline a checkpoint without saying more than why.
func TestACheckpointIsDeclinedWithoutAFailure(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 2)
	graph := twoVertices(2)
	change := w.withCheckpoints(graph)
	graph.Configuration["execution.checkpointing.tolerable-failed-checkpoints"] = "5"
	m, _ := w.start(t, graph, change)
	w.lose = func(_ rpc.Address, method string) bool { return method == gateway.TriggerCheckpoint.Name }
	for m.View().Checkpoints.Counts.InProgress == 0 {
		w.pass(time.Second)
	}
	w.pass(time.Second)
	gateway.DeclineCheckpoint.Call(te1.system, w, te1.master, te1.fence(), &pb.DeclineCheckpointRequest{Attempt: te1.running[0], Checkpoint: m.View().Checkpoints.History[0].ID, Reason: "CHECKPOINT_DECLINED_SUBSUMED"}, 0,
		func(_ *pb.Empty, err error) { expect(t, "answer", err, error(nil)) })
	w.pass(time.Second)
	if v := m.View().Checkpoints; v.Counts.Failed != 1 || !strings.Contains(v.History[0].Failure, "newer checkpoint") {
		t.Errorf("shown: %+v", v)
	}
}

// A store that outlives the JobMaster is of no use to checkpoints that do not.
func TestCheckpointsInMemoryCannotOutliveTheirJobMaster(t *testing.T) {
	w := newWorld()
	graph := twoVertices(1)
	o := Options{Loop: w, System: system{w, "jm"}, Graph: graph}
	w.withCheckpoints(graph)(&o)
	o.CheckpointStore = func(ident.JobID) checkpointing.Store { return checkpointing.NewLasting(w, storage.Ledger{}) }
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "as high-availability.type wants: set execution.checkpointing.dir") {
		t.Errorf("made: %v", err)
	}
}

// Tasks are told that their job has checkpoints, also where only the cluster's settings
// ask for them; a batch job has none.
func TestTasksKnowOfCheckpoints(t *testing.T) {
	for _, batch := range []bool{false, true} {
		w := newWorld()
		w.resourceManager()
		graph := twoVertices(2)
		graph.Batch = batch
		prepare := w.withCheckpoints(graph)
		m, _ := w.start(t, graph, func(o *Options) {
			prepare(o)
			graph.Configuration = nil
			c, err := config.New(map[string]string{"execution.checkpointing.interval": "5 s"})
			if err != nil {
				t.Fatal(err)
			}
			o.Config = c
		})
		want := map[bool]string{false: "5000 ms"}[batch]
		if got := m.describer.job.Configuration["execution.checkpointing.interval"]; got != want {
			t.Errorf("batch %v: the interval is %q, want %q", batch, got, want)
		}
		m.Cancel(func(error) {})
		w.pass(time.Minute)
		w.quiet(t, m)
	}
}
