package jobmaster

import (
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// ping sends a TaskManager the list of slots the Master holds there, by which
// it frees those that the Master gave up, and takes the list of attempts that
// run there.
func (t *taskManagers) ping(id ident.ResourceID, done func(error)) {
	tm := t.byID[id]
	request := &pb.HeartbeatFromJobMasterRequest{JobId: t.m.job.String(), JobMasterId: t.m.term.String()}
	for _, a := range t.m.pool.Allocations(id) {
		request.Allocations = append(request.Allocations, a.String())
	}
	// Only what the TaskManager had confirmed before it was asked can be missed
	// in its answer: another task's submission may have crossed the question.
	var known []*task
	for _, one := range tm.tasks {
		if one.confirmed {
			known = append(known, one)
		}
	}
	outputs := t.outputsAt(tm)
	gateway.HeartbeatFromJobMaster.Call(t.m.system, t.m.loop, tm.address, ident.LeaderID{}, request, t.m.options.HeartbeatTimeout,
		func(answer *pb.JobHeartbeat, err error) {
			done(err)
			if err == nil && t.byID[id] == tm {
				t.watch(tm)
				t.reconcile(tm, known, answer.Attempts)
				t.reconcileOutputs(tm, outputs, answer.Outputs)
			}
		})
}

// reconcile compares what runs on a TaskManager with what should. A task that
// is missing again and again is lost; one that should not run is stopped.
func (t *taskManagers) reconcile(tm *taskManager, known []*task, running []string) {
	there := make(map[string]bool, len(running))
	for _, text := range running {
		there[text] = true
	}
	for _, one := range known {
		if one.execution.State().Terminal() {
			continue
		}
		if there[one.execution.ID.String()] {
			one.missed = 0
			continue
		}
		if one.missed == 0 {
			one.missing = t.m.loop.Now()
		}
		if one.missed++; one.missed < missedAnswers {
			continue
		}
		if t.m.loop.Now().Sub(one.missing) < t.m.options.HeartbeatInterval/2 {
			continue // answers that were held up together say no more than one
		}
		t.m.schedule(schedule.TaskLost{Attempt: one.execution.ID, Cause: &status.Failure{Kind: status.FailureLost,
			Message: fmt.Sprintf("%s is unexpectedly no longer running on TaskManager %s", one.execution.Vertex.Name(), tm.id)}})
	}
	for _, text := range running {
		attempt, err := ident.ParseAttempt(text)
		if err != nil {
			t.m.log.Warn("TaskManager names a strange attempt", "taskmanager", tm.id, "error", err)
			continue
		}
		e := t.m.graph.Attempt(attempt)
		wanted := e != nil && e.Slot != nil && e.Slot.TaskManager == tm.id && !e.State().Terminal() && e.State() != status.Canceling
		if !wanted {
			t.stop(tm, attempt, cancelAttempts, cancelPause) // the next heartbeat repeats it
		}
	}
}
