package taskexecutor

import (
	"slices"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// output is what an attempt that has finished produced for tasks that read it
// when it is whole. It is in files of the worker, which must not end as long as
// there is any.
type output struct {
	attempt ident.AttemptID
	worker  *worker
}

// keep notes that a task has finished, if others are to read what it leaves. Of
// one that this side was ending it is given up at once: with its slot, or its
// JobMaster, went those who would have read it, and nobody may be left to say so.
func (e *Executor) keep(t *task) {
	j := t.job
	if !slices.ContainsFunc(t.deployment.Partitions, func(p *pb.PartitionDeployment) bool { return p.Blocking }) {
		return
	}
	j.outputs = append(j.outputs, output{attempt: t.attempt, worker: t.worker})
	if t.aborted != nil {
		e.dropOutputs(j, func(o output) bool { return o.attempt == t.attempt })
	}
}

// releaseOutputs gives up what its JobMaster needs no longer. What is not there
// has been given up before.
func (e *Executor) releaseOutputs(req *pb.ReleaseOutputsRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	j := e.jobBy(req.JobId, req.JobMasterId)
	if j == nil {
		return
	}
	e.dropOutputs(j, func(o output) bool { return slices.Contains(req.Attempts, o.attempt.String()) })
	e.review(j)
}

// dropOutputs gives up some outputs of a job.
func (e *Executor) dropOutputs(j *job, which func(output) bool) {
	var kept []output
	release := map[*worker][]string{}
	for _, o := range j.outputs {
		if which(o) {
			release[o.worker] = append(release[o.worker], o.attempt.String())
		} else {
			kept = append(kept, o)
		}
	}
	j.outputs = kept
	for _, w := range e.workers {
		if attempts := release[w]; len(attempts) > 0 && w.state == workerReady {
			gateway.ReleaseWorkerOutputs.Send(e.system, e.loop, w.address, ident.LeaderID{},
				&pb.ReleaseOutputsRequest{JobId: j.id.String(), JobMasterId: j.term.String(), Attempts: attempts})
		}
	}
}

// loseOutputs tells the JobMaster what was lost with a worker. When the message
// is lost too, the next heartbeat shows it.
func (e *Executor) loseOutputs(w *worker) {
	j := w.job
	request := &pb.OutputsLostRequest{ResourceId: string(e.options.ResourceID)}
	j.outputs = slices.DeleteFunc(j.outputs, func(o output) bool {
		if o.worker == w {
			request.Attempts = append(request.Attempts, o.attempt.String())
		}
		return o.worker == w
	})
	if len(request.Attempts) == 0 {
		return
	}
	e.log.Warn("what tasks had produced is lost with their worker", "job", j.id, "attempts", len(request.Attempts))
	if j.state == connected {
		gateway.OutputsLost.Call(e.system, e.loop, j.address, j.term, request, 0, func(*pb.Empty, error) {})
	}
	e.review(j)
}

// every chooses all outputs.
func every(output) bool { return true }
