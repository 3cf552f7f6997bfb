package resourcemanager

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// world is a Manager with fake TaskExecutors and JobMasters around it, all on
// one real loop, with the in-memory network, in virtual time.
type world struct {
	t       *testing.T
	net     *rpc.Memory
	loop    *actor.Real
	manager *Manager
	cluster ident.ClusterID
	closers []func()
}

func inWorld(t *testing.T, change func(*Options), story func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, net: rpc.NewMemory(), loop: actor.StartSeeded("resourcemanager", 1), cluster: ident.ClusterID{ID: ident.ID{1}}}
		o := Options{Loop: w.loop, System: w.net.System("master"), Cluster: w.cluster, Version: "1"}
		if change != nil {
			change(&o)
		}
		w.manager = New(o)
		w.on(w.manager.Start)
		story(w)
		w.on(w.manager.Stop)
		for _, c := range slices.Backward(w.closers) {
			c()
		}
		w.net.System("master").Close()
		w.loop.Close()
	})
}

// on runs f on the Manager's loop and waits until everything has settled.
func (w *world) on(f func()) {
	w.loop.Post(f)
	synctest.Wait()
}

// overview is what the Manager counts, after everything has settled.
func (w *world) overview() (o Overview) {
	w.on(func() { o = w.manager.Overview() })
	return o
}

func (w *world) want(taskManagers, slots, free int) {
	w.t.Helper()
	if got, want := w.overview(), (Overview{taskManagers, slots, free}); got != want {
		w.t.Errorf("got %+v, want %+v", got, want)
	}
}

// fakeTaskExecutor answers as the slots it holds say.
type fakeTaskExecutor struct {
	w        *world
	system   *rpc.MemorySystem
	loop     *actor.Real
	name     string
	instance string
	slots    []*pb.SlotStatus
	requests []*pb.RequestSlotRequest
	refuse   bool
	silent   bool
	term     string
}

func (w *world) taskExecutor(name string, slots int) *fakeTaskExecutor {
	te := &fakeTaskExecutor{w: w, system: w.net.System(name), loop: w.loop, name: name}
	w.closers = append(w.closers, te.system.Close)
	for i := range slots {
		te.slots = append(te.slots, &pb.SlotStatus{Index: int32(i)})
	}
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.HeartbeatFromResourceManager, func(_ *pb.HeartbeatFromResourceManagerRequest, reply func(*pb.TaskExecutorHeartbeat, error)) {
		if !te.silent {
			reply(&pb.TaskExecutorHeartbeat{Report: &pb.SlotReport{Slots: te.slots}}, nil)
		}
	})
	rpc.Handle(mux, gateway.RequestSlot, func(req *pb.RequestSlotRequest, reply func(*pb.Empty, error)) {
		te.requests = append(te.requests, req)
		if te.refuse {
			reply(nil, rpc.Refuse("no"))
			return
		}
		te.slots[req.SlotIndex] = &pb.SlotStatus{Index: req.SlotIndex, AllocationId: req.AllocationId, JobId: req.JobId, Profile: req.Profile}
		reply(&pb.Empty{}, nil)
	})
	te.system.Serve(gateway.TaskExecutorOf(ident.ResourceID(name)), te.loop, mux)
	return te
}

// asked is what the TaskExecutor was asked for, after everything has settled.
func (te *fakeTaskExecutor) asked() (all []*pb.RequestSlotRequest) {
	te.w.on(func() { all = slices.Clone(te.requests) })
	return all
}

func (te *fakeTaskExecutor) set(f func()) { te.w.on(f) }

var manager = rpc.Address{Process: "mem:master", Endpoint: gateway.ResourceManager}

// register registers, and reports the slots unless it was refused.
func (te *fakeTaskExecutor) register(change func(*pb.RegisterTaskExecutorRequest)) (rejected string) {
	req := &pb.RegisterTaskExecutorRequest{ResourceId: te.name, RpcAddress: te.system.Self(), Version: "1", Slots: int32(len(te.slots)),
		ClusterId: te.w.cluster.String(), DataAddresses: []string{"unix:data.sock", "localhost:4711"}, Total: &pb.ResourceProfile{Managed: 100}}
	if change != nil {
		change(req)
	}
	gateway.RegisterTaskExecutor.Call(te.system, te.loop, manager, ident.LeaderID{}, req, 0, func(r *pb.RegisterTaskExecutorResponse, err error) {
		if err != nil {
			te.w.t.Error(err)
			return
		}
		rejected, te.instance, te.term = r.Rejected, r.InstanceId, r.ResourceManagerId
	})
	synctest.Wait()
	if rejected == "" {
		gateway.SendSlotReport.Send(te.system, te.loop, manager, ident.LeaderID{}, &pb.SendSlotReportRequest{ResourceId: te.name,
			InstanceId: te.instance, Report: &pb.SlotReport{Slots: te.slots}})
		synctest.Wait()
	}
	return rejected
}

// fakeJobMaster declares what it is told to.
type fakeJobMaster struct {
	w       *world
	system  *rpc.MemorySystem
	loop    *actor.Real
	job     ident.JobID
	term    ident.LeaderID
	version int64
	notices []string
}

func (w *world) jobMaster(n byte) *fakeJobMaster {
	name := fmt.Sprintf("jm-%d", n)
	jm := &fakeJobMaster{w: w, system: w.net.System(name), loop: w.loop,
		job: ident.JobID{ID: ident.ID{n}}, term: ident.LeaderID{ID: ident.ID{n, 1}}}
	w.closers = append(w.closers, jm.system.Close)
	mux := &rpc.Mux{Term: func() ident.LeaderID { return jm.term }}
	rpc.Handle(mux, gateway.HeartbeatToJobMaster, func(_ *pb.HeartbeatFromResourceManagerRequest, reply func(*pb.Empty, error)) {
		reply(&pb.Empty{}, nil)
	})
	rpc.Handle(mux, gateway.NotifyNotEnoughResources, func(req *pb.NotEnoughResourcesRequest, reply func(*pb.Empty, error)) {
		jm.notices = append(jm.notices, fmt.Sprintf("needed %d, registered %d, free %d", req.Needed, req.Registered, req.Free))
		reply(&pb.Empty{}, nil)
	})
	jm.system.Serve(gateway.JobMaster(jm.job), jm.loop, mux)
	gateway.RegisterJobMaster.Call(jm.system, jm.loop, manager, ident.LeaderID{}, &pb.RegisterJobMasterRequest{JobId: jm.job.String(),
		JobMasterId: jm.term.String(), JobMasterAddress: jm.system.Self()}, 0, func(r *pb.RegisterJobMasterResponse, err error) {
		if err != nil || r.ResourceManagerId == "" {
			w.t.Errorf("register JobMaster: %v %v", r, err)
		}
	})
	synctest.Wait()
	return jm
}

// told is what the JobMaster was told is missing.
func (jm *fakeJobMaster) told() (all []string) {
	jm.w.on(func() { all = slices.Clone(jm.notices) })
	return all
}

func (jm *fakeJobMaster) declare(slots int) {
	jm.version++
	req := &pb.DeclareRequiredResourcesRequest{JobId: jm.job.String(), JobMasterId: jm.term.String(), Version: jm.version,
		Requirements: []*pb.ResourceRequirement{{Slots: int32(slots)}}}
	gateway.DeclareRequiredResources.Call(jm.system, jm.loop, manager, ident.LeaderID{}, req, 0, func(_ *pb.Empty, err error) {
		if err != nil {
			jm.w.t.Errorf("declare: %v", err)
		}
	})
	synctest.Wait()
}

func TestSlotsReachTheJobWithoutWaiting(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 3)
		if no := te.register(nil); no != "" {
			t.Fatal(no)
		}
		w.want(1, 3, 3)
		jm := w.jobMaster(1)
		start := time.Now()
		jm.declare(2)
		if len(te.asked()) != 2 || time.Since(start) != 0 {
			t.Fatalf("%d slots requested after %s, want 2 at once", len(te.asked()), time.Since(start))
		}
		req := te.asked()[0]
		if req.JobMasterId != jm.term.String() || req.JobMasterAddress != "mem:jm-1" || req.ResourceManagerId != te.term || req.Profile.Managed != 33 {
			t.Errorf("request %v", req)
		}
		w.want(1, 3, 1)
		w.on(func() {
			v := w.manager.TaskManagers()[0]
			if v.ID != "te-1" || v.DataPort != 4711 || v.Slots != 3 || v.Free != 1 || len(v.Allocated) != 2 || v.Allocated[1].Job != jm.job || v.FreeResource.Managed != 34 {
				t.Errorf("view %+v", v)
			}
		})
	})
}

// Whoever waits for the slots of a TaskManager waits until it has told of them: until then
// nobody can have them, and it has told nothing else of itself either.
func TestATaskManagerThatHasNotReportedHasNoSlots(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 3)
		te.silent = true
		req := &pb.RegisterTaskExecutorRequest{ResourceId: te.name, RpcAddress: te.system.Self(), Version: "1", Slots: 3, Total: &pb.ResourceProfile{Managed: 100}}
		gateway.RegisterTaskExecutor.Call(te.system, te.loop, manager, ident.LeaderID{}, req, 0, func(_ *pb.RegisterTaskExecutorResponse, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		w.want(1, 0, 0)
		w.on(func() {
			if v := w.manager.TaskManagers()[0]; v.Slots != 0 || v.Free != 0 || v.Process != nil {
				t.Errorf("view %+v", v)
			}
		})
		te.register(nil)
		w.on(func() {
			if v := w.manager.TaskManagers()[0]; v.Slots != 3 || v.Free != 3 {
				t.Errorf("view %+v", v)
			}
		})
	})
}

func TestStrangersAreRefused(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		for _, test := range []struct {
			change func(*pb.RegisterTaskExecutorRequest)
			want   string
		}{
			{func(r *pb.RegisterTaskExecutorRequest) { r.ClusterId = strings.Repeat("ab", 16) }, "belongs to cluster abababab"},
			{func(r *pb.RegisterTaskExecutorRequest) { r.ClusterId = "nonsense" }, "32 hexadecimal digits"},
			{func(r *pb.RegisterTaskExecutorRequest) { r.Version = "2" }, `runs version "1", the TaskManager is version "2"`},
			{func(r *pb.RegisterTaskExecutorRequest) { r.Slots = 0 }, "this one says 0"},
			{func(r *pb.RegisterTaskExecutorRequest) { r.RpcAddress = "" }, "must name"},
		} {
			te := w.taskExecutor(fmt.Sprintf("te-%s", test.want), 1)
			if got := te.register(test.change); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		}
		w.want(0, 0, 0)
		// One that knows no cluster yet learns it.
		if got := w.taskExecutor("te", 1).register(func(r *pb.RegisterTaskExecutorRequest) { r.ClusterId = "" }); got != "" {
			t.Error(got)
		}
		w.want(1, 1, 1)
	})
}

func TestRefusedSlotIsAskedForAgain(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 1)
		te.register(nil)
		te.set(func() { te.refuse = true })
		w.jobMaster(1).declare(1)
		if len(te.asked()) != 1 {
			t.Fatalf("%d requests", len(te.asked()))
		}
		te.set(func() { te.refuse = false })
		time.Sleep(60 * time.Millisecond)
		synctest.Wait()
		if len(te.asked()) != 2 {
			t.Errorf("%d requests after the collecting time, want 2", len(te.asked()))
		}
		w.want(1, 1, 0)
	})
}

func TestJobIsToldThatSlotsAreMissing(t *testing.T) {
	inWorld(t, func(o *Options) { o.StartUpPeriod = time.Minute }, func(w *world) {
		w.taskExecutor("te-1", 2).register(nil)
		jm := w.jobMaster(1)
		jm.declare(3)
		if notices := jm.told(); len(notices) != 0 {
			t.Errorf("told %q while TaskManagers may still come", notices)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"needed 3, registered 2, free 0"}
		if got := jm.told(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestSilentTaskManagerIsLostAfterTheTimeout(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 1)
		te.register(nil)
		te.set(func() { te.silent = true })
		time.Sleep(49 * time.Second)
		w.want(1, 1, 1)
		time.Sleep(2 * time.Second)
		w.want(0, 0, 0)
	})
}

func TestDeadTaskManagerIsLostQuickly(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 1)
		te.register(nil)
		other := w.taskExecutor("te-2", 1)
		other.register(nil)
		te.system.Close()
		time.Sleep(time.Second)
		w.want(1, 1, 1)
		// Its successor has the same name.
		again := w.taskExecutor("te-1", 1)
		again.register(nil)
		w.want(2, 2, 2)
	})
}

func TestRegisteringAgainReplacesTheRecord(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 2)
		te.register(nil)
		jm := w.jobMaster(1)
		jm.declare(1)
		w.want(1, 2, 1)
		old := te.instance
		te.register(nil)
		w.want(1, 2, 1) // the slot is known from the report
		if len(te.asked()) != 1 {
			t.Errorf("%d requests: what the TaskManager holds was asked for again", len(te.asked()))
		}
		gateway.SendSlotReport.Call(te.system, te.loop, manager, ident.LeaderID{}, &pb.SendSlotReportRequest{ResourceId: "te-1", InstanceId: old,
			Report: &pb.SlotReport{}}, 0, func(_ *pb.Empty, err error) {
			if err == nil {
				t.Error("the report of an old registration was taken")
			}
		})
		gateway.NotifySlotAvailable.Send(te.system, te.loop, manager, ident.LeaderID{}, &pb.NotifySlotAvailableRequest{ResourceId: "te-1",
			InstanceId: te.instance, SlotIndex: te.asked()[0].SlotIndex, AllocationId: te.asked()[0].AllocationId})
		time.Sleep(time.Second)
		if len(te.asked()) != 2 { // declared is still one slot
			t.Errorf("%d requests after the slot was freed, want 2", len(te.asked()))
		}
	})
}

// A request that finds nobody is a hint that the TaskManager is gone, even if
// something else answers at its address and no connection broke.
func TestRequestThatFindsNobodyIsAHint(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		gone := w.taskExecutor("te-1", 1)
		gone.register(nil)
		other := w.taskExecutor("te-2", 1)
		other.register(nil)
		w.on(func() { gone.system.Withdraw(gateway.TaskExecutorOf("te-1")) })
		w.jobMaster(1).declare(1)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(other.asked()) != 1 {
			t.Errorf("%d requests to the TaskManager that lives, want 1", len(other.asked()))
		}
		w.want(1, 1, 0)
	})
}

// A TaskManager that was started at the address of one that is gone does not
// answer for it, not even when the registration of the one that is gone comes
// in last.
func TestTaskManagerWithTheAddressOfAnother(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		te := w.taskExecutor("te-1", 2)
		for _, id := range []string{"gone", "te-1", "gone too"} {
			te.register(func(req *pb.RegisterTaskExecutorRequest) { req.ResourceId = id })
		}
		time.Sleep(30 * time.Second)
		w.want(1, 2, 2)
	})
}

func TestRequirementOutlivesItsJobMasterForAWhile(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		jm := w.jobMaster(1)
		jm.declare(1)
		jm.system.Close()
		time.Sleep(4 * time.Minute)
		te := w.taskExecutor("te-1", 1)
		te.register(nil)
		synctest.Wait()
		if len(te.asked()) != 1 {
			t.Fatalf("%d requests, want 1", len(te.asked()))
		}
		time.Sleep(3 * time.Minute)
		te2 := w.taskExecutor("te-2", 1)
		te2.register(nil)
		te.system.Close()
		time.Sleep(time.Minute)
		if len(te2.asked()) != 0 {
			t.Error("a job without JobMaster got a slot after its time")
		}
	})
}

func TestJobThatDisconnectsNeedsNothing(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		jm := w.jobMaster(1)
		jm.declare(1)
		disconnect := func(term ident.LeaderID, want bool) {
			gateway.DisconnectJobMaster.Call(jm.system, jm.loop, manager, ident.LeaderID{}, &pb.DisconnectJobMasterRequest{JobId: jm.job.String(),
				JobMasterId: term.String(), JobStatus: "FINISHED"}, 0, func(_ *pb.Empty, err error) {
				if (err == nil) != want {
					t.Errorf("disconnect as %s: %v", term, err)
				}
			})
			synctest.Wait()
		}
		disconnect(ident.LeaderID{}, false)
		disconnect(jm.term, true)
		te := w.taskExecutor("te-1", 1)
		te.register(nil)
		if len(te.asked()) != 0 {
			t.Error("a job that has disconnected got a slot")
		}
	})
}
