package cluster

import (
	"strings"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// A Pair is a message that reached something in a state: "job RESTARTING",
// "OfferSlots". The counts of all pairs show which cells of the state tables the
// worlds have visited, and which they never did.
type Pair struct{ State, Event string }

func (p Pair) String() string { return p.State + " ← " + p.Event }

func (k *checks) pair(state, event string) { k.pairs[Pair{state, event}]++ }

// heard looks at each message just before an endpoint of a process takes it.
func (c *Cluster) heard(to string, call rpc.Call) {
	k := c.checks
	switch m := call.Request.(type) {
	case *pb.UpdateTaskExecutionStateRequest:
		if call.Method == gateway.UpdateTaskExecutionState.Name {
			k.heardReport(to, call, m)
		}
	case *pb.RequestSlotRequest:
		k.heardRequest(to, m)
	case *pb.FreeSlotRequest:
		if t := c.executorAt(to); t != nil {
			k.pair(slotOf(t, m.AllocationId), call.Method)
		}
	case *pb.SubmitTaskRequest:
		if t := c.executorAt(to); t != nil {
			k.pair(slotOf(t, m.Task.GetAllocationId()), call.Method)
			k.pair(connectionOf(t, m.Task.GetJobId(), m.JobMasterId), call.Method)
		}
	case *pb.HeartbeatFromJobMasterRequest:
		if t := c.executorAt(to); t != nil {
			k.pair(connectionOf(t, m.JobId, m.JobMasterId), call.Method)
			k.heardList(t, m)
		}
	case *pb.DisconnectJobManagerRequest:
		if t := c.executorAt(to); t != nil {
			k.pair(connectionOf(t, m.JobId, m.JobMasterId), call.Method)
		}
	case *pb.ReleaseOutputsRequest:
		if t := c.executorAt(to); t != nil {
			k.pair(connectionOf(t, m.JobId, m.JobMasterId), call.Method)
		}
	case *pb.AcknowledgeCheckpointRequest:
		if w := c.jobMasterAt(to); w != nil && call.Method == gateway.AcknowledgeCheckpoint.Name {
			k.pair(termIs("JobMaster", call.Fence, w.master.Term()), call.Method)
			k.pair("job "+w.master.View().State.String(), call.Method)
			k.heardAck(w, call, m)
		}
	case *pb.OutputsLostRequest:
		if w := c.jobMasterAt(to); w != nil {
			k.heardLoss(w, call, m)
		}
	case *pb.NotifySlotAvailableRequest:
		k.heardFree(call, m)
	case *pb.DeclareRequiredResourcesRequest, *pb.RegisterJobMasterRequest, *pb.DisconnectJobMasterRequest:
		if c.manager != nil {
			k.pair(termIs("ResourceManager", call.Fence, c.manager.ID()), call.Method)
			c.manager.heardJobMaster(call)
		}
	case *pb.OfferSlotsRequest, *pb.RegisterTaskManagerRequest, *pb.FailSlotRequest, *pb.NotEnoughResourcesRequest:
		if w := c.jobMasterAt(to); w != nil {
			if call.Method == gateway.OfferSlots.Name {
				w.heardOffer()
				c.offeredAgain(w, call.Request.(*pb.OfferSlotsRequest))
				c.offeredTooMuch(w, call.Request.(*pb.OfferSlotsRequest))
			}
			k.pair("job "+w.master.View().State.String(), call.Method)
			k.pair(termIs("JobMaster", call.Fence, w.master.Term()), call.Method)
		}
	}
}

// termIs says whether a message means the leader that got it.
func termIs(who string, meant, is ident.LeaderID) string {
	switch {
	case meant.IsZero():
		return who + " of any term"
	case meant == is:
		return who + " of this term"
	}
	return who + " of another term"
}

// jobMasterAt finds the JobMaster that serves an endpoint now.
func (c *Cluster) jobMasterAt(endpoint string) *watched {
	if c.master == nil {
		return nil
	}
	for i := len(c.master.jobs) - 1; i >= 0; i-- {
		if w := c.master.jobs[i]; gateway.JobMaster(w.graph.Job) == endpoint {
			return w
		}
	}
	return nil
}

func (c *Cluster) executorAt(endpoint string) *taskManager {
	for _, on := range c.machines {
		if on.current != nil && gateway.TaskExecutorOf(on.id) == endpoint {
			return on.current
		}
	}
	return nil
}

// slotOf is the state a TaskManager has for an allocation.
func slotOf(t *taskManager, allocation string) string {
	for _, s := range t.executor.View().Slots {
		if s.Allocation.String() == allocation {
			if s.Tasks > 0 {
				return "slot " + s.State.String() + " with tasks"
			}
			return "slot " + s.State.String()
		}
	}
	return "slot absent"
}

// connectionOf is the state of a TaskManager's connection to a JobMaster.
func connectionOf(t *taskManager, job, term string) string {
	for _, j := range t.executor.View().Jobs {
		switch {
		case j.ID.String() != job:
		case j.Term.String() != term:
			return "connection to another JobMaster"
		case j.Connected:
			return "connection open"
		default:
			return "connection lost"
		}
	}
	return "connection unknown"
}

// heardReport is the report of a task that reaches its JobMaster.
func (k *checks) heardReport(to string, call rpc.Call, m *pb.UpdateTaskExecutionStateRequest) {
	w := k.c.jobMasterAt(to)
	attempt, err := ident.ParseAttempt(m.Attempt)
	if w == nil || err != nil {
		return
	}
	v := w.master.View()
	event := "reported " + m.State
	k.pair("job "+v.State.String(), event)
	k.pair(termIs("JobMaster", call.Fence, w.master.Term()), call.Method)
	vertex := v.Vertex(attempt.Vertex)
	if vertex == nil || attempt.Subtask >= len(vertex.Subtasks) || vertex.Subtasks[attempt.Subtask].ID.Graph != attempt.Graph {
		k.pair("attempt of another graph", event)
		return
	}
	sub := &vertex.Subtasks[attempt.Subtask]
	if sub.ID != attempt {
		k.pair("attempt replaced", event)
		return
	}
	k.pair("attempt "+sub.State.String(), event)
	if state, ok := status.ParseExecution(m.State); ok && state.Terminal() && call.Fence == w.master.Term() {
		w.reported = attempt
	}
	if sub.State == status.Running && v.State == status.JobRestarting && m.State == status.Failed.String() {
		k.met["second failure while restarting"]++
	}
}

// heardLoss is a TaskManager's word that outputs are lost.
func (k *checks) heardLoss(w *watched, call rpc.Call, m *pb.OutputsLostRequest) {
	v := w.master.View()
	k.pair("job "+v.State.String(), call.Method)
	for _, text := range m.Attempts {
		attempt, err := ident.ParseAttempt(text)
		if vertex := v.Vertex(attempt.Vertex); err == nil && vertex != nil && attempt.Subtask < len(vertex.Subtasks) {
			if sub := &vertex.Subtasks[attempt.Subtask]; sub.ID == attempt {
				k.pair("attempt "+sub.State.String(), call.Method)
				w.unreadable[attempt] = true
			} else {
				k.pair("attempt replaced", call.Method)
			}
		}
	}
}

// heardRequest is the ResourceManager's request of a slot.
func (k *checks) heardRequest(to string, m *pb.RequestSlotRequest) {
	t := k.c.executorAt(to)
	if t == nil {
		return
	}
	v := t.executor.View()
	if v.ResourceManager.IsZero() || v.ResourceManager.String() != m.ResourceManagerId {
		k.pair("registered elsewhere", gateway.RequestSlot.Name)
		if slotOf(t, m.AllocationId) == "slot absent" {
			if t.seen.foreign == nil {
				t.seen.foreign = map[string]bool{}
			}
			t.seen.foreign[m.AllocationId] = true
		}
		return
	}
	if k.pair(slotOf(t, m.AllocationId), gateway.RequestSlot.Name); slotOf(t, m.AllocationId) == "slot absent" {
		t.seen.asked = &asked{m.AllocationId, m.JobId, m.JobMasterId}
	}
	for _, s := range v.Slots {
		if s.Index == int(m.SlotIndex) && s.Allocation.String() != m.AllocationId {
			k.pair("slot of another allocation, "+s.State.String(), gateway.RequestSlot.Name)
		}
	}
}

// heardList is the list of slots in a JobMaster's heartbeat.
func (k *checks) heardList(t *taskManager, m *pb.HeartbeatFromJobMasterRequest) {
	listed := map[string]bool{}
	for _, a := range m.Allocations {
		listed[a] = true
		if slotOf(t, a) == "slot absent" {
			k.met["JobMaster lists a slot that is not there"]++
		}
	}
	for _, s := range t.executor.View().Slots {
		if s.Job.String() == m.JobId && strings.HasPrefix(s.State.String(), "ACTIVE") && !listed[s.Allocation.String()] {
			k.met["active slot that the JobMaster does not list"]++
		}
	}
}

// heardFree is a freed slot of which the ResourceManager is told.
func (k *checks) heardFree(call rpc.Call, m *pb.NotifySlotAvailableRequest) {
	if k.c.manager == nil {
		return
	}
	k.pair(termIs("ResourceManager", call.Fence, k.c.manager.ID()), call.Method)
	for _, t := range k.c.manager.Slots().TaskExecutors() {
		if t.Instance.String() != m.InstanceId {
			continue
		}
		if int(m.SlotIndex) >= len(t.Slots) {
			return
		}
		switch s := &t.Slots[m.SlotIndex]; {
		case s.State == slotmanager.Free:
			k.pair("slot believed free", call.Method)
		case s.Allocation.String() != m.AllocationId:
			k.pair("slot believed another's", call.Method)
		case s.State == slotmanager.Pending:
			k.pair("slot believed pending", call.Method)
		default:
			k.pair("slot believed allocated", call.Method)
		}
		return
	}
	k.pair("instance unknown", call.Method)
}
