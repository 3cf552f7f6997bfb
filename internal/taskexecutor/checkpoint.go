package taskexecutor

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// checkpointed finds the tasks that a message of a JobMaster is about, and their
// worker. Tasks that have ended, and a worker that is gone, need not hear of it.
func (e *Executor) checkpointed(jobID, term string, attempts []string) (*worker, []string, error) {
	var id ident.JobID
	if err := id.UnmarshalText([]byte(jobID)); err != nil {
		return nil, nil, rpc.Refuse("checkpoint: %v", err)
	}
	j := e.jobOf(id)
	if j == nil || j.term.String() != term || !e.inTime(j) {
		return nil, nil, rpc.Refuse("checkpoint: TaskManager %s has no connection to JobMaster %s of job %s", e.options.ResourceID, term, id)
	}
	var there []string
	for _, text := range attempts {
		attempt, err := ident.ParseAttempt(text)
		if err != nil {
			return nil, nil, rpc.Refuse("checkpoint: %v", err)
		}
		if t := e.tasks[attempt]; t != nil && t.handed && !t.state.Terminal() {
			there = append(there, text)
		}
	}
	if j.worker == nil || j.worker.state != workerReady {
		there = nil
	}
	return j.worker, there, nil
}

// triggerCheckpoint passes the beginning of a checkpoint on to the worker. A task
// that is not there declines.
func (e *Executor) triggerCheckpoint(req *pb.TriggerCheckpointRequest, reply func(*pb.Empty, error)) {
	w, there, err := e.checkpointed(req.JobId, req.JobMasterId, req.Attempts)
	if err == nil && len(there) < len(req.Attempts) {
		err = rpc.Refuse("trigger checkpoint %d: %d of %d tasks do not run on TaskManager %s", req.Checkpoint, len(req.Attempts)-len(there), len(req.Attempts), e.options.ResourceID)
	}
	if err != nil {
		reply(nil, err)
		return
	}
	gateway.TriggerTasks.Send(e.system, e.loop, w.address, ident.LeaderID{}, req)
	reply(&pb.Empty{}, nil)
}

// notifyCheckpoint passes on what became of a checkpoint.
func (e *Executor) notifyCheckpoint(req *pb.NotifyCheckpointRequest, reply func(*pb.Empty, error)) {
	w, there, err := e.checkpointed(req.JobId, req.JobMasterId, req.Attempts)
	if err != nil {
		reply(nil, err)
		return
	}
	if len(there) > 0 {
		passed := &pb.NotifyCheckpointRequest{JobId: req.JobId, Attempts: there, Checkpoint: req.Checkpoint, Complete: req.Complete}
		gateway.NotifyTasks.Send(e.system, e.loop, w.address, ident.LeaderID{}, passed)
	}
	reply(&pb.Empty{}, nil)
}

// workerAcknowledge passes a task's part of a checkpoint on to the JobMaster. If
// that cannot be reached the checkpoint will not be: it times out there.
func (e *Executor) workerAcknowledge(req *pb.AcknowledgeCheckpointRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	if t := e.running(req.Attempt); t != nil {
		gateway.AcknowledgeCheckpoint.Send(e.system, e.loop, t.job.address, t.job.term, req)
	}
}

// workerDecline passes on that a task has no part to give.
func (e *Executor) workerDecline(req *pb.DeclineCheckpointRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	if t := e.running(req.Attempt); t != nil {
		gateway.DeclineCheckpoint.Send(e.system, e.loop, t.job.address, t.job.term, req)
	}
}

// running finds a task that was handed to its worker, and whose JobMaster is
// connected. One that has just finished may still acknowledge what it took; one that
// is stopped from here has no part in anything: its JobMaster may be an older one,
// whose checkpoints have the numbers of the present one's.
func (e *Executor) running(attempt string) *task {
	id, err := ident.ParseAttempt(attempt)
	if err != nil {
		return nil
	}
	t := e.tasks[id]
	if t == nil || t.aborted != nil || t.job.state != connected || t.state.Terminal() && t.state != status.Finished {
		return nil
	}
	return t
}
