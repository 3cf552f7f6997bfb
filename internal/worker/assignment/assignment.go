// Package assignment is what a worker process is told when it is started, and
// how a program knows why it was started.
//
// It promises that the TaskExecutor that starts a worker and the worker agree on
// the environment variables. It never starts or opens anything.
package assignment

import (
	"encoding/json/v2"
	"fmt"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
)

// The environment variables by which a program learns why it was started. With
// none of the first two it runs embedded.
const (
	// WorkerVariable holds an Assignment: the program is a job's worker.
	WorkerVariable = "WEIR_WORKER"
	// PlanVariable holds the path of a file: the program writes the JobGraph of
	// its first Execute there, encoded, and ends.
	PlanVariable = "WEIR_PLAN"
	// PreviewVariable, set with PlanVariable, says that the job is only looked at:
	// what stands in the way of a submission, such as results of an earlier run,
	// is not asked for.
	PreviewVariable = "WEIR_PREVIEW"
	// StatesVariable, set with PlanVariable, holds the path of another file: the
	// program opens its operators and writes there what they keep, a JSON list of
	// snapshot.Declaration.
	StatesVariable = "WEIR_STATES"
	// SQLVariable, set with WorkerVariable, holds the path of a file with an SQL plan:
	// the worker makes its operators of the plan. The program is Weir itself, or one that
	// has functions which the plan calls.
	SQLVariable = "WEIR_SQL"
	// SettingsVariable holds configuration for the program, as a JSON object of
	// Flink's keys: what `weir run` was given with -p and -D.
	SettingsVariable = "WEIR_SETTINGS"
)

// Assignment tells a worker which job it serves and whom it answers to.
type Assignment struct {
	Job      ident.JobID      `json:"job"`
	Resource ident.ResourceID `json:"resource"`
	Cluster  ident.ClusterID  `json:"cluster"`
	// Token proves to the TaskExecutor that this is the process it started.
	Token string `json:"token"`
	// TaskExecutor is the process address of the TaskExecutor's RPC.
	TaskExecutor string `json:"taskExecutor"`
	// Listen is the process address the worker serves its own RPC on.
	Listen string `json:"listen"`
	// Handoff is the path of the unix socket on which the worker takes the peer
	// connections that the TaskManager's data port accepted; the worker listens.
	Handoff string `json:"handoff"`
	// NetworkBytes is the network memory the worker may use at first: that of
	// Slots of the AllSlots slots, which together have AllNetworkBytes.
	NetworkBytes    int64 `json:"networkBytes"`
	AllNetworkBytes int64 `json:"allNetworkBytes"`
	Slots           int   `json:"slots"`
	AllSlots        int   `json:"allSlots"`
	// ManagedBytes is the managed memory of one slot.
	ManagedBytes int64 `json:"managedBytes"`
	// BufferSize is the size of a network buffer; 0: the default.
	BufferSize int `json:"bufferSize,omitempty"`
	// WriteBuffers is how many network buffers a blocking partition gathers
	// records in; 0: the default.
	WriteBuffers int `json:"writeBuffers,omitempty"`
	// SilenceMillis is for how long the TaskExecutor may not be heard of until nobody
	// counts on the worker any more; 0: for ever.
	SilenceMillis int64 `json:"silenceMillis,omitempty"`
	// TempDirs are where blocking partitions go, and what operators cannot hold in
	// memory; none: the worker's own directory.
	TempDirs []string `json:"tempDirs,omitempty"`
}

// Encode gives the value of WorkerVariable.
func (a Assignment) Encode() string {
	text, err := json.Marshal(a)
	invariant.Check(err == nil, "an assignment can be written as JSON: %v", err)
	return string(text)
}

// Decode reads the value of WorkerVariable.
func Decode(text string) (Assignment, error) {
	var a Assignment
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return a, fmt.Errorf("read %s: %w", WorkerVariable, err)
	}
	return a, nil
}
