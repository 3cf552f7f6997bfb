package jobmaster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// restarting gives a job fixed delays of a second.
func restarting(g *jobgraph.Graph, attempts string) *jobgraph.Graph {
	g.Configuration = map[string]string{"restart-strategy": "fixed-delay", "restart-strategy.fixed-delay.attempts": attempts}
	return g
}

// attempts lists the numbers of the job's current attempts, in order.
func attempts(v execgraph.View) (all []int) {
	for _, vertex := range v.Vertices {
		for i := range vertex.Subtasks {
			all = append(all, vertex.Subtasks[i].ID.Attempt)
		}
	}
	return all
}

func TestTaskRestarts(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1)
	graph, e := restarting(twoVertices(2), "1"), &echo{}
	graph.Vertices[0].Operators[0].Coordinator = &jobgraph.Coordinator{Kind: "echo", Spec: "spec"}
	m, done := w.start(t, graph, func(o *Options) {
		o.Coordinators = coordinator.Kinds{"echo": func(c coordinator.Context) (coordinator.Coordinator, error) { e.c = c; return e, nil }}
	})
	w.pass(time.Second)
	before := [][]string{te1.active, te2.active}
	te1.report(te1.running[0], "FAILED", &pb.Failure{Kind: "Error", Message: "boom"})
	w.pass(500 * time.Millisecond)
	expect(t, "in the pause", states(m.View()), "RESTARTING FAILED CANCELED CANCELED CANCELED")
	expect(t, "coordinator told of the ends", e.failed, []string{"0.0", "1.0"})
	w.pass(time.Second)
	v := m.View()
	expect(t, "after it", states(v), "RUNNING RUNNING RUNNING RUNNING RUNNING")
	expect(t, "attempts", attempts(v), []int{1, 1, 1, 1})
	expect(t, "coordinator reset", e.failed, []string{"0.0", "1.0", "reset 0", "reset 1"})
	expect(t, "slots", [][]string{te1.active, te2.active}, before)
	expect(t, "deployed", []int{len(te1.deployed), len(te2.deployed)}, []int{4, 4})
	expect(t, "where it was", te1.deployed[2].AllocationId, te1.deployed[0].AllocationId)
	expect(t, "restarts", v.Restarts, execgraph.Restarts{All: 1, Full: 1})
	expect(t, "decision", v.Failures[0].Decision.String(),
		"restarted 4 tasks after 1s (restart 1, FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=1, backoffTimeMS=1000))")

	te2.report(te2.running[0], "FAILED", &pb.Failure{Kind: "Error", Message: "bang"})
	w.pass(time.Minute)
	expect(t, "the second failure", states(m.View()), "FAILED CANCELED FAILED CANCELED CANCELED")
	expect(t, "OnDone", len(*done), 1)
	w.quiet(t, m)
}

// A TaskManager dies; another one has slots to spare.
func TestTaskManagerIsReplaced(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	rm.taskExecutor("te1", 1)
	te2, te3 := rm.taskExecutor("te2", 1), rm.taskExecutor("te3", 1)
	m, _ := w.start(t, restarting(twoVertices(2), "9"), nil)
	w.pass(time.Second)
	expect(t, "not needed", len(te3.deployed), 0)
	w.die("te1")
	w.pass(200 * time.Millisecond)
	expect(t, "noticed", m.View().State, status.JobRestarting)
	rm.executor = rm.executor[1:] // the ResourceManager notices as well
	w.pass(2 * time.Second)
	v := m.View()
	expect(t, "again", states(v), "RUNNING RUNNING RUNNING RUNNING RUNNING")
	expect(t, "deployed", []int{len(te2.deployed), len(te3.deployed)}, []int{4, 2})
	expect(t, "cause", v.Failures[0].Failure.Kind, status.FailureLost)
	expect(t, "restarts", v.Restarts.All, 1)
	w.quiet(t, m)
}

// A TaskManager dies with an output that is still needed, and with the slot in
// which it was produced, which nobody uses: the task runs again elsewhere, at its
// first attempt, and not in the slot that is as dead.
func TestOutputIsLostWithAFreeSlot(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1, te2, te3 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1), rm.taskExecutor("te3", 1)
	graph := restarting(twoVertices(1), "9")
	graph.Configuration["restart-strategy.fixed-delay.delay"] = "0 s"
	source, sink := graph.Vertices[0], graph.Vertices[1]
	source.Produces[0].Type = jobgraph.Blocking
	slow := *source
	slow.ID, slow.Name, slow.SlotSharingGroup = ident.VertexID{ID: ident.ID{4}}, "Slow source", "other"
	set := *source.Produces[0]
	set.ID = ident.DataSetID{ID: ident.ID{5}}
	slow.Produces = []*jobgraph.DataSet{&set}
	sink.Inputs = append(sink.Inputs, &jobgraph.Edge{DataSet: set.ID, Source: slow.ID, Distribution: jobgraph.AllToAll, Ship: "HASH"})
	graph.Vertices = []*jobgraph.Vertex{source, &slow, sink}
	m, _ := w.start(t, graph, nil)
	w.pass(time.Second)
	expect(t, "both sources run", []int{len(te1.running), len(te2.running), len(te3.running)}, []int{1, 1, 0})
	te1.outputs = slices.Clone(te1.running)
	te1.finish()
	w.pass(time.Second)
	expect(t, "one has finished", states(m.View()), "RUNNING FINISHED RUNNING CREATED")
	w.die("te1")
	rm.executor = rm.executor[1:]
	w.pass(2 * time.Second)
	v := m.View()
	expect(t, "produced again", states(v), "RUNNING RUNNING RUNNING CREATED")
	expect(t, "attempts", attempts(v), []int{1, 0, 0})
	expect(t, "restarts", v.Restarts.All, 1)
	expect(t, "elsewhere", len(te3.running), 1)
	m.Cancel(func(error) {})
	w.pass(time.Minute)
	w.quiet(t, m)
}

// What ends while a job waits for its restart leaves no timer.
func TestEndsInThePause(t *testing.T) {
	for name, end := range map[string]func(*Master){
		"canceled": func(m *Master) { m.Cancel(func(error) {}) }, "closed": func(m *Master) { m.Close(func() {}) },
	} {
		w := newWorld()
		rm := w.resourceManager()
		te1 := rm.taskExecutor("te1", 2)
		m, done := w.start(t, restarting(twoVertices(2), "9"), nil)
		w.pass(time.Second)
		te1.report(te1.running[0], "FAILED", &pb.Failure{Kind: "Error", Message: "boom"})
		w.pass(500 * time.Millisecond)
		expect(t, name+", in the pause", m.View().State, status.JobRestarting)
		end(m)
		w.pass(time.Minute)
		expect(t, name+", ended", m.View().State.Terminal(), true)
		expect(t, name+", OnDone", len(*done), 1)
		expect(t, name+", attempts", attempts(m.View()), []int{0, 0, 0, 0})
		w.quiet(t, m)
	}
}

func TestRestartSettings(t *testing.T) {
	cluster := func(kv map[string]string) *config.Config {
		c, err := config.New(kv)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	fixed := map[string]string{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "7", "rest.port": "1"}
	for _, test := range []struct {
		cluster *config.Config
		job     map[string]string
		want    string
	}{
		{nil, nil, "NoRestartBackoffTimeStrategy"},
		{cluster(fixed), nil, "FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=7, backoffTimeMS=1000)"},
		{cluster(fixed), map[string]string{"restart-strategy": "none", "pipeline.name": "x"}, "NoRestartBackoffTimeStrategy"},
		{cluster(fixed), map[string]string{"restart-strategy.fixed-delay.delay": "0 s"},
			"FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=7, backoffTimeMS=0)"},
		{nil, map[string]string{"restart-strategy.type": "failurerate"},
			"FailureRateRestartBackoffTimeStrategy(FailureRateRestartBackoffTimeStrategy(failuresIntervalMS=60000,backoffTimeMS=1000,maxFailuresPerInterval=1)"},
		{nil, map[string]string{"restart-strategy.type": "exponential-delay"},
			"ExponentialDelayRestartBackoffTimeStrategy(initialBackoffMS=1000, maxBackoffMS=60000, backoffMultiplier=1.5, resetBackoffThresholdMS=3600000, " +
				"jitterFactor=0.1, attemptsBeforeResetBackoff=2147483647, currentRestartAttempt=0, nextRestartTimestamp=0)"},
	} {
		c, err := jobSettings(test.cluster, test.job)
		if err != nil {
			t.Errorf("%v: %v", test.job, err)
			continue
		}
		expect(t, "strategy", backoffOf(c, false, nil).String(), test.want)
	}
	w := newWorld()
	graph := twoVertices(1)
	graph.Configuration = map[string]string{"restart-strategy.type": "sometimes"}
	if _, err := New(Options{Loop: w, System: system{w, "jm"}, Graph: graph}); err == nil || !strings.Contains(err.Error(), `"sometimes" is no valid choice`) {
		t.Errorf("a strategy that does not exist: %v", err)
	}
}
