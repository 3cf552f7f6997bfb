package jobmaster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// sizing is a coordinator that says, a while after its start, how much there is
// to read, or that it cannot find out.
type sizing struct {
	context coordinator.Context
	fails   bool
	started int
	reset   []int
}

func (s *sizing) Start() {
	s.started++
	s.context.Loop.After(time.Second, func() {
		if s.fails {
			s.context.Fail(fmt.Errorf("no file matches"))
			return
		}
		s.context.Sized(5, 17)
	})
}
func (s *sizing) HandleRequest(int, int, []byte, func([]byte, error)) {}
func (s *sizing) SubtaskFailed(int, int)                              {}
func (s *sizing) Reset(subtask int)                                   { s.reset = append(s.reset, subtask) }
func (s *sizing) Close()                                              {}
func (s *sizing) Sizing() bool                                        { return true }

// openJob is a source with a coordinator and a keyed sink with four key groups,
// whose parallelism is open; a task is to read 10 bytes.
func openJob() *jobgraph.Graph {
	g := restarting(twoVertices(1), "9")
	g.Configuration["execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task"] = "10 bytes"
	g.Batch = true
	source, sink := g.Vertices[0], g.Vertices[1]
	source.Produces[0].Type = jobgraph.Blocking
	source.Parallelism, source.MaxParallelism, sink.Parallelism, sink.MaxParallelism = 0, 4, 0, 4
	source.Operators[0].Coordinator = &jobgraph.Coordinator{Kind: "sizing"}
	return g
}

func kinds(s *sizing) func(*Options) {
	return func(o *Options) {
		o.Coordinators = coordinator.Kinds{"sizing": func(c coordinator.Context) (coordinator.Coordinator, error) {
			s.context = c
			return s, nil
		}}
	}
}

// A job is sized while it runs, each task is told which subpartitions it reads
// and which key groups it has, and the loss of a TaskManager between the stages
// changes nothing of it: only what is missing is produced again.
func TestAJobIsSizedWhileItRuns(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 3)
	s := &sizing{}
	m, _ := w.start(t, openJob(), kinds(s))
	w.pass(500 * time.Millisecond)
	expect(t, "before the source has said", states(m.View()), "RUNNING")
	expect(t, "its parallelism", []int{m.View().Vertices[0].Parallelism, m.View().Vertices[1].Parallelism}, []int{0, 0})
	w.pass(time.Second)
	v := m.View()
	expect(t, "sources run", states(v), "RUNNING RUNNING RUNNING")
	expect(t, "why", v.Vertices[0].Why, "17 B in 5 splits to read: at most 10 B a task, at least 1, at most 4 tasks")
	expect(t, "one each", []int{len(te1.running), len(te2.running)}, []int{1, 1})
	for _, te := range []*fakeExecutor{te1, te2} {
		te.produced, te.outputs = []int64{8, 4, 1, 0}, slices.Clone(te.running)
		expect(t, "subpartitions", te.deployed[0].Partitions[0].Subpartitions, 4)
		te.finish()
	}
	te1.produced, te2.produced = nil, nil
	w.pass(time.Second)
	v = m.View()
	expect(t, "sinks run", states(v), "RUNNING FINISHED FINISHED RUNNING RUNNING")
	expect(t, "why", v.Vertices[1].Why, "26 B produced by Source: at most 10 B a task, at least 1, at most 4 tasks")
	expect(t, "shares", shares(te1, te2), "sink 0 of 2: groups 0+1, reads 0+1 0+1; sink 1 of 2: groups 1+3, reads 1+3 1+3; ")

	w.die("te1")
	rm.executor = rm.executor[1:]
	te2.produced = []int64{80, 80, 80, 80}
	w.pass(2 * time.Second)
	expect(t, "one source again", attempts(m.View()), []int{1, 0, 1, 1})
	te2.finish()
	w.pass(time.Second)
	v = m.View()
	expect(t, "sinks again", states(v), "RUNNING FINISHED FINISHED RUNNING RUNNING")
	expect(t, "the source's splits were taken back once", s.reset, []int{0})
	expect(t, "shares", shares(te2), "sink 0 of 2: groups 0+1, reads 0+1 0+1; sink 1 of 2: groups 1+3, reads 1+3 1+3; ")
	te2.produced = nil
	te2.finish()
	w.pass(time.Minute)
	expect(t, "in the end", states(m.View()), "FINISHED FINISHED FINISHED FINISHED FINISHED")
	w.quiet(t, m)
}

// shares tells which key groups and subpartitions the sinks that were last
// deployed have.
func shares(all ...*fakeExecutor) string {
	newest := map[int]*pb.TaskDeployment{}
	for _, te := range all {
		for _, d := range te.deployed {
			if attempt, err := ident.ParseAttempt(d.Attempt); err == nil && d.VertexName == "Sink" {
				newest[attempt.Subtask] = d
			}
		}
	}
	text := ""
	for i := range len(newest) {
		d := newest[i]
		text += fmt.Sprintf("sink %d of %d: groups %d+%d, reads", i, d.Parallelism, d.FirstKeyGroup, d.KeyGroups)
		channels, err := gateway.Channels(d.Gates[0])
		if err != nil {
			return err.Error()
		}
		for _, c := range channels {
			text += fmt.Sprintf(" %d+%d", c.Subpartition, c.Subpartitions)
		}
		text += "; "
	}
	return text
}

// Settings of sizes that contradict each other are refused when the job begins.
func TestSizesThatContradictAreRefused(t *testing.T) {
	g := openJob()
	g.Configuration["execution.batch.adaptive.auto-parallelism.min-parallelism"] = "5"
	g.Configuration["jobmanager.adaptive-batch-scheduler.max-parallelism"] = "4"
	w := newWorld()
	o := Options{Loop: w, System: system{w, "jm"}, Graph: g}
	kinds(&sizing{})(&o)
	_, err := New(o)
	if err == nil || !strings.Contains(err.Error(), "min-parallelism is 5, above execution.batch.adaptive.auto-parallelism.max-parallelism, which is 4") {
		t.Errorf("got %v", err)
	}
}

// A source that cannot find out what there is to read fails the job, which
// restarts it like any other.
func TestASourceThatCannotBeSizedIsRestarted(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	rm.taskExecutor("te1", 1)
	s := &sizing{fails: true}
	m, _ := w.start(t, openJob(), kinds(s))
	w.pass(1500 * time.Millisecond)
	v := m.View()
	expect(t, "restarting", states(v), "RESTARTING CANCELED")
	w.pass(5 * time.Second)
	expect(t, "again", states(m.View()), "RUNNING RUNNING")
	expect(t, "reset", s.reset, []int{0})
	m.Cancel(func(error) {})
	w.pass(time.Minute)
	w.quiet(t, m)
}
