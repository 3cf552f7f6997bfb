package jobmaster

import (
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// twoStages are sources that leave their output for keyed sinks to read.
func twoStages(p int) *jobgraph.Graph {
	g := twoVertices(p)
	g.Batch = true
	g.Vertices[0].Produces[0].Type = jobgraph.Blocking
	return restarting(g, "9")
}

// ofSubtask gives the attempt of a vertex's subtask that runs on an executor.
func (t *fakeExecutor) ofSubtask(test *testing.T, subtask int) string {
	test.Helper()
	for _, text := range t.running {
		if a, err := ident.ParseAttempt(text); err == nil && a.Subtask == subtask {
			return text
		}
	}
	test.Fatalf("no subtask %d runs on %s: %q", subtask, t.self, t.running)
	return ""
}

// One of two sources has finished, and its output is lost before anybody reads
// it. That source alone runs again.
func TestLostOutputIsProducedAgain(t *testing.T) {
	for name, tell := range map[string]bool{"its TaskManager tells": true, "the next heartbeat shows it": false} {
		w := newWorld()
		rm := w.resourceManager()
		te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1)
		m, done := w.start(t, twoStages(2), nil)
		w.pass(time.Second)
		expect(t, name+", first stage", states(m.View()), "RUNNING RUNNING RUNNING CREATED CREATED")
		first := te1.running[0]
		te1.report(first, "FINISHED", nil)
		w.pass(time.Second)
		expect(t, name+", kept", te1.outputs, []string{first})
		te1.loseOutputs(tell)
		w.pass(30 * time.Second)
		expect(t, name+", it runs again", states(m.View()), "RUNNING RUNNING RUNNING CREATED CREATED")
		again, _ := ident.ParseAttempt(first)
		want := []int{0, 0, 0, 0}
		want[again.Subtask] = 1
		expect(t, name+", attempts", attempts(m.View()), want)
		for range 2 { // the sources, then the sinks
			te1.finish()
			te2.finish()
			w.pass(5 * time.Second)
		}
		expect(t, name+", the end", states(m.View()), "FINISHED FINISHED FINISHED FINISHED FINISHED")
		expect(t, name+", OnDone", len(*done), 1)
		expect(t, name+", kept at the end", [][]string{te1.outputs, te2.outputs}, [][]string{{}, {}})
		if f := m.View().Failures; len(f) != 1 || f[0].Failure.Kind != status.FailurePartition {
			t.Errorf("%s: the failures are %+v", name, f)
		}
		w.quiet(t, m)
	}
}

// A worker dies while sinks read what it had produced: the loss and the sinks'
// failure are one restart, of the sinks and of what they cannot read any more.
func TestOutputLostWithItsReaders(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 2)
	m, _ := w.start(t, twoStages(2), nil)
	w.pass(time.Second)
	te1.finish()
	w.pass(time.Second)
	expect(t, "second stage", states(m.View()), "RUNNING FINISHED FINISHED RUNNING RUNNING")
	te1.loseOutputs(true)
	te1.report(te1.ofSubtask(t, 0), "FAILED", &pb.Failure{Kind: string(status.FailureSignal), Message: "killed"})
	w.pass(5 * time.Second)
	v := m.View()
	expect(t, "attempts", attempts(v), []int{1, 1, 1, 1})
	expect(t, "states", states(v), "RUNNING RUNNING RUNNING CREATED CREATED")
	expect(t, "restarts", v.Restarts.All, 1)
	for range 2 {
		te1.finish()
		w.pass(5 * time.Second)
	}
	expect(t, "the end", m.View().State, status.JobFinished)
	w.quiet(t, m)
}

// A TaskManager that keeps what nobody will read is told to let go of it.
func TestUnwantedOutputsAreReleased(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 1)
	m, _ := w.start(t, twoStages(1), nil)
	w.pass(time.Second)
	kept := te1.running[0]
	te1.finish()
	w.pass(time.Second)
	stranger := ident.AttemptID{Vertex: ident.VertexID{ID: ident.ID{77}}}.String()
	te1.outputs = append(te1.outputs, stranger)
	w.pass(30 * time.Second)
	expect(t, "released", te1.released, []string{stranger})
	expect(t, "kept", te1.outputs, []string{kept})
	te1.finish()
	w.pass(5 * time.Second)
	expect(t, "the end", m.View().State, status.JobFinished)
	if !slices.Contains(te1.released, kept) && te1.gone == "" {
		t.Errorf("after the end it has released %q", te1.released)
	}
	w.quiet(t, m)
}
