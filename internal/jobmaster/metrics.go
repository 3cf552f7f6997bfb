package jobmaster

import (
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

// Metrics names what a view tells of a job in numbers, at now, in the scope of
// the job. Times are milliseconds; what has no meaning yet is -1, as in Flink.
func Metrics(v *execgraph.View, now time.Time) []metrics.Metric {
	all := []metrics.Metric{
		{Name: "uptime", Value: metrics.Whole(upTime(v, now))},
		{Name: "downtime", Value: metrics.Whole(downTime(v, now))},
		{Name: "numRestarts", Value: metrics.Whole(int64(v.Restarts.All))},
		{Name: "numRescales", Value: metrics.Whole(rescales(v))},
		{Name: "deployingTime", Value: metrics.Whole(deployingTime(v, now))},
		{Name: "allSubTasksRunningOrFinishedTime", Value: metrics.Whole(allRunningTime(v, now))},
	}
	for _, s := range []struct {
		name  string
		state status.Job
	}{
		{"initializingTime", status.JobInitializing}, {"createdTime", status.JobCreated}, {"runningTime", status.JobRunning},
		{"restartingTime", status.JobRestarting}, {"failingTime", status.JobFailing}, {"cancellingTime", status.JobCancelling},
	} {
		passed := int64(0)
		if v.State == s.state {
			passed = since(v.Since(s.state), now)
		}
		all = append(all, metrics.Metric{Name: s.name, Value: metrics.Whole(passed)})
	}
	return append(all, checkpointMetrics(v.Checkpoints)...)
}

// rescales counts the restarts that were made to change the parallelism.
func rescales(v *execgraph.View) int64 {
	if v.Adaptive == nil {
		return 0
	}
	return int64(v.Adaptive.Rescaled)
}

// checkpointMetrics tells what is remembered of a job's checkpoints; what there was
// none of is -1, as in Flink.
func checkpointMetrics(v *record.View) []metrics.Metric {
	if v == nil {
		v = &record.View{}
	}
	last, restored, path := [...]int64{-1, -1, -1, -1, -1, -1, -1}, int64(-1), "n/a"
	if c := v.Completed; c != nil {
		last = [...]int64{c.Duration().Milliseconds(), c.Checkpointed, c.State, c.Processed, c.Persisted, c.LatestAck.UnixMilli(), c.ID}
		if c.Location != "" {
			path = c.Location.String()
		}
	}
	if v.Restored != nil {
		restored = v.Restored.At.UnixMilli()
	}
	return []metrics.Metric{
		{Name: "totalNumberOfCheckpoints", Value: metrics.Whole(int64(v.Counts.Total))},
		{Name: "numberOfInProgressCheckpoints", Value: metrics.Whole(int64(v.Counts.InProgress))},
		{Name: "numberOfCompletedCheckpoints", Value: metrics.Whole(int64(v.Counts.Completed))},
		{Name: "numberOfFailedCheckpoints", Value: metrics.Whole(int64(v.Counts.Failed))},
		{Name: "lastCheckpointDuration", Value: metrics.Whole(last[0])},
		{Name: "lastCheckpointSize", Value: metrics.Whole(last[1])},
		{Name: "lastCheckpointFullSize", Value: metrics.Whole(last[2])},
		{Name: "lastCheckpointMetadataSize", Value: metrics.Whole(-1)}, // it is not measured
		{Name: "lastCheckpointProcessedData", Value: metrics.Whole(last[3])},
		{Name: "lastCheckpointPersistedData", Value: metrics.Whole(last[4])},
		{Name: "lastCheckpointCompletedTimestamp", Value: metrics.Whole(last[5])},
		{Name: "lastCheckpointRestoreTimestamp", Value: metrics.Whole(restored)},
		{Name: "lastCompletedCheckpointId", Value: metrics.Whole(last[6])},
		{Name: "lastCheckpointExternalPath", Value: metrics.Text(path)},
	}
}

// CoordinatorMetrics names what a coordinator tells, in the scope of its
// operator.
func CoordinatorMetrics(c *execgraph.CoordinatorView) []metrics.Metric {
	return []metrics.Metric{{Name: "coordinator.enumerator.unassignedSplits", Value: metrics.Whole(int64(c.Unassigned))}}
}

func since(at, now time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(0, now.Sub(at).Milliseconds())
}

// upTime is how long the job has run without interruption; -1: it has ended.
func upTime(v *execgraph.View, now time.Time) int64 {
	switch {
	case v.State.Terminal():
		return -1
	case v.State == status.JobRunning:
		return since(v.Since(status.JobRunning), now)
	}
	return 0
}

// downTime is how long a job that ran has not; -1: it has ended.
func downTime(v *execgraph.View, now time.Time) int64 {
	switch {
	case v.State.Terminal():
		return -1
	case v.State == status.JobRunning || v.Since(status.JobRunning).IsZero():
		return 0
	case v.State == status.JobCreated: // it restarts, and waits for slots
		return since(v.Since(status.JobRestarting), now)
	}
	return since(v.Since(v.State), now)
}

// deployingTime is for how long tasks have been on their way to run; 0: none is.
func deployingTime(v *execgraph.View, now time.Time) int64 {
	longest := int64(0)
	for _, vertex := range v.Vertices {
		if vertex.Tasks[status.Deploying]+vertex.Tasks[status.Initializing] == 0 {
			continue
		}
		for i := range vertex.Subtasks {
			if s := &vertex.Subtasks[i]; s.State == status.Deploying || s.State == status.Initializing {
				longest = max(longest, since(s.Start(), now))
			}
		}
	}
	return longest
}

// allRunningTime is for how long every subtask has run or been finished; 0: one
// is not.
func allRunningTime(v *execgraph.View, now time.Time) int64 {
	var last time.Time
	for _, vertex := range v.Vertices {
		if vertex.Tasks[status.Running]+vertex.Tasks[status.Finished] != len(vertex.Subtasks) {
			return 0
		}
		for i := range vertex.Subtasks {
			if at := vertex.Subtasks[i].Since(status.Running); at.After(last) {
				last = at
			}
		}
	}
	if v.State != status.JobRunning {
		return 0
	}
	return since(last, now)
}
