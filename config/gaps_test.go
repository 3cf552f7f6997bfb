package config

import "testing"

// TestBatchJobsArePipelinedByDefault passes while the default is not Flink's: see
// docs/gaps.md.
func TestBatchJobsArePipelinedByDefault(t *testing.T) {
	if got := ExecutionBatchShuffleMode.In(nil); got != ExchangesPipelined {
		t.Errorf("execution.batch-shuffle-mode is %s by default", got)
	}
}
