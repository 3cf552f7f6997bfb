package jobmaster

import (
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
)

// TestUnalignedGoesWith checks what barriers that overtake records cannot go with.
func TestUnalignedGoesWith(t *testing.T) {
	for _, setting := range []string{
		"execution.checkpointing.mode: AT_LEAST_ONCE", "execution.checkpointing.max-concurrent-checkpoints: 2",
	} {
		key, value, _ := strings.Cut(setting, ": ")
		c, err := config.New(map[string]string{"execution.checkpointing.interval": "1 s", "execution.checkpointing.unaligned.enabled": "true", key: value})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkpointOptions(c, func(n int64) int64 { return n - 1 }); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v, want a refusal that names it", setting, err)
		}
	}
}

func TestCheckpointSettings(t *testing.T) {
	read := func(settings map[string]string) (checkpoint.Options, error) {
		c, err := config.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		return checkpointOptions(c, func(n int64) int64 { return n - 1 })
	}
	// Without an interval a person may still ask for a checkpoint, and what is set
	// about periodic ones is nobody's trouble.
	o, err := read(map[string]string{"execution.checkpointing.unaligned.enabled": "true", "state.checkpoints.dir": "/data/c", "state.backend.type": "rocksdb"})
	if err != nil || o.Interval != 0 || o.Directory != "file:/data/c" || o.Backend != "rocksdb" {
		t.Errorf("without an interval: %+v, %v", o, err)
	}
	o, err = read(map[string]string{"execution.checkpointing.interval": "10 s", "execution.checkpointing.min-pause": "1 s", "state.checkpoints.dir": "/data/c",
		"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"})
	if err != nil || o.Interval != 10*time.Second || o.FirstDelay < time.Second || o.FirstDelay > 10*time.Second ||
		o.Directory != "file:/data/c" || o.Retention != checkpoint.RetainOnCancel || !o.ExactlyOnce || o.Retained != 1 {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err := read(map[string]string{"execution.checkpointing.interval": "10 s", "execution.checkpointing.storage": "jobmanager", "execution.checkpointing.dir": "/data/c"}); err != nil || o.Directory != "" {
		t.Errorf("in the JobManager: got %+v, %v", o, err)
	}
	if _, err := read(map[string]string{"execution.checkpointing.interval": "10 s", "execution.checkpointing.storage": "filesystem"}); err == nil || !strings.Contains(err.Error(), "execution.checkpointing.dir") {
		t.Errorf("files without a directory: %v", err)
	}
}
