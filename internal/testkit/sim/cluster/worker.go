package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// maxLife is how long a bounded task runs at most.
const maxLife = 60 * time.Second

// launcher starts played workers for one TaskManager.
type launcher struct {
	c  *Cluster
	tm *taskManager
}

// A worker is a played worker process.
//
// Invariant: it is among its machine's workers from its launch until it has
// ended; exited is then told, unless the TaskManager is gone.
type worker struct {
	c       *Cluster
	tm      *taskManager
	name    string
	job     *pb.Job
	token   string
	events  taskexecutor.WorkerEvents
	proc    *sim.Process // nil until it runs
	loop    *sim.Loop
	tasks   []*task
	network int64 // it holds
	told    bool  // to end, by Stop, Kill or ShutDown
	stays   bool  // until it is killed
	ended   bool
}

// A task is a played task: user code runs from its start to its end.
type task struct {
	worker  *worker
	attempt ident.AttemptID
	job     string
	bounded bool
	outputs []*pb.PartitionDeployment
	told    bool // to stop
	ended   bool
	stream  *stream // nil: its job has no checkpoints
	restore []byte  // what it begins with
}

// Launch starts a worker, which may go wrong.
func (l *launcher) Launch(job *pb.Job, token string, share memory.Share, events taskexecutor.WorkerEvents) taskexecutor.Worker {
	c := l.c
	c.workers++
	w := &worker{c: c, tm: l.tm, name: fmt.Sprintf("%s.w%d", l.tm.machine.name, c.workers), job: job, token: token, network: int64(share.Network), events: events}
	l.tm.machine.workers = append(l.tm.machine.workers, w)
	fetch := c.span(time.Millisecond, 4*time.Second) + l.tm.proc.DiskDelay()
	if c.chance(c.settings.bad.launch) || l.tm.proc.DiskFails() {
		c.fault("launch failed")
		l.tm.loop.After(fetch, func() { w.end(&status.Failure{Kind: status.FailureError, Message: "fetch the program: no space left"}) })
		return w
	}
	l.tm.loop.After(fetch, w.start)
	return w
}

func (w *worker) start() {
	if w.ended {
		return
	}
	if w.told {
		w.end(nil)
		return
	}
	c := w.c
	w.proc = c.world.StartOn(w.name, w.tm.machine.name)
	w.loop = w.proc.Loop("worker")
	w.events.Started()
	if c.chance(c.settings.bad.mute) {
		c.fault("worker never registers")
		return
	}
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.RunTask, w.runTask)
	rpc.Handle(mux, gateway.StopTask, w.stopTask)
	rpc.Handle(mux, gateway.SetBudget, w.setBudget)
	rpc.Handle(mux, gateway.TriggerTasks, w.triggerTasks)
	rpc.Handle(mux, gateway.NotifyTasks, w.notifyTasks)
	rpc.Handle(mux, gateway.HeartbeatToWorker, func(_ *pb.Empty, reply func(*pb.Empty, error)) { reply(&pb.Empty{}, nil) })
	rpc.Handle(mux, gateway.ShutDown, func(_ *pb.Empty, reply func(*pb.Empty, error)) {
		w.told = true
		reply(&pb.Empty{}, nil)
		if !w.clings() {
			w.loop.After(c.span(time.Millisecond, 200*time.Millisecond), func() { w.end(nil) })
		}
	})
	w.proc.System().Serve(gateway.Worker, w.loop, mux)
	w.loop.After(c.span(time.Millisecond, time.Second), w.register)
	if c.chance(c.settings.bad.exit) {
		w.loop.After(c.span(10*time.Millisecond, 40*time.Second), func() {
			if !c.over {
				c.fault("worker exits")
				w.end(&status.Failure{Kind: status.FailureExit, Message: "exit status 3", Exit: 3})
			}
		})
	}
}

func (w *worker) taskExecutor() rpc.Address {
	return rpc.Address{Process: w.tm.proc.System().Self(), Endpoint: gateway.TaskExecutor}
}

func (w *worker) register() {
	request := &pb.RegisterWorkerRequest{JobId: w.job.JobId, Token: w.token, RpcAddress: w.proc.System().Self(), GraphHash: w.job.GraphHash, Pid: 1}
	if w.c.chance(w.c.settings.bad.wrongProgram) {
		w.c.fault("another program")
		request.GraphHash = "another"
	}
	gateway.RegisterWorker.Call(w.proc.System(), w.loop, w.taskExecutor(), ident.LeaderID{}, request, 0, func(r *pb.RegisterWorkerResponse, err error) {
		if err != nil || r.Rejected != "" {
			w.end(&status.Failure{Kind: status.FailureExit, Message: "exit status 1", Exit: 1})
		}
	})
}

// setBudget answers like a worker that mostly gives back at once what it has too
// much, and sometimes only when it is asked again.
func (w *worker) setBudget(b *pb.WorkerBudget, reply func(*pb.WorkerBudgetResponse, error)) {
	answer := &pb.WorkerBudgetResponse{Network: b.Network}
	if more := w.network - b.Network; more > 0 && w.c.chance(0.3) {
		answer.Network = b.Network + 1 + w.c.rand.Int64N(more)
	}
	w.network = answer.Network
	w.loop.After(w.c.span(time.Millisecond, 200*time.Millisecond), func() { reply(answer, nil) })
}

func (w *worker) runTask(d *pb.TaskDeployment, reply func(*pb.Empty, error)) {
	attempt, err := ident.ParseAttempt(d.Attempt)
	if err != nil || w.told {
		reply(nil, rpc.Refuse("run %s: the worker is ending", d.Attempt))
		return
	}
	t := &task{worker: w, attempt: attempt, job: d.JobId, bounded: w.c.isBounded(d.JobId), outputs: d.Partitions, restore: d.Restore}
	t.stream = w.c.stream(t, d)
	w.tasks = append(w.tasks, t)
	w.c.checks.begun(t)
	reply(&pb.Empty{}, nil)
	w.loop.After(w.c.span(time.Millisecond, 4*time.Second), t.initialize)
}

func (w *worker) stopTask(r *pb.CancelTaskRequest, reply func(*pb.Empty, error)) {
	reply(&pb.Empty{}, nil)
	for _, t := range slices.Clone(w.tasks) {
		if t.attempt.String() == r.Attempt && !t.told {
			t.stop()
		}
	}
}

func (t *task) initialize() {
	if t.ended {
		return
	}
	t.report(status.Initializing, nil)
	t.worker.loop.After(t.worker.c.span(time.Millisecond, 2*time.Second), t.run)
}

func (t *task) run() {
	c := t.worker.c
	if t.ended {
		return
	}
	if t.stream != nil {
		if f := t.stream.load(t.restore); f != nil {
			t.end(status.Failed, f)
			return
		}
	}
	t.report(status.Running, nil)
	if t.stream != nil {
		t.stream.begin()
	} else if o := c.sourceOf(t); o != nil {
		t.read(o)
	} else if t.bounded {
		t.worker.loop.After(c.span(10*time.Millisecond, maxLife), func() { t.end(status.Finished, nil) })
	}
	if c.chance(c.settings.bad.fail) {
		t.worker.loop.After(c.span(time.Millisecond, time.Minute), func() {
			if !c.over && !t.ended {
				c.fault("task fails")
				t.end(status.Failed, &status.Failure{Kind: status.FailurePanic, Message: "index out of range"})
				if c.chance(0.5) { // the panic takes the process with it, while the report is on its way
					c.fault("panic ends the worker")
					w := t.worker
					w.end(&status.Failure{Kind: status.FailureExit, Message: "exit status 2", Exit: 2})
				}
			}
		})
	}
}

func (t *task) stop() {
	c := t.worker.c
	t.told = true
	switch {
	case c.chance(c.settings.bad.hang):
		c.fault("task does not stop")
	case c.chance(c.settings.bad.stubborn):
		c.fault("task fails when stopped")
		t.worker.loop.After(c.span(time.Millisecond, 4*time.Second), func() {
			t.end(status.Failed, &status.Failure{Kind: status.FailureError, Message: "close: file already closed"})
		})
	default:
		t.worker.loop.After(c.span(time.Millisecond, 2*time.Second), func() { t.end(status.Canceled, nil) })
	}
}

func (t *task) end(state status.Execution, f *status.Failure) {
	if t.ended {
		return
	}
	t.forget()
	t.report(state, f)
}

func (t *task) forget() {
	t.ended = true
	t.worker.tasks = slices.DeleteFunc(t.worker.tasks, func(o *task) bool { return o == t })
	t.worker.c.checks.finished(t)
	if t.stream != nil {
		t.stream.ended()
	}
}

func (t *task) report(state status.Execution, f *status.Failure) {
	w := t.worker
	update := &pb.UpdateTaskExecutionStateRequest{Attempt: t.attempt.String(), State: state.String(), Failure: gateway.FailureToProto(f)}
	if state == status.Finished {
		update.Outputs = sizesOf(t.attempt, t.outputs)
	}
	gateway.WorkerTaskState.Send(w.proc.System(), w.loop, w.taskExecutor(), ident.LeaderID{}, update)
}

// Limit does nothing: nobody is killed for memory here.
func (w *worker) Limit(memory.Share) {}

// Condition says what is known of a process.
func (w *worker) Condition() string { return "played" }

// Stop asks the worker to end, as the end of its input does.
func (w *worker) Stop() {
	w.told = true
	if !w.ended && w.proc != nil && !w.clings() {
		w.loop.After(w.c.span(time.Millisecond, 2*time.Second), func() { w.end(nil) })
	}
}

// clings reports whether the worker does not end before it is killed.
func (w *worker) clings() bool {
	if !w.stays && w.c.chance(w.c.settings.bad.hang) {
		w.stays = true
		w.c.fault("worker does not end")
	}
	return w.stays
}

// Kill ends the worker at once.
func (w *worker) Kill() {
	w.told = true
	if !w.ended && w.proc != nil {
		w.c.world.At(w.c.span(10*time.Microsecond, 20*time.Millisecond), "kill", func() { w.signal("SIGKILL") })
	}
}

// signal ends the worker by a signal.
func (w *worker) signal(name string) {
	w.end(&status.Failure{Kind: status.FailureSignal, Message: "signal: " + name, Signal: name})
}

// die ends a worker whose TaskManager is gone.
func (w *worker) die() { w.end(nil) }

// peersNotice lets the tasks of other workers of the job fail, because their
// connections to this one break: before anybody has reported its death, or after.
func (w *worker) peersNotice() {
	for _, on := range w.c.machines {
		for _, other := range on.workers {
			if other == w || other.job.JobId != w.job.JobId {
				continue
			}
			for _, t := range slices.Clone(other.tasks) {
				if w.c.settings.restarts.rand.IntN(2) == 0 {
					other.loop.After(time.Duration(w.c.settings.restarts.rand.IntN(20_000))*time.Microsecond, func() {
						t.end(status.Failed, &status.Failure{Kind: status.FailureConsumer, Message: "connection reset by peer"})
					})
				}
			}
		}
	}
}

// end is the end of the process; a living TaskManager is told a moment later.
func (w *worker) end(f *status.Failure) {
	if w.ended {
		return
	}
	w.ended = true
	for _, t := range slices.Clone(w.tasks) {
		t.forget()
	}
	if w.proc != nil {
		w.proc.Crash(false)
	}
	if w.c.settings.restarts.peers && !w.told && !w.c.over {
		w.peersNotice()
	}
	on := w.tm.machine
	on.workers = slices.DeleteFunc(on.workers, func(o *worker) bool { return o == w })
	if w.tm.proc.Alive() {
		w.c.world.At(w.c.span(10*time.Microsecond, 20*time.Millisecond), "reap", func() {
			w.tm.loop.Post(func() { w.events.Exited(f) })
		})
	}
}
