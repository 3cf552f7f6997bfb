package jobmaster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

func TestRunsToTheEnd(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1)
	m, done := w.start(t, twoVertices(2), nil)
	w.pass(time.Second)
	expect(t, "running", states(m.View()), "RUNNING RUNNING RUNNING RUNNING RUNNING")
	expect(t, "requirement", rm.declared, []int{2})
	expect(t, "tasks on te1", len(te1.deployed), 2)
	sink := te2.deployed[1]
	expect(t, "channels", len(sink.Gates[0].Channels), 2)
	expect(t, "addresses", sink.Gates[0].Channels[0].DataAddresses, []string{"unix:te1"})
	expect(t, "own subpartition", sink.Gates[0].Channels[0].Subpartition, 1)
	expect(t, "graph hash", sink.Job.GraphHash, twoVertices(2).Hash())
	expect(t, "operators", len(sink.Job.Operators), 2)

	te1.finish()
	w.pass(time.Second)
	expect(t, "half", states(m.View()), "RUNNING FINISHED RUNNING FINISHED RUNNING")
	te2.finish()
	w.pass(time.Second)
	expect(t, "end", states(m.View()), "FINISHED FINISHED FINISHED FINISHED FINISHED")
	expect(t, "OnDone", len(*done), 1)
	expect(t, "the ResourceManager knows", rm.gone, "FINISHED")
	expect(t, "slots freed", []int{len(te1.held), len(te2.held)}, []int{0, 0})
	expect(t, "TaskManager told", te2.gone, "the job is FINISHED")
	w.quiet(t, m)
}

// A slot whose tasks have finished is not given back while others read from them: the
// job's process there would end, and what is unread with it.
func TestASlotIsKeptWhileItsOutputIsRead(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1)
	graph := twoVertices(2)
	graph.Vertices[1].Parallelism = 1
	m, _ := w.start(t, graph, nil)
	w.pass(time.Second)
	expect(t, "tasks on te2", len(te2.deployed), 1)
	te2.finish()
	w.pass(5 * time.Minute)
	expect(t, "a slow reader", states(m.View()), "RUNNING RUNNING FINISHED RUNNING")
	expect(t, "its slots", []int{len(te1.held), len(te2.held)}, []int{1, 1})
	te1.finish()
	w.pass(time.Second)
	expect(t, "end", states(m.View()), "FINISHED FINISHED FINISHED FINISHED")
	expect(t, "slots at the end", []int{len(te1.held), len(te2.held)}, []int{0, 0})
	w.quiet(t, m)
}

// quiet closes the master and checks that it leaves nothing behind.
func (w *world) quiet(t *testing.T, m *Master) {
	t.Helper()
	closed := 0
	m.Close(func() { closed++ })
	w.pass(time.Hour)
	expect(t, "closed", closed, 1)
	expect(t, "endpoint", w.served[rpc.Address{Process: "jm", Endpoint: gateway.JobMaster(m.job)}], nil)
	expect(t, "timers left", len(w.timers), 0)
	expect(t, "watches left", len(w.watch), 0)
}

// running starts a job of two subtasks on two TaskManagers.
func running(t *testing.T) (*world, *fakeManager, *fakeExecutor, *fakeExecutor, *Master, *[]execgraph.View) {
	t.Helper()
	w := newWorld()
	rm := w.resourceManager()
	te1, te2 := rm.taskExecutor("te1", 1), rm.taskExecutor("te2", 1)
	m, done := w.start(t, twoVertices(2), nil)
	w.pass(time.Second)
	expect(t, "running", states(m.View()), "RUNNING RUNNING RUNNING RUNNING RUNNING")
	return w, rm, te1, te2, m, done
}

func TestLostTaskManager(t *testing.T) {
	w, _, _, te2, m, done := running(t)
	w.die("te1")
	w.pass(time.Second) // the broken connection is a hint, the pings after it decide
	expect(t, "end", states(m.View()), "FAILED FAILED CANCELED FAILED CANCELED")
	expect(t, "stopped elsewhere", len(te2.canceled), 2)
	f := (*done)[0].Failures[0]
	expect(t, "kind", f.Failure.Kind, status.FailureLost)
	expect(t, "names the TaskManager", strings.Contains(f.Failure.Message, "TaskManager id-te1 (te1:1) was lost"), true)
	expect(t, "task", f.Task, "Source (1/2)")
	expect(t, "place", string(f.TaskManager)+" "+f.Host, "id-te1 te1:1")
	expect(t, "concurrent", len(f.Concurrent), 1)
	expect(t, "chain", f.Failure.Chain, []string{"Recovery is suppressed by NoRestartBackoffTimeStrategy"})
	w.quiet(t, m)
}

// A TaskManager behind a cut cable breaks no connection: silence decides.
func TestSilentTaskManager(t *testing.T) {
	w, _, _, _, m, _ := running(t)
	w.lose = func(to rpc.Address, _ string) bool { return to.Process == "te1" }
	w.pass(49 * time.Second)
	expect(t, "before the timeout", m.View().State, status.JobRunning)
	w.pass(15 * time.Second)
	expect(t, "after", states(m.View()), "FAILED FAILED CANCELED FAILED CANCELED")
	w.quiet(t, m)
}

func TestTaskFails(t *testing.T) {
	w, _, te1, _, m, done := running(t)
	te1.report(te1.running[0], "FAILED", &pb.Failure{Kind: "Panic", Message: "boom", Stack: "goroutine 1", Chain: []string{"map"}})
	w.pass(time.Second)
	expect(t, "end", states(m.View()), "FAILED FAILED CANCELED CANCELED CANCELED")
	f := (*done)[0].Failures[0].Failure
	expect(t, "whole text", f.Error(), "Recovery is suppressed by NoRestartBackoffTimeStrategy: map: boom")
	expect(t, "innermost", []string{string(f.Kind), f.Message, f.Stack}, []string{"Panic", "boom", "goroutine 1"})
	w.quiet(t, m)
}

func TestDeployRefused(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 2)
	te1.refuse = "no such slot"
	m, _ := w.start(t, twoVertices(2), nil)
	w.pass(time.Second)
	v := m.View()
	expect(t, "job", v.State, status.JobFailed)
	expect(t, "cause", v.Failures[0].Failure.Error(),
		"Recovery is suppressed by NoRestartBackoffTimeStrategy: deploy Source (1/2) to TaskManager id-te1: no such slot")
	w.quiet(t, m)
}

func TestCancel(t *testing.T) {
	w, _, te1, te2, m, done := running(t)
	answers := []error{}
	note := func(err error) { answers = append(answers, err) }
	m.Cancel(note)
	m.Cancel(note)
	w.pass(time.Second)
	m.Cancel(note)
	expect(t, "answers", answers, []error{nil, nil, nil})
	expect(t, "end", states(m.View()), "CANCELED CANCELED CANCELED CANCELED CANCELED")
	expect(t, "stopped", []int{len(te1.canceled), len(te2.canceled)}, []int{2, 2})
	expect(t, "OnDone", len(*done), 1)
	w.quiet(t, m)
}

func TestCancelFinished(t *testing.T) {
	w, _, te1, te2, m, _ := running(t)
	te1.finish()
	te2.finish()
	w.pass(time.Second)
	var ended *EndedError
	m.Cancel(func(err error) { errors.As(err, &ended) })
	expect(t, "refused", ended.State, status.JobFinished)
	w.quiet(t, m)
}

// A stop that is lost every time is repeated by the heartbeats.
func TestLostStop(t *testing.T) {
	w, _, te1, _, m, _ := running(t)
	w.lose = func(to rpc.Address, method string) bool {
		return to.Process == "te1" && method == gateway.CancelTask.Name
	}
	m.Cancel(func(error) {})
	w.pass(40 * time.Second)
	expect(t, "waits", states(m.View()), "CANCELLING CANCELING CANCELED CANCELING CANCELED")
	expect(t, "still running", len(te1.running), 2)
	w.lose = nil
	w.pass(15 * time.Second)
	expect(t, "end", m.View().State, status.JobCanceled)
	w.quiet(t, m)
}

// A task that ended without a word is missed in the second answer.
func TestMissingTask(t *testing.T) {
	w, _, te1, _, m, _ := running(t)
	te1.running = te1.running[:1]
	w.pass(12 * time.Second)
	expect(t, "missed once", m.View().State, status.JobRunning)
	w.pass(10 * time.Second)
	v := m.View()
	expect(t, "missed twice", v.State, status.JobFailed)
	expect(t, "cause", v.Failures[0].Failure.Message, "Sink (1/2) is unexpectedly no longer running on TaskManager id-te1")
	w.quiet(t, m)
}

func TestUnknownTask(t *testing.T) {
	w, _, te1, _, m, _ := running(t)
	stray := ident.AttemptID{Attempt: 3}.String()
	te1.running = append(te1.running, stray)
	te1.stubborn = true
	w.pass(12 * time.Second)
	expect(t, "stopped", te1.canceled, []string{stray})
	var known *bool
	gateway.UpdateTaskExecutionState.Call(te1.system, w, te1.master, te1.fence(),
		&pb.UpdateTaskExecutionStateRequest{Attempt: stray, State: "RUNNING"}, 0,
		func(r *pb.UpdateTaskExecutionStateResponse, err error) { known = &r.Known })
	w.pass(time.Second)
	expect(t, "known", *known, false)
	te1.stubborn = false
	w.quiet(t, m)
}

func TestFailedSlot(t *testing.T) {
	w, _, te1, _, m, _ := running(t)
	gateway.FailSlot.Send(te1.system, w, te1.master, te1.fence(),
		&pb.FailSlotRequest{ResourceId: "id-te1", AllocationId: te1.held[0], Cause: "worker process died"})
	w.pass(time.Second)
	v := m.View()
	expect(t, "end", states(v), "FAILED FAILED CANCELED FAILED CANCELED")
	expect(t, "cause", v.Failures[0].Failure.Message, "worker process died")
	w.quiet(t, m)
}

// The ResourceManager may come late, go, and come back in another term: the
// requirement is declared again, and tasks go on.
func TestResourceManagerComesAndGoes(t *testing.T) {
	w := newWorld()
	m, _ := w.start(t, twoVertices(2), nil)
	w.pass(time.Minute)
	expect(t, "waits", states(m.View()), "RUNNING SCHEDULED SCHEDULED SCHEDULED SCHEDULED")
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 2)
	w.pass(30 * time.Second)
	expect(t, "running", states(m.View()), "RUNNING RUNNING RUNNING RUNNING RUNNING")

	rm.start() // a new term, which the master learns by the missing heartbeats
	w.pass(time.Minute)
	expect(t, "declared again", rm.declared, []int{2, 2})
	for range 10 {
		rm.beat()
		w.pass(10 * time.Second)
	}
	expect(t, "heartbeats keep the registration", len(rm.declared), 2)

	w.die("rm")
	w.pass(time.Minute)
	w.down["rm"] = false
	w.pass(time.Minute)
	expect(t, "declared again", len(rm.declared) > 2, true)
	expect(t, "tasks went on", len(te1.running), 4)
	te1.finish()
	w.pass(time.Second)
	expect(t, "end", m.View().State, status.JobFinished)
	w.quiet(t, m)
}

func TestNotEnoughSlots(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	rm.taskExecutor("te1", 1)
	m, _ := w.start(t, twoVertices(2), func(o *Options) { o.SlotRequestTimeout = time.Minute })
	w.pass(59 * time.Second)
	expect(t, "waits", states(m.View()), "RUNNING SCHEDULED SCHEDULED SCHEDULED SCHEDULED")
	w.pass(2 * time.Second)
	v := m.View()
	expect(t, "end", v.State, status.JobFailed)
	expect(t, "numbers", strings.Contains(v.Failures[0].Failure.Message, `need 2 slots, have 1, free 0, slot sharing group "default"`), true)
	expect(t, "kind", v.Failures[0].Failure.Kind, status.FailureSlots)
	w.quiet(t, m)
}

// A TaskManager that was out of sight and returns offers its slots again.
func TestSlotsOfferedAgain(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 1)
	m, _ := w.start(t, twoVertices(2), nil)
	w.pass(time.Second)
	te1.serveJob(rm.job)
	w.pass(time.Second)
	expect(t, "still one slot", len(m.pool.Allocations("id-te1")), 1)
	rm.taskExecutor("te2", 1)
	rm.match(2)
	w.pass(time.Second)
	expect(t, "running", m.View().Vertices[0].Status, status.Running)
	m.Cancel(func(error) {})
	w.pass(time.Second)
	w.quiet(t, m)
}

func TestSuspended(t *testing.T) {
	w, _, te1, _, m, done := running(t)
	w.quiet(t, m)
	expect(t, "state", (*done)[0].State, status.JobSuspended)
	expect(t, "TaskManager told", te1.gone, "the job is SUSPENDED")
}

func TestFencedOff(t *testing.T) {
	w, _, te1, _, m, _ := running(t)
	var got error
	gateway.OfferSlots.Call(te1.system, w, te1.master, ident.LeaderID{ID: ident.ID{1}}, &pb.OfferSlotsRequest{}, 0,
		func(_ *pb.OfferSlotsResponse, err error) { got = err })
	w.pass(time.Second)
	expect(t, "fenced", errors.Is(got, rpc.ErrFenced), true)
	w.quiet(t, m)
}

// echo is a coordinator that answers with what it was asked, or fails the job.
type echo struct {
	c      coordinator.Context
	failed []string
	closed bool
}

func (e *echo) Start() {}
func (e *echo) HandleRequest(subtask, attempt int, payload []byte, reply func([]byte, error)) {
	if string(payload) == "die" {
		reply(nil, errors.New("dying"))
		e.c.Fail(fmt.Errorf("read %s: %w", e.c.Spec, errors.New("boom")))
		return
	}
	reply(fmt.Appendf(nil, "%d.%d %s", subtask, attempt, payload), nil)
}
func (e *echo) SubtaskFailed(subtask, attempt int) {
	e.failed = append(e.failed, fmt.Sprint(subtask, ".", attempt))
}
func (e *echo) Reset(subtask int) {
	e.failed = append(e.failed, fmt.Sprint("reset ", subtask))
}

func (e *echo) Unassigned() (splits int, known bool) { return 7, true }

func (e *echo) Close() { e.closed = true }

func TestCoordinator(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 2)
	graph := twoVertices(2)
	graph.Vertices[0].Operators[0].Coordinator = &jobgraph.Coordinator{Kind: "echo", Spec: "spec"}
	if _, err := New(Options{Loop: w, System: system{w, "jm"}, Graph: graph}); err == nil || !strings.Contains(err.Error(), `operator "Source" of vertex "Source": coordinator of kind "echo"`) {
		t.Errorf("unknown kind: %v", err)
	}
	e := &echo{}
	m, _ := w.start(t, graph, func(o *Options) {
		o.Coordinators = coordinator.Kinds{"echo": func(c coordinator.Context) (coordinator.Coordinator, error) { e.c = c; return e, nil }}
	})
	w.pass(time.Second)
	ask := func(attempt, operator, payload string) string {
		answer := ""
		gateway.RequestOperator.Call(te1.system, w, te1.master, te1.fence(), &pb.OperatorRequest{Attempt: attempt, Operator: operator, Payload: []byte(payload)}, 0,
			func(r *pb.OperatorResponse, err error) { answer = fmt.Sprint(string(r.GetPayload()), err) })
		w.pass(time.Second)
		return answer
	}
	source, sink := te1.running[1], te1.running[2]
	operator := graph.Vertices[0].Operators[0].ID.String()
	expect(t, "left", m.View().Coordinators, []execgraph.CoordinatorView{{Vertex: graph.Vertices[0].ID, VertexName: "Source", Operator: graph.Vertices[0].Operators[0].ID, Unassigned: 7}})
	expect(t, "answer", ask(source, operator, "hi"), "1.0 hi<nil>")
	expect(t, "no coordinator", strings.Contains(ask(sink, operator, "hi"), "has none"), true)
	expect(t, "no attempt", strings.Contains(ask("x", operator, "hi"), `attempt id "x"`), true)
	expect(t, "fails", strings.Contains(ask(source, operator, "die"), "dying"), true)
	v := m.View()
	expect(t, "end", v.State, status.JobFailed)
	expect(t, "cause", v.Failures[0].Failure.Error(),
		`Recovery is suppressed by NoRestartBackoffTimeStrategy: coordinator of operator "Source": read spec: boom`)
	expect(t, "told of the ends", e.failed, []string{"0.0", "1.0"})
	expect(t, "closed", e.closed, true)
	w.quiet(t, m)
}

func TestMetricsAndAccumulators(t *testing.T) {
	w, _, te1, te2, m, _ := running(t)
	gateway.ReportTaskMetrics.Send(te1.system, w, te1.master, te1.fence(), &pb.ReportTaskMetricsRequest{Metrics: []*pb.TaskMetrics{
		{Attempt: te1.running[0], RecordsOut: 7, BusyMillis: 3}, {Attempt: te2.running[0], RecordsOut: 5, BusyMillis: 4}}})
	w.pass(time.Second)
	expect(t, "sum", m.View().Vertices[0].Metrics, execgraph.Metrics{RecordsOut: 12, BusyMillis: 7})
	gateway.UpdateTaskExecutionState.Send(te1.system, w, te1.master, te1.fence(), &pb.UpdateTaskExecutionStateRequest{
		Attempt: te1.running[0], State: "FINISHED", Metrics: &pb.TaskMetrics{RecordsOut: 9, BusyMillis: 4}, Accumulators: map[string]string{"n": "9"}})
	w.pass(time.Second)
	v := m.View()
	expect(t, "sum at the end", v.Vertices[0].Metrics.RecordsOut, 14)
	expect(t, "accumulators", v.Accumulators, []execgraph.Accumulator{{Vertex: v.Vertices[0].ID, Name: "n", Value: "9"}})
	w.quiet(t, m)
}

// The ResourceManager is sought often at first where nobody is there, at once
// and with more patience where it is silent, and seldom where it refuses.
func TestHowTheResourceManagerIsSought(t *testing.T) {
	for what, c := range map[string]struct {
		begin func(w *world)
		want  string
	}{
		"nobody": {func(w *world) { w.down["rm"] = true }, "0s 12ms 34ms 86ms 188ms 390ms 892ms 1.894s 3.896s 8.898s 18.9s 28.902s 38.904s"},
		"silent": {func(w *world) { w.silent = func(rpc.Address, string) bool { return true } }, "0s 100ms 300ms 700ms 1.5s 3.1s 6.3s 12.7s 25.5s 51.1s 1m21.1s"},
		"refuses": {func(w *world) {
			mux := &rpc.Mux{}
			rpc.Handle(mux, gateway.RegisterJobMaster, func(_ *pb.RegisterJobMasterRequest, reply func(*pb.RegisterJobMasterResponse, error)) {
				reply(nil, rpc.Refuse("not now"))
			})
			system{w, "rm"}.Serve(gateway.ResourceManager, w, mux)
		}, "0s 30.002s 1m0.004s 1m30.006s"},
	} {
		w := newWorld()
		w.resourceManager()
		c.begin(w)
		var at []string
		begun := w.now.Add(latency)
		w.lose = func(_ rpc.Address, method string) bool {
			if method == gateway.RegisterJobMaster.Name {
				at = append(at, w.now.Sub(begun).String())
			}
			return false
		}
		m, _ := w.start(t, twoVertices(1), func(o *Options) { o.SlotRequestTimeout = time.Hour })
		w.pass(100 * time.Second)
		if got := strings.Join(at, " "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: asked at %s, want %s", what, got, c.want)
		}
		expect(t, what+", state", m.View().State, status.JobRunning)
		w.down["rm"], w.silent = false, nil
		m.Cancel(func(error) {})
		w.pass(time.Minute)
	}
}

// A task whose submission is under way cannot be missed by a heartbeat that
// crosses it.
func TestSubmissionUnderWay(t *testing.T) {
	w := newWorld()
	rm := w.resourceManager()
	te1 := rm.taskExecutor("te1", 1)
	answers := 0
	w.silent = func(_ rpc.Address, method string) bool {
		if method == gateway.HeartbeatFromJobMaster.Name {
			answers++
		}
		return method == gateway.SubmitTask.Name
	}
	w.lose = func(_ rpc.Address, method string) bool { return method == gateway.SubmitTask.Name }
	m, _ := w.start(t, twoVertices(1), func(o *Options) { o.HeartbeatInterval = time.Second })
	w.pass(9 * time.Second)
	expect(t, "not missed", states(m.View()), "RUNNING DEPLOYING DEPLOYING")
	expect(t, "though answers came", answers >= 8 && len(te1.running) == 0, true)
	w.pass(2 * time.Second)
	expect(t, "cause", m.View().Failures[0].Failure.Message, "no answer in time")
	w.silent, w.lose = nil, nil
	w.quiet(t, m)
}

// With taskmanager.load-balance.mode TASKS two TaskManagers get as many tasks
// each, though the first slots are shared by more.
func TestTasksAreBalanced(t *testing.T) {
	for mode, want := range map[string][]int{"NONE": {4, 2}, "TASKS": {3, 3}} {
		w := newWorld()
		rm := w.resourceManager()
		te1, te2 := rm.taskExecutor("te1", 2), rm.taskExecutor("te2", 2)
		graph := twoVertices(4)
		graph.Vertices[1].Parallelism = 2
		c, err := config.New(map[string]string{"taskmanager.load-balance.mode": mode})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := w.start(t, graph, func(o *Options) { o.Config = c })
		w.pass(time.Second)
		expect(t, mode, m.View().State, status.JobRunning)
		expect(t, mode+", tasks", []int{len(te1.deployed), len(te2.deployed)}, want)
		w.quiet(t, m)
	}
}
