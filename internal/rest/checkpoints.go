package rest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
)

// Jobs take no checkpoints in this version. What is asked about them is
// answered as Flink answers for a job without checkpointing.

// spread are statistics of nothing.
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

func noSpread() spread {
	nan := double(math.NaN())
	return spread{P50: nan, P90: nan, P95: nan, P99: nan, P999: nan}
}

func (s *Server) checkpoints(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	if v.Plan.Batch {
		return answer{}, fail(http.StatusNotFound, restException+"Checkpointing has not been enabled.")
	}
	type counts struct {
		Restored   int `json:"restored"`
		Total      int `json:"total"`
		InProgress int `json:"in_progress"`
		Completed  int `json:"completed"`
		Failed     int `json:"failed"`
	}
	type summary struct {
		Size      spread `json:"checkpointed_size"`
		State     spread `json:"state_size"`
		Duration  spread `json:"end_to_end_duration"`
		Buffered  spread `json:"alignment_buffered"`
		Processed spread `json:"processed_data"`
		Persisted spread `json:"persisted_data"`
	}
	type latest struct {
		Completed *empty `json:"completed"`
		Savepoint *empty `json:"savepoint"`
		Failed    *empty `json:"failed"`
		Restored  *empty `json:"restored"`
	}
	n := noSpread()
	return ok(struct {
		Counts  counts  `json:"counts"`
		Summary summary `json:"summary"`
		Latest  latest  `json:"latest"`
		History []empty `json:"history"`
	}{Summary: summary{n, n, n, spread{}, n, n}})
}

func (s *Server) checkpointConfig(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	if v.Plan.Batch {
		return answer{}, fail(http.StatusNotFound, restException+fmt.Sprintf("Checkpointing is not enabled for this job (%s).", v.Job))
	}
	type external struct {
		Enabled bool `json:"enabled"`
		Delete  bool `json:"delete_on_cancellation"`
	}
	return ok(struct {
		Mode               string   `json:"mode"`
		Interval           int64    `json:"interval"`
		Timeout            int64    `json:"timeout"`
		MinPause           int64    `json:"min_pause"`
		MaxConcurrent      int      `json:"max_concurrent"`
		External           external `json:"externalization"`
		Backend            string   `json:"state_backend"`
		Storage            string   `json:"checkpoint_storage"`
		Unaligned          bool     `json:"unaligned_checkpoints"`
		Tolerable          int      `json:"tolerable_failed_checkpoints"`
		AlignedTimeout     int64    `json:"aligned_checkpoint_timeout"`
		AfterFinish        bool     `json:"checkpoints_after_tasks_finish"`
		Changelog          bool     `json:"state_changelog_enabled"`
		ChangelogInterval  int64    `json:"changelog_periodic_materialization_interval"`
		ChangelogInStorage string   `json:"changelog_storage"`
	}{
		Mode: "at_least_once", Interval: math.MaxInt64, Timeout: 600000, MaxConcurrent: 1, External: external{Delete: true},
		Backend: "HashMapStateBackend", Storage: "JobManagerCheckpointStorage", AfterFinish: true, ChangelogInterval: 600000, ChangelogInStorage: "memory",
	})
}

func (s *Server) checkpointDetails(r *request) (answer, error) {
	id, err := strconv.ParseInt(r.params["checkpointid"], 10, 64)
	if err != nil {
		return answer{}, badParameter("path", "checkpointid", r.params["checkpointid"])
	}
	if _, err := s.view(r); err != nil {
		return answer{}, err
	}
	return answer{}, fail(http.StatusNotFound, restException+fmt.Sprintf("Could not find checkpointing statistics for checkpoint %d.", id))
}
