package jobmaster

import (
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// release tells the TaskManagers that outputs are needed no longer. When a
// message is lost, the next heartbeat names what is still kept.
func (t *taskManagers) release(executions []*execgraph.Execution) {
	for _, tm := range t.list {
		var attempts []string
		for _, e := range executions {
			if e.Slot != nil && e.Slot.TaskManager == tm.id {
				attempts = append(attempts, e.ID.String())
			}
		}
		t.releaseAt(tm, attempts)
	}
}

func (t *taskManagers) releaseAt(tm *taskManager, attempts []string) {
	if len(attempts) > 0 {
		gateway.ReleaseOutputs.Send(t.m.system, t.m.loop, tm.address, ident.LeaderID{}, &pb.ReleaseOutputsRequest{
			JobId: t.m.job.String(), JobMasterId: t.m.term.String(), Attempts: attempts})
	}
}

// outputsLost takes a TaskManager's word that outputs are gone.
func (t *taskManagers) outputsLost(req *pb.OutputsLostRequest, reply func(*pb.Empty, error)) {
	ev := schedule.OutputsLost{TaskManager: ident.ResourceID(req.ResourceId)}
	for _, text := range req.Attempts {
		attempt, err := ident.ParseAttempt(text)
		if err != nil {
			reply(nil, rpc.Refuse("outputs lost on TaskManager %s: %v", req.ResourceId, err))
			return
		}
		ev.Attempts = append(ev.Attempts, attempt)
	}
	reply(&pb.Empty{}, nil)
	if len(ev.Attempts) > 0 {
		t.m.log.Warn("outputs lost", "taskmanager", req.ResourceId, "attempts", len(ev.Attempts))
		t.m.schedule(ev)
	}
}

// outputsAt lists the attempts whose outputs a TaskManager must have.
func (t *taskManagers) outputsAt(tm *taskManager) []ident.AttemptID {
	var all []ident.AttemptID
	for _, v := range t.m.graph.Vertices {
		if !v.Blocking() {
			continue
		}
		for _, sub := range v.Subtasks {
			if e := sub.Current; e.Readable() && e.Slot.TaskManager == tm.id {
				all = append(all, e.ID)
			}
		}
	}
	return all
}

// reconcileOutputs compares what a TaskManager keeps with what it should: known,
// what it had to have when it was asked, and what others will still read.
func (t *taskManagers) reconcileOutputs(tm *taskManager, known []ident.AttemptID, kept []string) {
	lost := schedule.OutputsLost{TaskManager: tm.id}
	for _, attempt := range known {
		if e := t.m.graph.Attempt(attempt); e != nil && e.Readable() && !slices.Contains(kept, attempt.String()) {
			lost.Attempts = append(lost.Attempts, attempt)
		}
	}
	if len(lost.Attempts) > 0 {
		t.m.log.Warn("outputs are not where they were", "taskmanager", tm.id, "attempts", len(lost.Attempts))
		t.m.schedule(lost)
	}
	var unwanted []string
	for _, text := range kept {
		attempt, err := ident.ParseAttempt(text)
		if err != nil {
			t.m.log.Warn("TaskManager names a strange attempt", "taskmanager", tm.id, "error", err)
			continue
		}
		// One whose end has not been heard of yet is still wanted.
		e := t.m.graph.Attempt(attempt)
		if e == nil || e.OutputLost || e.State().Terminal() && e.State() != status.Finished {
			unwanted = append(unwanted, text)
		}
	}
	t.releaseAt(tm, unwanted)
}
