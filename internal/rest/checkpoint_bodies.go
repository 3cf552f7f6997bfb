package rest

import (
	"math"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot/record"
)

// The bodies of the answers about checkpoints, as pure functions of what is
// remembered of them.

// spread is how a figure is distributed.
type spread struct {
	Min     int64  `json:"min"`
	Max     int64  `json:"max"`
	Average int64  `json:"avg"`
	P50     double `json:"p50"`
	P90     double `json:"p90"`
	P95     double `json:"p95"`
	P99     double `json:"p99"`
	P999    double `json:"p999"`
}

func spreadOf(s record.Spread) spread {
	return spread{s.Min, s.Max, s.Average, double(s.P50), double(s.P90), double(s.P95), double(s.P99), double(s.P999)}
}

type checkpointCounts struct {
	Restored   int `json:"restored"`
	Total      int `json:"total"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
}

type checkpointSummary struct {
	Size      spread `json:"checkpointed_size"`
	State     spread `json:"state_size"`
	Duration  spread `json:"end_to_end_duration"`
	Buffered  spread `json:"alignment_buffered"` // Flink has kept it at zero
	Processed spread `json:"processed_data"`
	Persisted spread `json:"persisted_data"`
}

type restoredBody struct {
	ID        int64  `json:"id"`
	Timestamp int64  `json:"restore_timestamp"`
	Savepoint bool   `json:"is_savepoint"`
	Path      string `json:"external_path"`
}

type latestCheckpoints struct {
	Completed any           `json:"completed"`
	Savepoint any           `json:"savepoint"`
	Failed    any           `json:"failed"`
	Restored  *restoredBody `json:"restored"`
}

type checkpointsAnswer struct {
	Counts  checkpointCounts  `json:"counts"`
	Summary checkpointSummary `json:"summary"`
	Latest  latestCheckpoints `json:"latest"`
	History []any             `json:"history"`
}

// checkpointsBody is the answer to /jobs/:jobid/checkpoints.
func checkpointsBody(v *record.View) checkpointsAnswer {
	body := checkpointsAnswer{
		Counts: checkpointCounts(v.Counts),
		Summary: checkpointSummary{
			Size: spreadOf(v.Summary.Checkpointed), State: spreadOf(v.Summary.State), Duration: spreadOf(v.Summary.Millis),
			Processed: spreadOf(v.Summary.Processed), Persisted: spreadOf(v.Summary.Persisted),
		},
		History: []any{},
	}
	latest := func(c *record.Checkpoint) any {
		if c == nil {
			return nil
		}
		return checkpointBody(c, false)
	}
	body.Latest = latestCheckpoints{Completed: latest(v.Completed), Savepoint: latest(v.Savepoint), Failed: latest(v.Failed)}
	if r := v.Restored; r != nil {
		body.Latest.Restored = &restoredBody{ID: r.ID, Timestamp: r.At.UnixMilli(), Savepoint: r.Kind.Savepoint(), Path: externalPath(r.Location.String())}
	}
	for _, c := range v.History {
		body.History = append(body.History, checkpointBody(c, false))
	}
	return body
}

func externalPath(location string) string {
	if location == "" {
		return "<checkpoint-not-externally-addressable>"
	}
	return location
}

// figures are what the answers about a checkpoint, and about the part of a vertex,
// have in common.
type figures struct {
	LatestAck    int64 `json:"latest_ack_timestamp"`
	Size         int64 `json:"checkpointed_size"`
	State        int64 `json:"state_size"`
	Duration     int64 `json:"end_to_end_duration"`
	Buffered     int64 `json:"alignment_buffered"`
	Processed    int64 `json:"processed_data"`
	Persisted    int64 `json:"persisted_data"`
	Subtasks     int   `json:"num_subtasks"`
	Acknowledged int   `json:"num_acknowledged_subtasks"`
}

func checkpointFigures(s *record.Sums, duration time.Duration) figures {
	return figures{
		LatestAck: millis(s.LatestAck), Size: s.Checkpointed, State: s.State, Duration: durationMillis(duration),
		Processed: s.Processed, Persisted: s.Persisted, Subtasks: s.Count, Acknowledged: s.Acknowledged,
	}
}

// durationMillis is a duration as Flink writes it; -1: there is none.
func durationMillis(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return d.Milliseconds()
}

type taskCheckpoint struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
	figures
}

type oneCheckpoint struct {
	Class     string  `json:"className"`
	ID        int64   `json:"id"`
	Status    string  `json:"status"`
	Savepoint bool    `json:"is_savepoint"`
	Format    *string `json:"savepointFormat"`
	Triggered int64   `json:"trigger_timestamp"`
	figures
	Type  string                    `json:"checkpoint_type"`
	Tasks map[string]taskCheckpoint `json:"tasks"`
}

type completedCheckpoint struct {
	oneCheckpoint
	Path      string `json:"external_path"`
	Discarded bool   `json:"discarded"`
}

type failedCheckpoint struct {
	oneCheckpoint
	Timestamp int64  `json:"failure_timestamp"`
	Message   string `json:"failure_message"`
}

// checkpointBody is the answer to /jobs/:jobid/checkpoints/details/:checkpointid;
// without tasks it is an entry of the history.
func checkpointBody(c *record.Checkpoint, tasks bool) any {
	body := oneCheckpoint{
		ID: c.ID, Status: c.Status.String(), Savepoint: c.Kind.Savepoint(), Triggered: c.Triggered.UnixMilli(),
		figures: checkpointFigures(&c.Sums, c.Duration()), Type: c.Kind.String(), Tasks: map[string]taskCheckpoint{},
	}
	if c.Kind.Savepoint() {
		format := c.Format.String()
		body.Format = &format
	} else if c.Unaligned {
		body.Type = "UNALIGNED_CHECKPOINT"
	}
	for i := range c.Tasks {
		if tasks {
			body.Tasks[c.Tasks[i].Vertex.String()] = taskBody(c, &c.Tasks[i])
		}
	}
	switch c.Status {
	case record.Completed:
		body.Class = "completed"
		return completedCheckpoint{body, externalPath(c.Location.String()), c.Discarded}
	case record.Failed:
		body.Class = "failed"
		return failedCheckpoint{body, c.Ended.UnixMilli(), c.Failure}
	}
	body.Class = "in_progress"
	return body
}

func taskBody(c *record.Checkpoint, t *record.Task) taskCheckpoint {
	return taskCheckpoint{c.ID, c.Status.String(), checkpointFigures(&t.Sums, t.Duration(c.Triggered))}
}

type syncAsync[T any] struct {
	Sync  T `json:"sync"`
	Async T `json:"async"`
}

type alignment[T any] struct {
	Buffered  T `json:"buffered"`
	Processed T `json:"processed"`
	Persisted T `json:"persisted"`
	Duration  T `json:"duration"`
}

type subtasksSummary struct {
	Size       spread            `json:"checkpointed_size"`
	State      spread            `json:"state_size"`
	Duration   spread            `json:"end_to_end_duration"`
	Checkpoint syncAsync[spread] `json:"checkpoint_duration"`
	Alignment  alignment[spread] `json:"alignment"`
	StartDelay spread            `json:"start_delay"`
}

type completedSubtask struct {
	Class      string           `json:"className"`
	Index      int              `json:"index"`
	Ack        int64            `json:"ack_timestamp"`
	Duration   int64            `json:"end_to_end_duration"`
	Size       int64            `json:"checkpointed_size"`
	State      int64            `json:"state_size"`
	Checkpoint syncAsync[int64] `json:"checkpoint"`
	Alignment  alignment[int64] `json:"alignment"`
	StartDelay int64            `json:"start_delay"`
	Unaligned  bool             `json:"unaligned_checkpoint"`
	Aborted    bool             `json:"aborted"`
	Status     string           `json:"status"`
}

type pendingSubtask struct {
	Class  string `json:"className"`
	Index  int    `json:"index"`
	Status string `json:"status"`
}

type checkpointSubtasksAnswer struct {
	taskCheckpoint
	Summary  subtasksSummary `json:"summary"`
	Subtasks []any           `json:"subtasks"`
}

// checkpointSubtasksBody is the answer to
// /jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid; nil when the
// vertex has no part in the checkpoint.
func checkpointSubtasksBody(c *record.Checkpoint, vertex ident.VertexID) any {
	for i := range c.Tasks {
		t := &c.Tasks[i]
		if t.Vertex != vertex {
			continue
		}
		body := checkpointSubtasksAnswer{taskCheckpoint: taskBody(c, t), Summary: subtasksSummaryOf(c, t), Subtasks: []any{}}
		for _, s := range t.Subtasks {
			body.Subtasks = append(body.Subtasks, subtaskBody(c, s))
		}
		return body
	}
	return nil
}

func subtaskBody(c *record.Checkpoint, s record.Subtask) any {
	if s.Acked.IsZero() {
		return pendingSubtask{Class: "pending", Index: s.Index, Status: "pending_or_failed"}
	}
	return completedSubtask{
		Class: "completed", Index: s.Index, Ack: s.Acked.UnixMilli(), Duration: s.Acked.Sub(c.Triggered).Milliseconds(),
		Size: s.Checkpointed, State: s.State, Checkpoint: syncAsync[int64]{s.Sync.Milliseconds(), s.Async.Milliseconds()},
		Alignment:  alignment[int64]{Processed: s.Processed, Persisted: s.Persisted, Duration: s.Alignment.Milliseconds()},
		StartDelay: s.StartDelay.Milliseconds(), Unaligned: s.Unaligned, Status: "completed",
	}
}

// subtasksSummaryOf sums up the subtasks that have acknowledged. There are no
// percentiles of so few.
func subtasksSummaryOf(c *record.Checkpoint, t *record.Task) subtasksSummary {
	of := func(figure func(s record.Subtask) int64) spread {
		var values []int64
		for _, s := range t.Subtasks {
			if !s.Acked.IsZero() {
				values = append(values, figure(s))
			}
		}
		return spreadOf(record.SpreadOf(values))
	}
	return subtasksSummary{
		Size:     of(func(s record.Subtask) int64 { return s.Checkpointed }),
		State:    of(func(s record.Subtask) int64 { return s.State }),
		Duration: of(func(s record.Subtask) int64 { return s.Acked.Sub(c.Triggered).Milliseconds() }),
		Checkpoint: syncAsync[spread]{
			of(func(s record.Subtask) int64 { return s.Sync.Milliseconds() }), of(func(s record.Subtask) int64 { return s.Async.Milliseconds() }),
		},
		Alignment: alignment[spread]{
			Processed: of(func(s record.Subtask) int64 { return s.Processed }), Persisted: of(func(s record.Subtask) int64 { return s.Persisted }),
			Duration: of(func(s record.Subtask) int64 { return s.Figures.Alignment.Milliseconds() }),
		},
		StartDelay: of(func(s record.Subtask) int64 { return s.StartDelay.Milliseconds() }),
	}
}

type externalization struct {
	Enabled bool `json:"enabled"`
	Delete  bool `json:"delete_on_cancellation"`
}

type checkpointConfigAnswer struct {
	Mode              string          `json:"mode"`
	Interval          int64           `json:"interval"`
	Timeout           int64           `json:"timeout"`
	MinPause          int64           `json:"min_pause"`
	MaxConcurrent     int             `json:"max_concurrent"`
	External          externalization `json:"externalization"`
	Backend           string          `json:"state_backend"`
	Storage           string          `json:"checkpoint_storage"`
	Unaligned         bool            `json:"unaligned_checkpoints"`
	Tolerable         int             `json:"tolerable_failed_checkpoints"`
	AlignedTimeout    int64           `json:"aligned_checkpoint_timeout"`
	AfterFinish       bool            `json:"checkpoints_after_tasks_finish"`
	Changelog         bool            `json:"state_changelog_enabled"`
	ChangelogInterval int64           `json:"changelog_periodic_materialization_interval"`
	ChangelogStorage  string          `json:"changelog_storage"`
}

// backendClasses are Flink's names of the state backends.
var backendClasses = map[string]string{
	"hashmap": "HashMapStateBackend", "rocksdb": "EmbeddedRocksDBStateBackend", "pebble": "EmbeddedRocksDBStateBackend",
}

// checkpointConfigBody is the answer to /jobs/:jobid/checkpoints/config. Without an
// interval Flink shows at-least-once and an interval without end.
func checkpointConfigBody(s record.Settings) checkpointConfigAnswer {
	body := checkpointConfigAnswer{
		Mode: "at_least_once", Interval: math.MaxInt64, Timeout: s.Timeout.Milliseconds(), MinPause: s.MinPause.Milliseconds(),
		MaxConcurrent: s.MaxConcurrent, External: externalization{s.External, s.DeleteOnCancel}, Backend: backendClasses[s.Backend],
		Storage: "FileSystemCheckpointStorage", Unaligned: s.Unaligned, Tolerable: s.Tolerable,
		AlignedTimeout: s.AlignedTimeout.Milliseconds(), AfterFinish: s.AfterFinish, ChangelogInterval: 600000, ChangelogStorage: "memory",
	}
	if s.Interval > 0 {
		body.Interval = s.Interval.Milliseconds()
		if s.ExactlyOnce {
			body.Mode = "exactly_once"
		}
	}
	if s.InMemory {
		body.Storage = "JobManagerCheckpointStorage"
	}
	return body
}
