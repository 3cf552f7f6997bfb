package jobmaster

import (
	"errors"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
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
