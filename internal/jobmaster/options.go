package jobmaster

import (
	"log/slog"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/registration"
)

// Options are what a Master is made of. A zero duration or number means Flink's
// default, which the comment names.
type Options struct {
	Loop   actor.Loop
	System rpc.System
	// Graph is the job; nobody changes it any more.
	Graph       *jobgraph.Graph
	JobMasterID ident.LeaderID
	// ResourceManager is where slots are asked for.
	ResourceManager rpc.Address
	// Coordinators are the kinds of operator coordinators the Master can host.
	Coordinators coordinator.Kinds
	// Begun is when the job was submitted; zero: now.
	Begun time.Time

	// Disk is where checkpoints are; nil: no job has any.
	Disk checkpointing.Disk
	// CheckpointStore makes the store of a job's completed checkpoints, which may
	// hold what an earlier JobMaster of the job has left; nil: it ends with the
	// JobMaster.
	CheckpointStore func(ident.JobID) checkpointing.Store

	HeartbeatInterval time.Duration // heartbeat.interval: 10 s
	HeartbeatTimeout  time.Duration // heartbeat.timeout: 50 s
	// HeartbeatThreshold is how many pings in a row must find nobody for the
	// target to count as lost before the timeout; negative: the timeout alone
	// decides. It is heartbeat.rpc-failure-threshold: 2.
	HeartbeatThreshold int
	// Registration is how the ResourceManager is sought.
	Registration       registration.Pace
	SlotRequestTimeout time.Duration // slot.request.timeout: 5 min
	SlotIdleTimeout    time.Duration // slot.idle.timeout: 50 s
	ExceptionHistory   int           // web.exception-history-size: 16
	AttemptsHistory    int           // jobmanager.execution.attempts-history-size: 16

	// DeployAtOnce is how many attempts are submitted in one step of the loop: 500.
	DeployAtOnce int

	// Config holds what the cluster says of restarts, which the job's own
	// settings overrule, and of failover; nil: the defaults.
	Config *config.Config

	Logger *slog.Logger // nil: nothing is logged

	// OnDone is called once, on the loop, when the job has reached a terminal
	// state, SUSPENDED included. The Master still says goodbye to its peers
	// then; Close tells when that is done.
	OnDone func(execgraph.View)
}

func (o *Options) complete() {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&o.HeartbeatInterval, 10*time.Second)
	set(&o.HeartbeatTimeout, 50*time.Second)
	o.Registration = o.Registration.Complete()
	set(&o.SlotRequestTimeout, 5*time.Minute)
	set(&o.SlotIdleTimeout, 50*time.Second)
	switch {
	case o.HeartbeatThreshold == 0:
		o.HeartbeatThreshold = 2
	case o.HeartbeatThreshold < 0:
		o.HeartbeatThreshold = -1
	}
	if o.DeployAtOnce <= 0 {
		o.DeployAtOnce = 500
	}
	if o.ExceptionHistory == 0 {
		o.ExceptionHistory = execgraph.DefaultHistory
	}
	if o.AttemptsHistory == 0 {
		o.AttemptsHistory = execgraph.DefaultAttempts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnDone == nil {
		o.OnDone = func(execgraph.View) {}
	}
}
