package jobmaster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/jobmaster/failover"
	"github.com/weirstream/weir/internal/jobmaster/rescale"
	"github.com/weirstream/weir/internal/jobmaster/schedule"
)

// own begins the keys that a job may set for itself and of which the cluster has
// the others: how it restarts, how it is sized or follows the slots there are, how its
// checkpoints are taken and what it begins with.
var own = []string{"restart-strategy", "execution.batch.adaptive.", "execution.checkpointing.", "execution.state-recovery.", "state.", config.ParallelismDefault.Key,
	config.JobManagerScheduler.Key, config.SchedulerMode.Key, "jobmanager.adaptive-scheduler."}

// jobSettings are a cluster's settings with those of a job over them.
func jobSettings(cluster *config.Config, job map[string]string) (*config.Config, error) {
	all := map[string]string{}
	for _, from := range []map[string]string{cluster.Map(), job} {
		for _, key := range slices.Sorted(maps.Keys(from)) {
			now := present(key)
			if slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(now, prefix) }) {
				all[now] = from[key]
			}
		}
	}
	return config.New(all)
}

// present is the name an option has now.
func present(key string) string {
	if info, ok := config.Describe(key); ok {
		return info.Key
	}
	return key
}

// backoffOf makes the restart strategy that the settings name. Without one, a
// job whose tasks' state is not kept is not started again: it would begin from
// the beginning, and nobody has said that it may. One whose is kept is, for ever.
func backoffOf(c *config.Config, kept bool, random func(int64) int64) failover.Backoff {
	strategy := config.RestartStrategy.In(c)
	if _, set := config.RestartStrategy.Lookup(c); !set && kept {
		strategy = "exponential-delay"
	}
	switch strategy {
	case "fixed-delay", "fixeddelay":
		return failover.NewFixedDelay(config.RestartFixedDelayAttempts.In(c), config.RestartFixedDelay.In(c))
	case "failure-rate", "failurerate":
		return failover.NewFailureRate(config.RestartFailureRateMax.In(c), config.RestartFailureRateInterval.In(c), config.RestartFailureRateDelay.In(c))
	case "exponential-delay", "exponentialdelay":
		return failover.NewExponentialDelay(failover.Exponential{
			Initial: config.RestartExponentialInitial.In(c), Max: config.RestartExponentialMax.In(c),
			Multiplier: config.RestartExponentialMultiplier.In(c), Jitter: config.RestartExponentialJitter.In(c),
			Reset: config.RestartExponentialReset.In(c), Attempts: config.RestartExponentialAttempts.In(c),
		}, random)
	}
	return failover.None{}
}

// sizingOf says how vertices are sized whose parallelism the program leaves open.
func sizingOf(c *config.Config) (schedule.Sizing, error) {
	least := config.BatchMinParallelism.In(c)
	if most, set := config.BatchMaxParallelism.Lookup(c); set && least > most {
		return schedule.Sizing{}, fmt.Errorf("%s is %d, above %s, which is %d", config.BatchMinParallelism.Key, least, config.BatchMaxParallelism.Key, most)
	}
	z := schedule.Sizing{Least: least, Volume: int64(config.BatchTaskVolume.In(c)), Otherwise: config.ParallelismDefault.In(c)}
	if n, set := config.BatchSourceParallelism.Lookup(c); set {
		z.Sources, z.Otherwise = n, n
	}
	return z, nil
}

// makeScheduler makes the core that decides about the job.
func (m *Master) makeScheduler(settings *config.Config) error {
	sizing, err := sizingOf(settings)
	if err != nil {
		return fmt.Errorf("settings of the job: %w", err)
	}
	backoff := backoffOf(settings, m.checkpoints.taken(), m.loop.Rand().Int64N)
	var strategy failover.Strategy = failover.NewRegion(m.graph)
	if config.FailoverStrategy.In(m.options.Config) == "full" || m.graph.Late() {
		strategy = failover.NewFull(m.graph)
	}
	m.scheduler = schedule.New(m.graph, backoff, strategy, sizing)
	if config.TaskManagerLoadBalanceMode.In(m.options.Config) == "TASKS" {
		m.scheduler.BalanceTasks()
	}
	if m.checkpoints != nil && m.adaptive == nil {
		m.scheduler.AskBeforeRestart()
	}
	m.log.Info("restart strategy chosen", "strategy", backoff.String(), "failover", strategy.String())
	return nil
}

// restartAfter sets the timer of a pause before a restart.
func (m *Master) restartAfter(f schedule.RestartAfter) {
	m.log.Info("tasks restart after a pause", "restart", f.Restart, "pause", f.Delay)
	m.adaptive.apply(rescale.Restarting{})
	m.pauses[f.Restart] = m.loop.After(f.Delay, func() {
		delete(m.pauses, f.Restart)
		if m.adaptive != nil { // it asks when it knows what runs again
			m.schedule(schedule.RestartDue{Restart: f.Restart})
			return
		}
		m.checkpoints.restart(f.Tasks, func() { m.schedule(schedule.RestartDue{Restart: f.Restart}) })
	})
}

// stopPauses stops the timers of restarts: the job is over.
func (m *Master) stopPauses() {
	for _, id := range slices.Sorted(maps.Keys(m.pauses)) {
		m.pauses[id].Stop()
	}
	clear(m.pauses)
}

// tasksReset tells the coordinators of subtasks that begin anew, before any of
// their new attempts can ask for work.
func (m *Master) tasksReset(f schedule.TasksReset) {
	for _, h := range m.coordinators {
		for _, e := range f.Executions {
			if e.Vertex.Parent == h.vertex {
				m.resetCoordinator(h, e)
			}
		}
	}
}
