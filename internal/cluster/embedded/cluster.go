package embedded

import (
	"context"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/cluster/embedded/coordinators"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/taskexecutor"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

const (
	resourceID = ident.ResourceID("embedded")
	// managedPerSlot is the managed memory of a slot, in bytes. An embedded run
	// has the program's whole heap; nothing is set aside.
	managedPerSlot = 128 << 20
	// fewBuffers are for what comes from other processes: nothing does.
	fewBuffers = 16
	// writeBuffers are what a blocking partition may gather records in; they are
	// made as they are needed.
	writeBuffers = 512
	// never is how long a canceled task may take when task.cancellation.timeout
	// is off, and how long an endpoint may be silent unless heartbeat.timeout is set.
	never = 100 * 365 * 24 * time.Hour
)

// cluster is one embedded cluster. All endpoints share its loop and its system.
type cluster struct {
	loop       *actor.Real
	system     *rpc.MemorySystem
	manager    *resourcemanager.Manager
	dispatcher *dispatcher.Dispatcher
	executor   *taskexecutor.Executor
	// errors are what the newest attempt of each subtask failed with, by the first
	// attempt. They are touched on the loop only.
	errors map[ident.AttemptID]taskError
}

// A taskError is what an attempt failed with.
type taskError struct {
	attempt ident.AttemptID
	err     error
}

// failed keeps an error that a task failed with: what is reported of it is data.
func (c *cluster) failed(attempt ident.AttemptID, err error) {
	subtask := attempt
	subtask.Attempt = 0
	c.errors[subtask] = taskError{attempt, err}
}

// errorOf gives the error that an attempt failed with; nil: it is not known.
func (c *cluster) errorOf(attempt ident.AttemptID) error {
	subtask := attempt
	subtask.Attempt = 0
	e, err := actor.Query(context.Background(), c.loop, func() taskError { return c.errors[subtask] })
	if err != nil || e.attempt != attempt {
		return nil
	}
	return e.err
}

// start makes a cluster for one job. It must be closed.
func start(o Options) *cluster {
	c := &cluster{loop: actor.Start("embedded cluster"), system: rpc.NewMemory().System("embedded"), errors: map[ident.AttemptID]taskError{}}
	cfg := o.Config
	// All endpoints stop and go on together, as in a debugger: none is given up by the
	// others because it was silent.
	silence, set := config.HeartbeatTimeout.Lookup(cfg)
	if !set {
		silence = never
	}
	rm := rpc.Address{Process: c.system.Self(), Endpoint: gateway.ResourceManager}
	c.manager = resourcemanager.New(resourcemanager.Options{
		Loop: c.loop, System: c.system, StartUpPeriod: config.StandaloneStartUpTime.In(cfg), Logger: o.Logger,
		HeartbeatInterval: config.HeartbeatInterval.In(cfg), HeartbeatTimeout: silence,
	})
	c.dispatcher = dispatcher.New(dispatcher.Options{
		Loop: c.loop, Logger: o.Logger, Finished: dispatcher.StoreOptions{MaxCapacity: 1},
		NewJobMaster: dispatcher.JobMasters(jobmaster.Options{
			Loop: c.loop, System: c.system, ResourceManager: rm, Coordinators: coordinators.Builtin(), Disk: storage.Disk{Files: fs.ByScheme{"file": local.FileSystem{}}}, Logger: o.Logger,
			HeartbeatInterval: config.HeartbeatInterval.In(cfg), HeartbeatTimeout: silence,
			SlotRequestTimeout: config.SlotRequestTimeout.In(cfg), SlotIdleTimeout: config.SlotIdleTimeout.In(cfg),
			ExceptionHistory: config.WebExceptionHistorySize.In(cfg), AttemptsHistory: config.JobManagerAttemptsHistorySize.In(cfg),
			Config: cfg,
		}),
	})
	cancellation := config.TaskCancellationTimeout.In(cfg)
	if cancellation <= 0 {
		cancellation = never
	}
	c.executor = taskexecutor.New(taskexecutor.Options{
		Loop: c.loop, System: c.system, ResourceManager: rm, ResourceID: resourceID, Host: "localhost", Logger: o.Logger,
		Slots: o.Slots, Total: slottable.Profile{CPU: float64(o.Slots), Managed: int64(o.Slots) * managedPerSlot},
		HeartbeatInterval: config.HeartbeatInterval.In(cfg), HeartbeatTimeout: silence,
		CancellationTimeout: cancellation, Launcher: &launcher{cluster: c, options: o},
	})
	c.loop.Post(func() {
		c.manager.Start()
		c.executor.Start()
	})
	return c
}

// close ends the cluster and returns when nothing is left of it.
func (c *cluster) close() {
	ctx := context.Background()
	// Neither can fail: the loop runs, and nobody's patience ends.
	_ = c.dispatcher.Close(ctx)
	_, _ = actor.Ask(ctx, c.loop, func(reply func(struct{})) {
		c.executor.Stop("the program's job has ended", func() {
			c.manager.Stop()
			reply(struct{}{})
		})
	})
	c.system.Close()
	c.loop.Close()
}
