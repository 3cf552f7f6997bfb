package taskexecutor

import (
	"fmt"
	"slices"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

type workerState uint8

const (
	workerStarting workerState = iota // launched, has not registered
	workerReady                       // registered, takes tasks
	workerStopping                    // was asked to end, takes no more tasks
)

// worker is one worker process.
//
// Invariant: it is in Executor.workers from its launch until its exit; it is
// its job's worker only while it is starting or ready.
type worker struct {
	job     *job
	program *pb.Job
	token   string
	handle  Worker
	state   workerState
	address rpc.Address // once ready
	// cause is why this side ended it; it tells more than the exit does.
	cause *status.Failure
	timer actor.Timer // of registration or end
	budget
	// process are the figures it reported last; nil: none yet.
	process *status.ProcessFigures
}

func (e *Executor) launch(j *job, program *pb.Job) {
	w := &worker{job: j, program: program, token: ident.New(e.loop.Rand()).String()}
	j.worker = w
	w.granted = min(e.wanted(w), e.room())
	w.told = w.granted
	e.workers = append(e.workers, w)
	share := e.share(w.granted)
	e.log.Info("worker launched", "job", j.id, "program", program.ArtifactName, "slots", share.Held, "memory", share.Hard, "network", share.Network)
	w.handle = e.options.Launcher.Launch(program, w.token, share, WorkerEvents{
		Started: func() { e.workerStarted(w) },
		Exited:  func(f *status.Failure) { e.workerExited(w, f) },
	})
}

func (e *Executor) workerStarted(w *worker) {
	if w.state != workerStarting || w.timer != nil {
		return
	}
	w.timer = e.loop.After(e.options.WorkerStartTimeout, func() {
		e.kill(w, &status.Failure{Kind: status.FailureError, Message: fmt.Sprintf(
			"the job's program %s was started but did not serve tasks within %s: it must call Execute", programName(w.program), e.options.WorkerStartTimeout)})
	})
}

func programName(p *pb.Job) string {
	if p.ArtifactName != "" {
		return p.ArtifactName
	}
	return p.Name
}

// registerWorker takes a worker that has come up, if it is the program that was
// submitted.
func (e *Executor) registerWorker(req *pb.RegisterWorkerRequest, reply func(*pb.RegisterWorkerResponse, error)) {
	i := slices.IndexFunc(e.workers, func(w *worker) bool { return w.token == req.Token && w.job.id.String() == req.JobId })
	if i >= 0 && e.workers[i].state == workerReady && e.workers[i].address.Process == req.RpcAddress {
		reply(&pb.RegisterWorkerResponse{}, nil) // the answer before was lost
		return
	}
	if i < 0 || e.workers[i].state != workerStarting {
		reply(&pb.RegisterWorkerResponse{Rejected: "TaskManager " + string(e.options.ResourceID) + " expects no such worker"}, nil)
		return
	}
	w := e.workers[i]
	stopTimer(&w.timer)
	if differs := mismatch(w.program, req); differs != "" {
		w.cause = &status.Failure{Kind: status.FailureMismatch, Message: differs}
		reply(&pb.RegisterWorkerResponse{Rejected: differs}, nil)
		e.shutDown(w)
		e.endTasks(w, w.cause, false)
		return
	}
	w.state, w.address = workerReady, rpc.Address{Process: req.RpcAddress, Endpoint: gateway.Worker}
	e.log.Info("worker ready", "job", w.job.id, "pid", req.Pid)
	reply(&pb.RegisterWorkerResponse{}, nil)
	e.watchWorker(w, req.Pid)
	e.fit()
	e.runWaiting(w)
}

// mismatch names the first operator in which the worker's graph differs from
// the submitted one; empty: the graphs are equal.
func mismatch(submitted *pb.Job, built *pb.RegisterWorkerRequest) string {
	if submitted.GraphHash == built.GraphHash {
		return ""
	}
	const advice = "; the program must build the same graph each time it is started with the same arguments"
	for i, want := range submitted.Operators {
		if i >= len(built.Operators) {
			return fmt.Sprintf("the program built another graph than was submitted: operator %d, %q, is missing%s", i+1, want.Name, advice)
		}
		got := built.Operators[i]
		switch {
		case got.Name != want.Name:
			return fmt.Sprintf("the program built another graph than was submitted: operator %d is %q, submitted was %q%s", i+1, got.Name, want.Name, advice)
		case got.Digest != want.Digest:
			return fmt.Sprintf("the program built another graph than was submitted: operator %d, %q, has another kind, type or input%s", i+1, want.Name, advice)
		}
	}
	if n := len(submitted.Operators); len(built.Operators) > n {
		return fmt.Sprintf("the program built another graph than was submitted: operator %d, %q, was not submitted%s", n+1, built.Operators[n].Name, advice)
	}
	return "the program built another graph than was submitted: the operators are equal, their parallelism or edges are not" + advice
}

// shutDown asks a worker to end, and kills it when it does not.
func (e *Executor) shutDown(w *worker) {
	if w.state == workerStopping {
		return
	}
	ready := w.state == workerReady
	e.retire(w)
	if !ready {
		w.handle.Stop()
		return
	}
	gateway.ShutDown.Call(e.system, e.loop, w.address, ident.LeaderID{}, &pb.Empty{}, e.options.WorkerGrace, func(*pb.Empty, error) { w.handle.Stop() })
}

// retire lets a worker take no more tasks and limits the time it has left.
func (e *Executor) retire(w *worker) {
	e.beats.Remove(w)
	w.state = workerStopping
	if w.job.worker == w {
		w.job.worker = nil
	}
	stopTimer(&w.timer)
	w.timer = e.loop.After(e.options.WorkerGrace, w.handle.Kill)
}

// kill ends a worker now; its tasks end when it is gone.
func (e *Executor) kill(w *worker, cause *status.Failure) {
	if w.cause == nil {
		w.cause = cause
	}
	if w.state != workerStopping {
		e.retire(w)
	}
	w.handle.Kill()
}

// doubt gives a worker that cannot be reached the time to be reported dead,
// with a better cause, before it is killed.
func (e *Executor) doubt(w *worker, cause string) {
	if w.state != workerReady || w.timer != nil {
		return
	}
	w.timer = e.loop.After(e.options.WorkerGrace, func() {
		e.kill(w, &status.Failure{Kind: status.FailureError, Message: cause})
	})
}

func (e *Executor) workerExited(w *worker, f *status.Failure) {
	stopTimer(&w.timer)
	asked := w.state == workerStopping && w.cause == nil
	w.state = workerStopping
	if w.job.worker == w {
		w.job.worker = nil
	}
	e.beats.Remove(w)
	e.workers = slices.DeleteFunc(e.workers, func(other *worker) bool { return other == w })
	e.forgetBudget(w)
	died := f != nil && w.cause == nil && !asked
	if w.cause != nil {
		f = w.cause
	}
	if f == nil {
		f = &status.Failure{Kind: status.FailureExit, Message: "the job's process ended"}
	}
	if asked {
		e.log.Info("worker gone, as asked", "job", w.job.id)
	} else {
		e.log.Warn("worker gone", "job", w.job.id, "kind", f.Kind, "reason", f.Message)
	}
	e.loseOutputs(w) // first, so that it is known when the tasks are restarted
	e.endTasks(w, f, died)
	e.finish()
}

// endTasks ends the tasks of a worker that cannot run them. Those that were to
// end anyway end as they were to. But if the worker died by itself, a task that
// its JobMaster has canceled still tells why: the cancellation may follow from
// this very death, which a peer saw first as a broken connection.
func (e *Executor) endTasks(w *worker, f *status.Failure, died bool) {
	for _, t := range slices.Clone(w.job.tasks) {
		switch {
		case t.worker != w || t.state.Terminal():
		case t.aborted != nil || t.canceled && !died:
			e.end(t, status.Canceled, nil, nil)
		default:
			e.end(t, status.Failed, f, nil)
		}
	}
}
