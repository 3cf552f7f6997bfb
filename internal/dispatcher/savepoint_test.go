package dispatcher

import (
	"errors"
	"testing"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/status"
)

// A running job takes savepoints; one that has ended is not found, as in Flink.
func TestSavepoints(t *testing.T) {
	w := &world{t: t, loop: actor.Start("dispatcher"), masters: map[string]*master{}}
	defer w.loop.Close()
	w.dispatcher = New(Options{Loop: w.loop, NewJobMaster: w.create, Finished: StoreOptions{MaxCapacity: 1}})
	graph := &jobgraph.Graph{Job: jobID("1"), Name: "a", Vertices: []*jobgraph.Vertex{{Parallelism: 1, MaxParallelism: 1}}}
	if err := w.dispatcher.Submit(t.Context(), graph); err != nil {
		t.Fatal(err)
	}
	at, err := w.dispatcher.Savepoint(t.Context(), graph.Job, jobmaster.Savepoint{Target: "file:/sp"})
	if err != nil || at != "file:/sp/savepoint-1" {
		t.Errorf("savepoint: %s, %v", at, err)
	}
	if id, err := w.dispatcher.Checkpoint(t.Context(), graph.Job, true); err != nil || id != 7 {
		t.Errorf("checkpoint: %d, %v", id, err)
	}
	if _, err := actor.Query(t.Context(), w.loop, func() bool { w.masters["a"].move(status.JobFinished); return true }); err != nil {
		t.Fatal(err)
	}
	var notFound *NotFoundError
	if _, err := w.dispatcher.Savepoint(t.Context(), graph.Job, jobmaster.Savepoint{}); !errors.As(err, &notFound) {
		t.Errorf("savepoint of a job that has ended: %v", err)
	}
	if _, err := w.dispatcher.Checkpoint(t.Context(), jobID("9"), false); !errors.As(err, &notFound) {
		t.Errorf("checkpoint of an unknown job: %v", err)
	}
}
