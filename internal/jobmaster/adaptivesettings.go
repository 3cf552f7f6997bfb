package jobmaster

import (
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
)

// follows reports whether the parallelism of a job follows the slots there are, by
// these settings. That of a batch job follows its data, whatever they say.
func follows(g *jobgraph.Graph, c *config.Config) bool {
	return !g.Batch && (config.JobManagerScheduler.In(c) == "Adaptive" || reactive(c))
}

func reactive(c *config.Config) bool { return config.SchedulerMode.In(c) == "REACTIVE" }

// adaptiveOptions say how a job follows the slots there are; checkpoints, that it
// takes some.
func adaptiveOptions(c *config.Config, checkpoints bool) rescale.Options {
	o := rescale.Options{Handover: handover, Checkpoints: checkpoints, ActiveCheckpoint: config.AdaptiveActiveCheckpoint.In(c)}
	o.Reactive = reactive(c)
	o.WaitTimeout, o.Stabilization = config.AdaptiveWaitTimeout.In(c), config.AdaptiveStabilization.In(c)
	if _, set := config.AdaptiveWaitTimeout.Lookup(c); o.Reactive && !set {
		o.WaitTimeout = -time.Millisecond
	}
	if _, set := config.AdaptiveStabilization.Lookup(c); o.Reactive && !set {
		o.Stabilization = 0
	}
	o.Cooldown, o.RescaleStabilization = config.AdaptiveCooldown.In(c), config.AdaptiveRescaleStabilization.In(c)
	o.CheckpointFailures = config.AdaptiveCheckpointFailures.In(c)
	if delay, set := config.AdaptiveMaxDelay.Lookup(c); set {
		o.MaxDelay = delay
	} else if checkpoints {
		o.MaxDelay = config.CheckpointInterval.In(c) * time.Duration(o.CheckpointFailures+1)
	}
	return o
}

// makeAdaptive makes what lets the parallelism of a job follow the slots there are,
// if it is to.
func (m *Master) makeAdaptive(c *config.Config) {
	if !m.graph.Late() {
		return
	}
	o := adaptiveOptions(c, m.checkpoints.taken())
	o.History, o.SlotIdle = config.WebRescaleHistorySize.In(m.options.Config), m.options.SlotIdleTimeout
	o.NewID = func() ident.ID { return ident.New(m.loop.Rand()) }
	m.adaptive = &adaptive{m: m, core: rescale.New(m.options.Graph, o, m.loop.Now())}
}
