package taskexecutor

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/heartbeat"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/rpc/registration"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

// Options are what an Executor is made of. A zero duration means Flink's
// default, which the comment names.
type Options struct {
	Loop            actor.Loop
	System          rpc.System
	ResourceManager rpc.Address
	ResourceID      ident.ResourceID
	Cluster         ident.ClusterID // zero: whatever cluster takes it
	Version         string
	Slots           int
	Total           slottable.Profile // the budget that all slots share
	DataAddresses   []string          // of the data port, preferred first
	Host            string            // for people: host:dataPort

	HeartbeatInterval time.Duration // heartbeat.interval: 10 s
	HeartbeatTimeout  time.Duration // heartbeat.timeout: 50 s
	// RegistrationTimeout is how long the Executor may be without a
	// ResourceManager. It is taskmanager.registration.timeout: 5 min.
	RegistrationTimeout time.Duration
	// Registration is how the ResourceManager and the JobMasters are sought.
	Registration registration.Pace
	// SlotTimeout is how long a reserved slot waits for its JobMaster. It is
	// taskmanager.slot.timeout: 10 s.
	SlotTimeout time.Duration
	// CancellationTimeout is how long a canceled task may take before its
	// worker is killed. It is task.cancellation.timeout: 180 s.
	CancellationTimeout time.Duration
	// WorkerStartTimeout is how long a started worker may take to register: 30 s.
	WorkerStartTimeout time.Duration
	// WorkerGrace is how long a worker that was asked to end may take: 5 s.
	WorkerGrace time.Duration

	Launcher Launcher
	// Share is what a worker may use whose job holds so many of the slots; nil:
	// workers have no budget of their own, as they share a process.
	Share               func(held int) memory.Share
	Hardware            *pb.Hardware
	MemoryConfiguration []byte // JSON, as REST shows it
	LogFile             string
	// Process gives the newest figures of this process, with the limits of the
	// TaskManager; nil: nobody measures. The Executor adds those of its workers.
	Process func() *status.ProcessFigures
	Logger  *slog.Logger
	// OnFatal is called at most once, on the loop, when the Executor cannot go
	// on: it was refused, or found no ResourceManager in time.
	OnFatal func(error)
}

func (o *Options) complete() {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&o.HeartbeatInterval, 10*time.Second)
	set(&o.HeartbeatTimeout, 50*time.Second)
	set(&o.RegistrationTimeout, 5*time.Minute)
	o.Registration = o.Registration.Complete()
	set(&o.SlotTimeout, 10*time.Second)
	set(&o.CancellationTimeout, 180*time.Second)
	set(&o.WorkerStartTimeout, 30*time.Second)
	set(&o.WorkerGrace, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnFatal == nil {
		o.OnFatal = func(error) {}
	}
}

// Executor is the TaskExecutor of one TaskManager. All methods but New are
// called on its loop.
//
// Invariant: jobs, workers and the tasks of a job are kept in the order they
// came, so that equal worlds do equal things; tasks indexes the tasks of all
// jobs; a job is there as long as it has a slot, a task, an output that others will
// read, or a state that its JobMaster has not heard of.
type Executor struct {
	options Options
	loop    actor.Loop
	system  rpc.System
	log     *slog.Logger
	master  resourceManager
	table   *slottable.Table
	expiry  actor.Timer // of the slot whose time is over first; nil: none
	jobs    []*job
	tasks   map[ident.AttemptID]*task
	workers []*worker
	beats   *heartbeat.Manager[*worker] // of workers that are processes of their own
	fatal   bool
	stopped func() // set by Stop, runs once the last worker is gone
}

// New makes an Executor; Start lets it begin.
func New(o Options) *Executor {
	o.complete()
	e := &Executor{options: o, loop: o.Loop, system: o.System, log: o.Logger.With("taskmanager", o.ResourceID),
		table: slottable.New(o.Slots, o.Total, o.SlotTimeout), tasks: map[ident.AttemptID]*task{}}
	e.watchWorkers()
	return e
}

// Start serves the endpoint and begins to look for the ResourceManager.
func (e *Executor) Start() {
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.RequestSlot, e.requestSlot)
	rpc.Handle(mux, gateway.FreeSlot, e.freeSlot)
	rpc.Handle(mux, gateway.SubmitTask, e.submitTask)
	rpc.Handle(mux, gateway.CancelTask, e.cancelTask)
	rpc.Handle(mux, gateway.ReleaseOutputs, e.releaseOutputs)
	rpc.Handle(mux, gateway.TriggerCheckpoint, e.triggerCheckpoint)
	rpc.Handle(mux, gateway.NotifyCheckpoint, e.notifyCheckpoint)
	rpc.Handle(mux, gateway.DisconnectJobManager, e.disconnectJobManager)
	rpc.Handle(mux, gateway.HeartbeatFromResourceManager, e.heartbeatFromResourceManager)
	rpc.Handle(mux, gateway.HeartbeatFromJobMaster, e.heartbeatFromJobMaster)
	rpc.Handle(mux, gateway.RegisterWorker, e.registerWorker)
	rpc.Handle(mux, gateway.WorkerTaskState, e.workerTaskState)
	rpc.Handle(mux, gateway.WorkerTaskMetrics, e.workerTaskMetrics)
	rpc.Handle(mux, gateway.WorkerRequest, e.workerRequest)
	rpc.Handle(mux, gateway.WorkerAcknowledge, e.workerAcknowledge)
	rpc.Handle(mux, gateway.WorkerDecline, e.workerDecline)
	for _, name := range e.endpoints() {
		e.system.Serve(name, e.loop, mux)
	}
	e.connect()
}

// endpoints are the names its workers and its masters call it by.
func (e *Executor) endpoints() []string {
	return []string{gateway.TaskExecutor, gateway.TaskExecutorOf(e.options.ResourceID)}
}

// Stop leaves the cluster and kills all workers; then runs once they are gone.
// Whoever counted on this TaskManager learns it from the ResourceManager or
// from its heartbeats.
func (e *Executor) Stop(cause string, then func()) {
	if e.stopped != nil {
		return
	}
	e.stopped = then
	if e.master.registered() {
		gateway.DisconnectTaskExecutor.Send(e.system, e.loop, e.options.ResourceManager, e.master.term, &pb.DisconnectTaskExecutorRequest{
			ResourceId: string(e.options.ResourceID), InstanceId: e.master.instance, Cause: cause})
	}
	for _, name := range e.endpoints() {
		e.system.Withdraw(name)
	}
	e.master.close()
	stopTimer(&e.expiry)
	for _, j := range slices.Clone(e.jobs) {
		e.forget(j)
	}
	e.beats.Stop()
	for _, w := range e.workers {
		stopTimer(&w.budget.again)
		stopTimer(&w.budget.patience)
		w.handle.Kill()
	}
	e.finish()
}

// finish ends Stop when no worker is left.
func (e *Executor) finish() {
	if e.stopped != nil && len(e.workers) == 0 {
		then := e.stopped
		e.stopped = func() {}
		then()
	}
}

// BlobAddress is the process that serves artifacts; empty before the first
// registration.
func (e *Executor) BlobAddress() string { return e.master.blob }

// Cluster is the cluster that took this TaskManager last; before that the one it
// was made for.
func (e *Executor) Cluster() ident.ClusterID {
	if e.master.cluster.IsZero() {
		return e.options.Cluster
	}
	return e.master.cluster
}

// fail reports that the Executor cannot go on.
func (e *Executor) fail(err error) {
	if e.fatal || e.stopped != nil {
		return
	}
	e.fatal = true
	e.log.Error("TaskExecutor cannot go on", "error", err)
	e.options.OnFatal(err)
}

// unanswered reports whether a call may have been executed or may succeed when
// it is sent again.
func unanswered(err error) bool {
	return errors.Is(err, rpc.ErrTimeout) || errors.Is(err, rpc.ErrUnreachable)
}

func stopTimer(t *actor.Timer) {
	if *t != nil {
		(*t).Stop()
		*t = nil
	}
}

func errorOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
