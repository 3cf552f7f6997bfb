package taskexecutor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// world is an Executor with a fake ResourceManager, JobMaster and workers
// around it, all on one real loop, with the in-memory network, in virtual time.
// What happens at the fakes is written to heard.
type world struct {
	t     *testing.T
	net   *rpc.Memory
	loop  *actor.Real
	e     *Executor
	fatal error
	heard []string

	master   *rpc.MemorySystem
	term     ident.LeaderID // of the ResourceManager
	rejected string

	jm         *rpc.MemorySystem
	jmMux      *rpc.Mux
	job        ident.JobID
	jmTerm     ident.LeaderID
	decline    bool                      // the JobMaster takes no slot
	known      func(attempt string) bool // does it know the attempt
	fail       func(state string) error  // of state updates
	workers    []*fakeWorker
	partitions []*pb.PartitionDeployment // of what is submitted
	silentTo   map[string]bool           // methods that get no answer
}

const submitted = "hash"

func inWorld(t *testing.T, story func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, net: rpc.NewMemory(), loop: actor.StartSeeded("world", 1), job: ident.JobID{ID: ident.ID{1}}, silentTo: map[string]bool{}}
		w.known = func(string) bool { return true }
		w.fail = func(string) error { return nil }
		system := w.net.System("te")
		w.e = New(Options{Loop: w.loop, System: system, ResourceManager: rpc.Address{Process: "mem:master", Endpoint: gateway.ResourceManager},
			ResourceID: "te-1", Slots: 2, Total: slottable.Profile{Managed: 100}, Launcher: w, Version: "1",
			OnFatal: func(err error) { w.fatal = err }})
		w.startMaster(1)
		w.startJobMaster(1)
		story(w)
		stopped := false
		w.on(func() { w.e.Stop("the test is over", func() { stopped = true }) })
		w.on(func() {
			if !stopped {
				t.Error("the Executor did not stop")
			}
		})
		system.Close()
		w.master.Close()
		w.jm.Close()
		for _, fw := range w.workers {
			fw.system.Close()
		}
		w.loop.Close()
	})
}

func (w *world) on(f func()) {
	w.loop.Post(f)
	synctest.Wait()
}

func (w *world) note(format string, args ...any) {
	w.heard = append(w.heard, fmt.Sprintf(format, args...))
}

// want compares what was heard since the last time.
func (w *world) want(lines ...string) {
	w.t.Helper()
	synctest.Wait()
	w.on(func() {
		if !slices.Equal(w.heard, lines) {
			w.t.Errorf("heard\n\t%s\nwant\n\t%s", strings.Join(w.heard, "\n\t"), strings.Join(lines, "\n\t"))
		}
		w.heard = nil
	})
}

func (w *world) startMaster(term byte) {
	w.master = w.net.System("master")
	w.term = ident.LeaderID{ID: ident.ID{0xa, term}}
	mux := &rpc.Mux{Term: func() ident.LeaderID { return w.term }}
	rpc.Handle(mux, gateway.RegisterTaskExecutor, func(req *pb.RegisterTaskExecutorRequest, reply func(*pb.RegisterTaskExecutorResponse, error)) {
		w.note("rm: register %s with %d slots", req.ResourceId, req.Slots)
		reply(&pb.RegisterTaskExecutorResponse{InstanceId: "instance", ResourceManagerId: w.term.String(), Rejected: w.rejected, BlobAddress: "mem:blob"}, nil)
	})
	rpc.Handle(mux, gateway.SendSlotReport, func(req *pb.SendSlotReportRequest, reply func(*pb.Empty, error)) {
		held := 0
		for _, s := range req.Report.Slots {
			if s.AllocationId != "" {
				held++
			}
		}
		w.note("rm: report, %d of %d held", held, len(req.Report.Slots))
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.NotifySlotAvailable, func(req *pb.NotifySlotAvailableRequest, reply func(*pb.Empty, error)) {
		w.note("rm: slot %d free", req.SlotIndex)
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.DisconnectTaskExecutor, func(*pb.DisconnectTaskExecutorRequest, func(*pb.Empty, error)) {})
	w.master.Serve(gateway.ResourceManager, w.loop, mux)
}

func (w *world) startJobMaster(term byte) {
	w.jm = w.net.System("jm")
	w.jmTerm = ident.LeaderID{ID: ident.ID{0xb, term}}
	mux := &rpc.Mux{Term: func() ident.LeaderID { return w.jmTerm }}
	w.jmMux = mux
	rpc.Handle(mux, gateway.RegisterTaskManager, func(req *pb.RegisterTaskManagerRequest, reply func(*pb.RegisterTaskManagerResponse, error)) {
		w.note("jm: register %s", req.ResourceId)
		if !w.silentTo["register"] {
			reply(&pb.RegisterTaskManagerResponse{}, nil)
		}
	})
	rpc.Handle(mux, gateway.OfferSlots, func(req *pb.OfferSlotsRequest, reply func(*pb.OfferSlotsResponse, error)) {
		w.note("jm: offered %d", len(req.Offers))
		answer := &pb.OfferSlotsResponse{}
		for _, o := range req.Offers {
			if !w.decline {
				answer.Accepted = append(answer.Accepted, o.AllocationId)
			}
		}
		if !w.silentTo["offer"] {
			reply(answer, nil)
		}
	})
	rpc.Handle(mux, gateway.FailSlot, func(req *pb.FailSlotRequest, reply func(*pb.Empty, error)) {
		w.note("jm: slot %s failed", req.AllocationId[:2])
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.UpdateTaskExecutionState, func(req *pb.UpdateTaskExecutionStateRequest, reply func(*pb.UpdateTaskExecutionStateResponse, error)) {
		if err := w.fail(req.State); err != nil {
			reply(nil, err)
			return
		}
		text := ""
		if req.Failure != nil {
			text = fmt.Sprintf(": %s, %s", req.Failure.Kind, req.Failure.Message)
		}
		w.note("jm: %s %s%s", number(req.Attempt), req.State, text)
		reply(&pb.UpdateTaskExecutionStateResponse{Known: w.known(req.Attempt)}, nil)
	})
	rpc.Handle(mux, gateway.ReportTaskMetrics, func(req *pb.ReportTaskMetricsRequest, reply func(*pb.Empty, error)) {
		w.note("jm: metrics of %d", len(req.Metrics))
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.OutputsLost, func(req *pb.OutputsLostRequest, reply func(*pb.Empty, error)) {
		w.note("jm: %s has lost the output of %s", req.ResourceId, numbers(req.Attempts))
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.RequestOperator, func(req *pb.OperatorRequest, reply func(*pb.OperatorResponse, error)) {
		reply(&pb.OperatorResponse{Payload: append([]byte("re:"), req.Payload...)}, nil)
	})
	w.jm.Serve(gateway.JobMaster(w.job), w.loop, mux)
}

// number is the subtask of an attempt, "t3".
func number(attempt string) string {
	a, _ := ident.ParseAttempt(attempt)
	return fmt.Sprintf("t%d", a.Subtask)
}

func numbers(attempts []string) (all []string) {
	for _, a := range attempts {
		all = append(all, number(a))
	}
	return all
}

func attempt(n int) string { return ident.AttemptID{Subtask: n}.String() }

func allocation(n byte) string { return ident.AllocationID{ID: ident.ID{n}}.String() }

// fakeWorker is a worker that was launched; it serves once it registers.
type fakeWorker struct {
	w      *world
	token  string
	events WorkerEvents
	system *rpc.MemorySystem
	job    string
	share  memory.Share // it was launched with
	limits []int        // slots that Limit was called for
	keeps  int64        // network memory it does not give back
	mute   bool         // does not answer heartbeats
	asked  int          // how many of them there were
	pid    int32
	stuck  bool // does not end tasks or itself
	deaf   int  // how often it cannot be told to stop a task
	over   bool
}

// Launch makes the world a Launcher.
func (w *world) Launch(job *pb.Job, token string, share memory.Share, events WorkerEvents) Worker {
	w.note("launch %s", job.Name)
	fw := &fakeWorker{w: w, job: job.JobId, share: share, token: token, events: events, system: w.net.System(fmt.Sprintf("worker-%d", len(w.workers)))}
	w.workers = append(w.workers, fw)
	w.loop.Post(events.Started)
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.RunTask, func(d *pb.TaskDeployment, reply func(*pb.Empty, error)) {
		w.note("worker: run %s", number(d.Attempt))
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.StopTask, func(req *pb.CancelTaskRequest, reply func(*pb.Empty, error)) {
		if fw.deaf > 0 {
			fw.deaf--
			reply(nil, fmt.Errorf("the connection broke: %w", rpc.ErrUnreachable))
			return
		}
		w.note("worker: stop %s", number(req.Attempt))
		reply(&pb.Empty{}, nil)
		if !fw.stuck {
			fw.state(req.Attempt, "CANCELED", nil)
		}
	})
	rpc.Handle(mux, gateway.ShutDown, func(_ *pb.Empty, reply func(*pb.Empty, error)) {
		w.note("worker: shut down")
		reply(&pb.Empty{}, nil)
		if !fw.stuck {
			fw.exit(nil)
		}
	})
	rpc.Handle(mux, gateway.ReleaseWorkerOutputs, func(req *pb.ReleaseOutputsRequest, reply func(*pb.Empty, error)) {
		w.note("worker: release %s", numbers(req.Attempts))
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.SetBudget, func(b *pb.WorkerBudget, reply func(*pb.WorkerBudgetResponse, error)) {
		w.note("worker: budget of %d of %d slots, %d network", b.Held, b.Slots, b.Network)
		reply(&pb.WorkerBudgetResponse{Network: max(fw.keeps, b.Network)}, nil)
	})
	rpc.Handle(mux, gateway.HeartbeatToWorker, func(_ *pb.Empty, reply func(*pb.Empty, error)) {
		if fw.asked++; !fw.mute {
			reply(&pb.Empty{}, nil)
		}
	})
	fw.system.Serve(gateway.Worker, w.loop, mux)
	return fw
}

func (fw *fakeWorker) Stop() {}

func (fw *fakeWorker) Limit(s memory.Share) { fw.limits = append(fw.limits, s.Held) }

func (fw *fakeWorker) Condition() string { return "stopped (state T)" }

func (fw *fakeWorker) Kill() {
	if !fw.over {
		fw.w.note("worker: killed")
		fw.exit(nil)
	}
}

func (fw *fakeWorker) exit(f *status.Failure) {
	if !fw.over {
		fw.over = true
		fw.w.loop.Post(func() { fw.events.Exited(f) })
	}
}

var executor = rpc.Address{Process: "mem:te", Endpoint: gateway.TaskExecutor}

func (fw *fakeWorker) state(attempt, state string, f *pb.Failure) {
	gateway.WorkerTaskState.Send(fw.system, fw.w.loop, executor, ident.LeaderID{}, &pb.UpdateTaskExecutionStateRequest{Attempt: attempt, State: state, Failure: f})
}

func (fw *fakeWorker) register(hash string, operators ...*pb.OperatorDigest) (rejected string) {
	gateway.RegisterWorker.Call(fw.system, fw.w.loop, executor, ident.LeaderID{}, &pb.RegisterWorkerRequest{JobId: fw.job, Token: fw.token, Pid: fw.pid,
		RpcAddress: fw.system.Self(), GraphHash: hash, Operators: operators}, 0, func(r *pb.RegisterWorkerResponse, err error) {
		if err != nil {
			fw.w.t.Error(err)
		}
		rejected = r.GetRejected()
	})
	synctest.Wait()
	return rejected
}

// start begins the Executor and hears of its registration.
func (w *world) start() {
	w.t.Helper()
	w.on(w.e.Start)
	w.want("rm: register te-1 with 2 slots", "rm: report, 0 of 2 held")
}

// call sends a request to the Executor and gives its error.
func call[Q, R proto.Message](w *world, m rpc.Method[Q, R], req Q) (result error) {
	m.Call(w.jm, w.loop, executor, ident.LeaderID{}, req, 0, func(_ R, err error) { result = err })
	synctest.Wait()
	return result
}

func (w *world) requestSlot(slot int, a byte) error {
	return w.requestSlotFor(w.job, slot, a)
}

func (w *world) requestSlotFor(job ident.JobID, slot int, a byte) error {
	return call(w, gateway.RequestSlot, &pb.RequestSlotRequest{SlotIndex: int32(slot), JobId: job.String(), AllocationId: allocation(a), Profile: &pb.ResourceProfile{Managed: 50},
		JobMasterAddress: "mem:jm", JobMasterId: w.jmTerm.String(), ResourceManagerId: w.term.String()})
}

func (w *world) submit(n int, a byte) error { return w.submitFor(w.job, n, a) }

func (w *world) submitFor(job ident.JobID, n int, a byte) error {
	return call(w, gateway.SubmitTask, &pb.SubmitTaskRequest{JobMasterId: w.jmTerm.String(), Task: &pb.TaskDeployment{JobId: job.String(), Attempt: attempt(n),
		VertexName: "Map", Partitions: w.partitions, AllocationId: allocation(a), Job: &pb.Job{JobId: job.String(), Name: "job", GraphHash: submitted,
			Operators: []*pb.OperatorDigest{{Name: "Source", Digest: "1"}, {Name: "Map", Digest: "2"}}}}})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) refused(err error, text string) {
	w.t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		w.t.Errorf("got error %v, want one with %q", err, text)
	}
}

// run brings task n to RUNNING in slot 0, in a worker that is ready.
func (w *world) run(n int) *fakeWorker {
	w.t.Helper()
	w.start()
	w.must(w.requestSlot(0, 1))
	w.must(w.submit(n, 1))
	fw := w.workers[0]
	if no := fw.register(submitted); no != "" {
		w.t.Fatal(no)
	}
	fw.state(attempt(n), "INITIALIZING", nil)
	fw.state(attempt(n), "RUNNING", nil)
	name := fmt.Sprintf("t%d", n)
	w.want("jm: register te-1", "jm: offered 1", "launch job", "worker: run "+name, "jm: "+name+" INITIALIZING", "jm: "+name+" RUNNING")
	return fw
}

func TestLifeOfATask(t *testing.T) {
	inWorld(t, func(w *world) {
		start := time.Now()
		fw := w.run(1)
		if d := time.Since(start); d != 0 {
			t.Errorf("it took %s of waiting", d)
		}
		w.must(w.submit(2, 1))
		fw.state(attempt(1), "FINISHED", nil)
		w.want("worker: run t2", "jm: t1 FINISHED")
		w.refused(w.submit(1, 1), "was submitted before")
		w.refused(w.submit(2, 1), "was submitted before")
		w.must(call(w, gateway.FreeSlot, &pb.FreeSlotRequest{AllocationId: allocation(1), Cause: "no longer needed"}))
		w.want("worker: stop t2", "jm: t2 FAILED: Error, the slot was released: no longer needed", "rm: slot 0 free", "worker: shut down")
		w.on(func() {
			if len(w.e.jobs) != 0 || len(w.e.workers) != 0 || len(w.e.tasks) != 0 {
				t.Errorf("left: %d jobs, %d workers, %d tasks", len(w.e.jobs), len(w.e.workers), len(w.e.tasks))
			}
		})
	})
}

func TestGates(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.refused(w.submit(1, 1), "no connection to the JobMaster")
		right := w.term
		w.term = ident.LeaderID{ID: ident.ID{9}}
		w.refused(w.requestSlot(0, 1), "is not registered at ResourceManager")
		w.term = right
		w.must(w.requestSlot(0, 1))
		w.must(w.requestSlot(0, 1)) // asked twice is no error
		w.refused(w.requestSlot(0, 2), "occupied by allocation")
		w.refused(w.requestSlot(7, 3), "there is no slot 7")
		w.refused(w.submit(1, 9), "does not hold a slot")
		term := w.jmTerm
		w.jmTerm = ident.LeaderID{ID: ident.ID{8}}
		w.refused(w.submit(1, 1), "is connected to")
		w.jmTerm = term
		w.refused(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: attempt(5), JobMasterId: w.jmTerm.String()}), "has no such task")
		w.refused(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: "nonsense"}), "want graph_vertex_subtask_attempt")
		w.refused(call(w, gateway.SubmitTask, &pb.SubmitTaskRequest{}), "submit task")
	})
}

func TestSlotsThatAreNotTakenGoBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.decline = true
		w.must(w.requestSlot(0, 1))
		w.want("jm: register te-1", "jm: offered 1", "rm: slot 0 free")
		// One whose JobMaster cannot be reached waits its time.
		w.jm.Close()
		w.jm = w.net.System("nobody")
		w.must(w.requestSlot(1, 2))
		time.Sleep(9 * time.Second)
		w.want()
		time.Sleep(2 * time.Second)
		w.want("rm: slot 1 free")
	})
}

func TestOfferWithoutAnswerIsMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.silentTo["offer"] = true
		w.e.table = slottable.New(2, slottable.Profile{Managed: 100}, time.Minute)
		w.must(w.requestSlot(0, 1))
		w.want("jm: register te-1", "jm: offered 1")
		w.on(func() { delete(w.silentTo, "offer") })
		time.Sleep(11 * time.Second)
		w.want("jm: offered 1")
		w.on(func() {
			if s := w.e.table.Slots(); len(s) != 1 || s[0].State != slottable.Active {
				t.Errorf("slots %v", s)
			}
		})
	})
}

func TestWorkerThatDiesFailsItsTasks(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		w.must(w.submit(2, 1))
		w.on(func() { fw.exit(&status.Failure{Kind: status.FailureSignal, Message: "killed", Signal: "SIGKILL"}) })
		w.want("worker: run t2", "jm: t1 FAILED: ProcessSignal, killed", "jm: t2 FAILED: ProcessSignal, killed")
		// The slot is still the job's, and its next task gets a new worker.
		w.must(w.submit(3, 1))
		w.workers[1].register(submitted)
		w.want("launch job", "worker: run t3")
	})
}

func TestCancelDoesNotHideWhyTheWorkerDied(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		w.must(w.submit(2, 1))
		w.on(func() { fw.stuck = true })
		w.must(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: attempt(1), JobMasterId: w.jmTerm.String()}))
		w.on(func() { fw.exit(&status.Failure{Kind: status.FailureSignal, Message: "killed", Signal: "SIGKILL"}) })
		w.want("worker: run t2", "worker: stop t1", "jm: t1 FAILED: ProcessSignal, killed", "jm: t2 FAILED: ProcessSignal, killed")
	})
}

func TestWorkerIsAnotherProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.must(w.requestSlot(0, 1))
		w.must(w.submit(1, 1))
		w.want("jm: register te-1", "jm: offered 1", "launch job")
		no := w.workers[0].register("other", &pb.OperatorDigest{Name: "Source", Digest: "1"}, &pb.OperatorDigest{Name: "Filter", Digest: "3"})
		if want := `operator 2 is "Filter", submitted was "Map"`; !strings.Contains(no, want) {
			t.Errorf("rejected %q, want %q", no, want)
		}
		w.want("jm: t1 FAILED: GraphMismatch, " + no)
		time.Sleep(6 * time.Second)
		w.want("worker: killed")
		fw := &fakeWorker{w: w, token: "guess", system: w.net.System("worker-0")}
		if no := fw.register(submitted); !strings.Contains(no, "expects no such worker") {
			t.Errorf("a stranger got %q", no)
		}
	})
}

// A worker that has not got the answer asks again, and is what it was.
func TestWorkerThatRegistersTwice(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		if no := fw.register(submitted); no != "" {
			t.Errorf("the second time it was rejected: %s", no)
		}
		w.must(w.submit(2, 1))
		w.want("worker: run t2")
	})
}

func TestWorkerThatNeverRegisters(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.must(w.requestSlot(0, 1))
		w.must(w.submit(1, 1))
		w.want("jm: register te-1", "jm: offered 1", "launch job")
		time.Sleep(31 * time.Second)
		w.want("worker: killed", "jm: t1 FAILED: Error, the job's program job was started but did not serve tasks within 30s: it must call Execute")
	})
}

func TestCancel(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		w.must(w.submit(2, 1))
		cancel := func(n int) {
			w.must(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: attempt(n), JobMasterId: w.jmTerm.String()}))
		}
		cancel(2)
		w.want("worker: run t2", "worker: stop t2", "jm: t2 CANCELED")
		// One that does not let go costs the process, and the task beside it.
		w.must(w.submit(3, 1))
		w.on(func() { fw.stuck = true })
		cancel(1)
		cancel(1)
		time.Sleep(40 * time.Second)
		w.heartbeat(nil, 1)
		w.want("worker: run t3", "worker: stop t1")
	})
}

// heartbeat is one from the JobMaster, and gives the attempts in the answer.
func (w *world) heartbeat(attempts *[]string, held ...byte) {
	w.t.Helper()
	req := &pb.HeartbeatFromJobMasterRequest{JobId: w.job.String(), JobMasterId: w.jmTerm.String()}
	for _, a := range held {
		req.Allocations = append(req.Allocations, allocation(a))
	}
	gateway.HeartbeatFromJobMaster.Call(w.jm, w.loop, executor, ident.LeaderID{}, req, 0, func(r *pb.JobHeartbeat, err error) {
		if err != nil {
			w.t.Error(err)
			return
		}
		if attempts != nil {
			*attempts = r.Attempts
		}
	})
	synctest.Wait()
}

// alive sends both masters' heartbeats for a while.
func (w *world) alive(d time.Duration, held ...byte) {
	for range d / (10 * time.Second) {
		time.Sleep(10 * time.Second)
		w.heartbeat(nil, held...)
		w.must(call(w, gateway.HeartbeatFromResourceManager, &pb.HeartbeatFromResourceManagerRequest{ResourceManagerId: w.term.String()}))
	}
}

func TestTaskThatDoesNotEndCostsItsProcess(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		w.must(w.submit(2, 1))
		w.on(func() { fw.stuck = true })
		w.must(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: attempt(1), JobMasterId: w.jmTerm.String()}))
		w.alive(170*time.Second, 1)
		w.want("worker: run t2", "worker: stop t1")
		w.alive(20*time.Second, 1)
		text := "the job's process was killed because task Map (" + attempt(1) + ") had not ended 3m0s after it was canceled"
		w.want("worker: killed", "jm: t1 CANCELED", "jm: t2 FAILED: Error, "+text)
	})
}

func TestCancelIsRepeatedUntilTheWorkerHasHeardOfIt(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		w.on(func() { fw.deaf = 3 })
		w.must(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: attempt(1), JobMasterId: w.jmTerm.String()}))
		time.Sleep(time.Second)
		w.want("worker: stop t1", "jm: t1 CANCELED")
	})
}

func TestCancelBeforeTheWorkerIsThere(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.must(w.requestSlot(0, 1))
		w.must(w.submit(1, 1))
		w.must(call(w, gateway.CancelTask, &pb.CancelTaskRequest{Attempt: attempt(1), JobMasterId: w.jmTerm.String()}))
		w.workers[0].register(submitted)
		w.want("jm: register te-1", "jm: offered 1", "launch job", "jm: t1 CANCELED")
	})
}

func TestStatesArriveInOrderAndOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.must(w.requestSlot(0, 1))
		w.must(w.submit(1, 1))
		fw := w.workers[0]
		fw.register(submitted)
		w.want("jm: register te-1", "jm: offered 1", "launch job", "worker: run t1")
		failures := 3
		w.on(func() {
			w.fail = func(string) error {
				if failures--; failures >= 0 {
					return fmt.Errorf("not now: %w", rpc.ErrTimeout)
				}
				return nil
			}
		})
		for _, state := range []string{"INITIALIZING", "RUNNING", "FINISHED", "FAILED", "RUNNING"} {
			fw.state(attempt(1), state, nil)
		}
		var attempts []string
		w.heartbeat(&attempts, 1)
		if len(attempts) != 1 {
			t.Errorf("attempts %v: the end is not known yet", attempts)
		}
		time.Sleep(time.Second)
		w.want("jm: t1 INITIALIZING", "jm: t1 RUNNING", "jm: t1 FINISHED")
		w.heartbeat(&attempts, 1)
		if len(attempts) != 0 {
			t.Errorf("attempts %v", attempts)
		}
		w.refused(call(w, gateway.WorkerTaskState, &pb.UpdateTaskExecutionStateRequest{Attempt: attempt(1), State: "SCHEDULED"}), "want INITIALIZING")
	})
}

func TestTaskTheJobMasterDoesNotKnowIsStopped(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		w.must(w.submit(2, 1))
		w.on(func() { w.known = func(a string) bool { return number(a) != "t2" } })
		fw.state(attempt(2), "INITIALIZING", nil)
		w.want("worker: run t2", "jm: t2 INITIALIZING", "worker: stop t2", "jm: t2 FAILED: Error, the JobMaster does not know the attempt")
	})
}

func TestReconciliationWithTheJobMaster(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(1)
		w.heartbeat(nil, 1, 7)
		w.want("jm: slot 07 failed")
		w.heartbeat(nil) // may have been made before the slot was taken
		w.heartbeat(nil) // at the same time
		w.want()
		time.Sleep(10 * time.Second)
		w.heartbeat(nil)
		w.want("worker: stop t1", "jm: t1 FAILED: Error, the slot was released: the JobMaster does not hold the slot", "rm: slot 0 free", "worker: shut down")
	})
}

func TestMetricsAndRequestsArePassedOn(t *testing.T) {
	inWorld(t, func(w *world) {
		fw := w.run(1)
		gateway.WorkerTaskMetrics.Send(fw.system, w.loop, executor, ident.LeaderID{}, &pb.ReportTaskMetricsRequest{
			Metrics: []*pb.TaskMetrics{{Attempt: attempt(1)}, {Attempt: attempt(9)}, {Attempt: "nonsense"}}})
		w.want("jm: metrics of 1")
		w.on(func() {
			if f := w.e.Figures(); f.Process != nil || len(f.Tasks) != 0 {
				t.Errorf("figures without any: %+v", f)
			}
		})
		gateway.WorkerRequest.Call(fw.system, w.loop, executor, ident.LeaderID{}, &pb.OperatorRequest{Attempt: attempt(1), Payload: []byte("split?")}, 0,
			func(r *pb.OperatorResponse, err error) { w.note("worker: got %s %v", r.GetPayload(), err) })
		w.want("worker: got re:split? <nil>")
		w.refused(call(w, gateway.WorkerRequest, &pb.OperatorRequest{Attempt: attempt(9)}), "has no task")
	})
}
