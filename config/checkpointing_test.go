package config

import (
	"strings"
	"testing"
	"time"
)

func TestCheckpointOptions(t *testing.T) {
	c := must(t, map[string]string{
		"execution.checkpointing.interval": "10 s", "state.checkpoints.dir": "file:///data/ckpt", "state.backend.incremental": "true",
		"execution.checkpointing.mode": "at-least-once", "state.checkpoints.num-retained": "3", "state.backend": "RocksDB",
		"execution.savepoint-restore-mode": "claim", "execution.checkpointing.externalized-checkpoint-retention": "retain_on_cancellation",
	})
	if got := CheckpointInterval.In(c); got != 10*time.Second {
		t.Error(got)
	}
	if CheckpointDirectory.In(c) != "file:///data/ckpt" || !CheckpointIncremental.In(c) || CheckpointMode.In(c) != "AT_LEAST_ONCE" ||
		CheckpointsRetained.In(c) != 3 || StateBackend.In(c) != "rocksdb" || RecoveryClaimMode.In(c) != "CLAIM" ||
		CheckpointRetention.In(c) != "RETAIN_ON_CANCELLATION" || CheckpointTimeout.In(c) != 10*time.Minute {
		t.Error("an option has another value")
	}
	if ignored := c.Ignored(); len(ignored) > 0 {
		t.Errorf("said to have no effect: %v", ignored)
	}
}

func TestCheckpointOptionsOutOfRange(t *testing.T) {
	for setting, want := range map[string]string{
		"execution.checkpointing.interval=5 ms":                          "must be 0 or at least 10 ms",
		"execution.checkpointing.timeout=0 ms":                           "must be longer than zero",
		"execution.checkpointing.max-concurrent-checkpoints=0":           "must be at least 1",
		"execution.checkpointing.num-retained=0":                         "must be at least 1",
		"execution.checkpointing.tolerable-failed-checkpoints=-1":        "must be from 0 to 2147483647",
		"execution.checkpointing.mode=SOMETIMES":                         "one of EXACTLY_ONCE, AT_LEAST_ONCE",
		"execution.checkpointing.dir=data":                               "must be an absolute path or a URL such as file:///data",
		"execution.checkpointing.data-inline-threshold=2 mb":             "must be at most 1 mb",
		"execution.state-recovery.claim-mode=LEGACY":                     "one of NO_CLAIM, CLAIM",
		"state.backend.type=org.example.MyBackend":                       "one of hashmap, rocksdb, pebble",
		"execution.checkpointing.externalized-checkpoint-retention=KEEP": "one of NO_EXTERNALIZED_CHECKPOINTS",
	} {
		key, value, _ := strings.Cut(setting, "=")
		if _, err := New(map[string]string{key: value}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
