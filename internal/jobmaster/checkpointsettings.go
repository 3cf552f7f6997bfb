package jobmaster

import (
	"fmt"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
)

// checkpointOptions says how a job's checkpoints are taken by these settings; taken
// is false when it has none. random draws when the first one is due, so that many
// jobs do not begin at once.
func checkpointOptions(c *config.Config, random func(int64) int64) (o checkpoint.Options, taken bool, err error) {
	o = checkpoint.Options{
		Interval: config.CheckpointInterval.In(c), Timeout: config.CheckpointTimeout.In(c), MinPause: config.CheckpointMinPause.In(c),
		MaxConcurrent: config.CheckpointMaxConcurrent.In(c), Tolerable: config.CheckpointTolerableFailures.In(c), Retained: config.CheckpointsRetained.In(c),
		ExactlyOnce: config.CheckpointMode.In(c) == "EXACTLY_ONCE", AfterFinish: config.CheckpointsAfterTasksFinish.In(c),
		History: config.CheckpointHistory.In(c), Backend: config.StateBackend.In(c),
	}
	if o.Interval <= 0 {
		return o, false, nil
	}
	o.FirstDelay = min(o.MinPause, o.Interval)
	if spread := o.Interval - o.FirstDelay; spread > 0 {
		o.FirstDelay += time.Duration(random(int64(spread)))
	}
	switch config.CheckpointRetention.In(c) {
	case "DELETE_ON_CANCELLATION":
		o.Retention = checkpoint.DeleteOnCancel
	case "RETAIN_ON_CANCELLATION":
		o.Retention = checkpoint.RetainOnCancel
	}
	for _, refused := range []struct {
		key string
		set bool
	}{
		{config.CheckpointUnaligned.Key, config.CheckpointUnaligned.In(c)},
		{config.CheckpointIncremental.Key, config.CheckpointIncremental.In(c)},
		{config.StateBackend.Key + " = " + o.Backend, o.Backend != "hashmap"},
		{config.CheckpointMode.Key + " = AT_LEAST_ONCE", !o.ExactlyOnce},
	} {
		if refused.set {
			return o, false, fmt.Errorf("checkpoints with %s are not possible in this version", refused.key)
		}
	}
	directory := config.CheckpointDirectory.In(c)
	switch storage := config.CheckpointStorage.In(c); {
	case storage == "filesystem" && directory == "":
		return o, false, fmt.Errorf("%s is filesystem, and %s names no directory", config.CheckpointStorage.Key, config.CheckpointDirectory.Key)
	case storage == "jobmanager" || directory == "":
		return o, true, nil
	}
	o.Directory, err = fs.Parse(directory)
	if err != nil {
		return o, false, fmt.Errorf("%s: %w", config.CheckpointDirectory.Key, err)
	}
	return o, true, nil
}

// makeCheckpoints makes the checkpoints of a job that has some.
func (m *Master) makeCheckpoints() error {
	if m.options.Disk == nil || m.options.Graph.Batch {
		return nil
	}
	settings, err := jobSettings(m.options.Config, m.options.Graph.Configuration)
	if err != nil {
		return fmt.Errorf("settings of the job: %w", err)
	}
	options, taken, err := checkpointOptions(settings, m.loop.Rand().Int64N)
	if err != nil || !taken {
		return err
	}
	c := &checkpoints{m: m, began: map[ident.AttemptID]int64{}}
	c.owner = checkpointing.New(checkpointing.Options{
		Loop: m.loop, Core: checkpoint.New(options, m.options.Graph), Job: m.job, Disk: m.options.Disk, Store: &checkpointing.Memory{}, Tasks: c, Log: m.log,
	})
	m.checkpoints = c
	return nil
}
