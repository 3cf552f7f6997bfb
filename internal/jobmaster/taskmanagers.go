package jobmaster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/jobmaster/slotpool"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

const (
	cancelAttempts = 3                      // calls to cancel a task before heartbeats have to do it
	cancelPause    = 100 * time.Millisecond // after the first; each is twice the one before
	// missedAnswers is how many heartbeat answers in a row must lack a task
	// before it counts as lost: the report of its end may still be on the way.
	missedAnswers = 2
)

// taskManagers are the TaskManagers that are registered at the Master.
type taskManagers struct {
	m          *Master
	list       []*taskManager // in the order of their registration
	byID       map[ident.ResourceID]*taskManager
	heartbeats *heartbeat.Manager[ident.ResourceID]
}

// taskManager is one of them.
type taskManager struct {
	id            ident.ResourceID
	address       rpc.Address
	dataAddresses []string
	host          string // for people: host:dataPort
	tasks         []*task
	unwatch       func()
}

// A task is an attempt that was submitted to a TaskManager and has not ended.
type task struct {
	execution *execgraph.Execution
	// confirmed says that the TaskManager took it.
	confirmed bool
	// missed counts the heartbeat answers in a row that did not name it, the first
	// of which came when it began to be missing.
	missed  int
	missing time.Time
}

func newTaskManagers(m *Master) *taskManagers {
	t := &taskManagers{m: m, byID: map[ident.ResourceID]*taskManager{}}
	t.heartbeats = heartbeat.NewManager(m.loop, m.heartbeats(), t.ping, t.dead)
	return t
}

// register takes a TaskManager that has slots for the job.
func (t *taskManagers) register(req *pb.RegisterTaskManagerRequest, reply func(*pb.RegisterTaskManagerResponse, error)) {
	reject := func(format string, args ...any) {
		reply(&pb.RegisterTaskManagerResponse{Rejected: fmt.Sprintf(format, args...)}, nil)
	}
	switch {
	case req.JobId != t.m.job.String():
		reject("this is the JobMaster of job %s, not of %s", t.m.job, req.JobId)
		return
	case req.ResourceId == "" || req.RpcAddress == "":
		reject("a TaskManager must name its id and its address, got %q and %q", req.ResourceId, req.RpcAddress)
		return
	case t.m.graph.State().Terminal():
		reject("job %s is %s", t.m.job, t.m.graph.State())
		return
	}
	id := ident.ResourceID(req.ResourceId)
	tm := t.byID[id]
	if tm != nil && tm.address.Process != req.RpcAddress {
		t.lose(id, "it has registered again from "+req.RpcAddress, true)
		tm = nil
	}
	if tm == nil {
		tm = &taskManager{id: id, address: rpc.Address{Process: req.RpcAddress, Endpoint: gateway.TaskExecutorOf(id)}}
		t.list = append(t.list, tm)
		t.byID[id] = tm
		t.m.log.Info("TaskManager registered", "taskmanager", id, "address", req.RpcAddress)
	}
	tm.dataAddresses, tm.host = slices.Clone(req.DataAddresses), req.Host
	t.watch(tm)
	t.heartbeats.Add(id)
	reply(&pb.RegisterTaskManagerResponse{}, nil)
}

// watch takes a broken connection as a reason to ask at once.
func (t *taskManagers) watch(tm *taskManager) {
	if tm.unwatch != nil {
		return
	}
	tm.unwatch = t.m.system.Watch(t.m.loop, tm.address.Process, func(error) {
		tm.unwatch = nil
		t.heartbeats.PingNow(tm.id)
	})
}

// offer takes the slots a TaskManager offers.
func (t *taskManagers) offer(req *pb.OfferSlotsRequest, reply func(*pb.OfferSlotsResponse, error)) {
	tm := t.byID[ident.ResourceID(req.ResourceId)]
	if tm == nil {
		reply(nil, rpc.Refuse("TaskManager %s offers slots without being registered for job %s", req.ResourceId, t.m.job))
		return
	}
	offer := slotpool.Offer{TaskManager: tm.id}
	for _, o := range req.Offers {
		slot := &execgraph.Slot{Index: int(o.SlotIndex), TaskManager: tm.id, Host: tm.host, DataAddresses: tm.dataAddresses}
		if err := slot.Allocation.UnmarshalText([]byte(o.AllocationId)); err != nil {
			reply(nil, rpc.Refuse("TaskManager %s offers slot %d: %v", tm.id, o.SlotIndex, err))
			return
		}
		offer.Slots = append(offer.Slots, slot)
	}
	t.m.post(func() {
		t.m.applyPool(offer, func(accepted []ident.AllocationID) {
			response := &pb.OfferSlotsResponse{}
			for _, a := range accepted {
				response.Accepted = append(response.Accepted, a.String())
			}
			reply(response, nil)
		})
	})
}

// failSlot takes a TaskManager's word that it no longer has a slot.
func (t *taskManagers) failSlot(req *pb.FailSlotRequest, reply func(*pb.Empty, error)) {
	var allocation ident.AllocationID
	if err := allocation.UnmarshalText([]byte(req.AllocationId)); err != nil {
		reply(nil, rpc.Refuse("TaskManager %s fails a slot: %v", req.ResourceId, err))
		return
	}
	t.m.adaptive.apply(rescale.SlotsLost{Slots: 1})
	t.m.applyPoolLater(slotpool.SlotFailed{TaskManager: ident.ResourceID(req.ResourceId), Allocation: allocation,
		Cause: &status.Failure{Kind: status.FailureError, Message: req.Cause,
			Chain: []string{fmt.Sprintf("TaskManager %s failed the slot %s", req.ResourceId, allocation)}}})
	reply(&pb.Empty{}, nil)
}

// submit tells the TaskManager of an attempt's slot to run it.
func (t *taskManagers) submit(e *execgraph.Execution) {
	tm := t.byID[e.Slot.TaskManager]
	if tm == nil { // lost while the plan was carried out; its slots will be, too
		t.deployFailed(e, &status.Failure{Kind: status.FailureLost, Message: fmt.Sprintf("TaskManager %s is gone", e.Slot.TaskManager)})
		return
	}
	one := &task{execution: e}
	tm.tasks = append(tm.tasks, one)
	request := &pb.SubmitTaskRequest{JobMasterId: t.m.term.String(), Task: t.m.describer.deployment(t.m.graph.Deployment(e))}
	request.Task.Restore = t.m.checkpoints.deployment(e)
	request.Task.Incremental, request.Task.Overtaken = t.m.checkpoints.ways()
	gateway.SubmitTask.Call(t.m.system, t.m.loop, tm.address, ident.LeaderID{}, request, 0, func(_ *pb.Empty, err error) {
		if err == nil {
			one.confirmed = true
			return
		}
		cause := failureOf(fmt.Errorf("deploy %s to TaskManager %s: %w", e.Vertex.Name(), tm.id, err))
		if errors.Is(err, rpc.ErrUnreachable) {
			cause.Kind = status.FailureLost
		}
		t.deployFailed(e, cause)
	})
}

func (t *taskManagers) deployFailed(e *execgraph.Execution, cause *status.Failure) {
	t.m.schedule(schedule.DeployFailed{Attempt: e.ID, Cause: cause})
}

// cancel tells the TaskManager of an attempt's slot to stop it. A TaskManager
// that is gone has nothing to stop.
func (t *taskManagers) cancel(e *execgraph.Execution) {
	if tm := t.byID[e.Slot.TaskManager]; tm != nil {
		t.stop(tm, e.ID, 1, cancelPause)
	}
}

func (t *taskManagers) stop(tm *taskManager, attempt ident.AttemptID, try int, pause time.Duration) {
	request := &pb.CancelTaskRequest{JobMasterId: t.m.term.String(), Attempt: attempt.String()}
	gateway.CancelTask.Call(t.m.system, t.m.loop, tm.address, ident.LeaderID{}, request, 0, func(_ *pb.Empty, err error) {
		if err == nil || t.byID[tm.id] != tm {
			return
		}
		again := errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable)
		if again && try < cancelAttempts {
			t.m.loop.After(pause, func() { t.stop(tm, attempt, try+1, 2*pause) })
			return
		}
		t.m.log.Warn("task not canceled", "attempt", attempt, "taskmanager", tm.id, "error", err)
	})
}

// ended forgets an attempt that has reached a terminal state.
func (t *taskManagers) ended(e *execgraph.Execution) {
	if e.Slot == nil {
		return
	}
	if tm := t.byID[e.Slot.TaskManager]; tm != nil {
		tm.tasks = slices.DeleteFunc(tm.tasks, func(one *task) bool { return one.execution == e })
	}
}

// free gives a slot back. When the call is lost, the next heartbeat tells the
// TaskManager that the slot is not held any more.
func (t *taskManagers) free(slot *execgraph.Slot, cause string) {
	if tm := t.byID[slot.TaskManager]; tm != nil {
		gateway.FreeSlot.Send(t.m.system, t.m.loop, tm.address, ident.LeaderID{},
			&pb.FreeSlotRequest{AllocationId: slot.Allocation.String(), Cause: cause})
	}
}

// dead takes the heartbeats' verdict.
func (t *taskManagers) dead(id ident.ResourceID, loss *heartbeat.Loss) {
	t.lose(id, loss.Error(), !loss.Unreachable)
}

// lose forgets a TaskManager. What ran there has failed. mayReturn says that it may
// offer its slots again: it is only out of sight.
func (t *taskManagers) lose(id ident.ResourceID, why string, mayReturn bool) {
	tm := t.byID[id]
	t.forget(tm)
	if len(t.m.pool.Allocations(id)) == 0 {
		t.m.log.Info("TaskManager left", "taskmanager", id, "cause", why)
	} else {
		t.m.log.Warn("TaskManager lost", "taskmanager", id, "cause", why)
	}
	gone := slotpool.TaskManagerGone{TaskManager: id, Cause: &status.Failure{
		Kind: status.FailureLost, Message: fmt.Sprintf("TaskManager %s (%s) was lost: %s", id, tm.host, why)}}
	// One letter: what was produced there runs again at once if there is no pause,
	// and must not find a free slot of the lost TaskManager in the pool.
	t.m.post(func() {
		t.m.applySchedule(schedule.OutputsLost{TaskManager: id})
		if n := len(t.m.pool.Allocations(id)); n > 0 {
			t.m.adaptive.apply(rescale.SlotsLost{Slots: n, MayReturn: mayReturn})
		}
		t.m.applyPool(gone, nil)
	})
}

func (t *taskManagers) forget(tm *taskManager) {
	t.heartbeats.Remove(tm.id)
	if tm.unwatch != nil {
		tm.unwatch()
		tm.unwatch = nil
	}
	delete(t.byID, tm.id)
	t.list = slices.DeleteFunc(t.list, func(o *taskManager) bool { return o == tm })
}

// goodbye disconnects all TaskManagers: the job is over here.
func (t *taskManagers) goodbye(state status.Job) {
	for _, tm := range slices.Clone(t.list) {
		t.forget(tm)
		t.m.farewell(tm.address, gateway.DisconnectJobManager.Name, ident.LeaderID{}, &pb.DisconnectJobManagerRequest{
			JobId: t.m.job.String(), JobMasterId: t.m.term.String(), Cause: "the job is " + state.String(),
		})
	}
}
