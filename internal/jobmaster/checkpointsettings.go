package jobmaster

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
)

// checkpointOptions says how a job's checkpoints are taken by these settings. random
// draws when the first one is due, so that many jobs do not begin at once. Without
// an interval there are none but those that a person asks for, and what is set
// about the others is not looked at.
func checkpointOptions(c *config.Config, random func(int64) int64) (o checkpoint.Options, err error) {
	o = checkpoint.Options{
		Interval: config.CheckpointInterval.In(c), Timeout: config.CheckpointTimeout.In(c), MinPause: config.CheckpointMinPause.In(c),
		MaxConcurrent: config.CheckpointMaxConcurrent.In(c), Tolerable: config.CheckpointTolerableFailures.In(c), Retained: config.CheckpointsRetained.In(c),
		ExactlyOnce: config.CheckpointMode.In(c) == "EXACTLY_ONCE", AfterFinish: config.CheckpointsAfterTasksFinish.In(c),
		Unaligned: config.CheckpointUnaligned.In(c), AlignedTimeout: config.CheckpointAlignedTimeout.In(c),
		Incremental: config.CheckpointIncremental.In(c), History: config.CheckpointHistory.In(c), Backend: config.StateBackend.In(c),
	}
	if o.Interval <= 0 {
		o.Interval, o.ExactlyOnce, o.Unaligned = 0, true, false
		o.Directory, err = asked(c)
		return o, err
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
	switch unaligned := config.CheckpointUnaligned.Key + " is true"; {
	case o.Unaligned && !o.ExactlyOnce:
		return o, fmt.Errorf("%s and %s is AT_LEAST_ONCE: barriers overtake records only where each counts once", unaligned, config.CheckpointMode.Key)
	case o.Unaligned && o.MaxConcurrent > 1:
		return o, fmt.Errorf("%s and %s is %d: it must be 1 then", unaligned, config.CheckpointMaxConcurrent.Key, o.MaxConcurrent)
	}
	directory := config.CheckpointDirectory.In(c)
	switch storage := config.CheckpointStorage.In(c); {
	case storage == "filesystem" && directory == "":
		return o, fmt.Errorf("%s is filesystem, and %s names no directory", config.CheckpointStorage.Key, config.CheckpointDirectory.Key)
	case storage == "jobmanager" || directory == "":
		return o, nil
	}
	o.Directory, err = checkpointDirectory(directory)
	return o, err
}

// asked is where the checkpoints go that a person asks for when there are no others.
func asked(c *config.Config) (fs.Location, error) {
	directory := config.CheckpointDirectory.In(c)
	if directory == "" || config.CheckpointStorage.In(c) == "jobmanager" {
		return "", nil
	}
	return checkpointDirectory(directory)
}

func checkpointDirectory(text string) (fs.Location, error) {
	at, err := fs.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", config.CheckpointDirectory.Key, err)
	}
	return at, nil
}

// originOf is what a person has the job begin with; nil: with nothing.
func originOf(c *config.Config) (*checkpoint.Origin, error) {
	path := config.RecoveryPath.In(c)
	if path == "" {
		return nil, nil
	}
	at, err := fs.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.RecoveryPath.Key, err)
	}
	o := &checkpoint.Origin{Location: at, AllowNonRestored: config.RecoveryIgnoreUnclaimed.In(c)}
	if config.RecoveryClaimMode.In(c) == "CLAIM" {
		o.Claim = checkpoint.ClaimIt
	}
	return o, nil
}

// makeCheckpoints makes the checkpoints of a streaming job.
func (m *Master) makeCheckpoints(settings *config.Config) error {
	if m.options.Disk == nil {
		return nil
	}
	origin, err := originOf(settings)
	switch {
	case err != nil:
		return err
	case m.options.Graph.Batch && origin != nil:
		return fmt.Errorf("%s is %s, and the job is a batch job, which has no state to begin with", config.RecoveryPath.Key, origin.Location)
	case m.options.Graph.Batch:
		return nil
	}
	options, err := checkpointOptions(settings, m.loop.Rand().Int64N)
	if err != nil {
		return err
	}
	var store checkpointing.Store = &checkpointing.Memory{}
	if m.options.CheckpointStore != nil {
		store = m.options.CheckpointStore(m.job)
	}
	if store.Lasts() && options.Interval > 0 && options.Directory == "" {
		return fmt.Errorf("checkpoints in the memory of the JobManager do not outlive it, as %s wants: set %s", config.HighAvailabilityType.Key, config.CheckpointDirectory.Key)
	}
	c := &checkpoints{
		m: m, incremental: options.Incremental, overtaken: options.Unaligned, inline: int64(config.CheckpointInlineThreshold.In(settings)),
		origin: origin, began: map[ident.AttemptID]int64{}, periodic: options.Interval > 0,
	}
	c.owner = checkpointing.New(checkpointing.Options{
		Loop: m.loop, Core: checkpoint.New(options, m.options.Graph), Job: m.job, Disk: m.options.Disk, Store: store, Tasks: c, Log: m.log,
	})
	m.checkpoints = c
	m.describer.tellWorkers(options)
	return nil
}

// tellWorkers makes the job's configuration, as its workers are given it, say how
// checkpoints are taken and where state is kept, also where only the cluster's
// settings do.
func (m *describer) tellWorkers(o checkpoint.Options) {
	all := maps.Clone(m.job.Configuration)
	if all == nil {
		all = map[string]string{}
	}
	all[config.CheckpointInterval.Key] = strconv.FormatInt(o.Interval.Milliseconds(), 10) + " ms"
	all[config.StateBackend.Key] = o.Backend
	all[config.CheckpointsAfterTasksFinish.Key] = strconv.FormatBool(o.AfterFinish)
	m.job.Configuration = all
}
