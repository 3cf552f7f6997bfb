//go:build unix

package taskmanager

import (
	"encoding/json/v2"
	"net"
	"runtime"
	"strconv"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
)

// settings are what follows from the configuration.
type settings struct {
	cluster      ident.ClusterID
	master       string // host:port of the JobManager
	slots        int
	memory       memory.TaskManagerMemory
	bufferSize   int // of network buffers, in bytes
	cancellation time.Duration
}

// never is how long a canceled task may take when task.cancellation.timeout is
// off.
const never = 100 * 365 * 24 * time.Hour

// readSettings gives a *config.Error with all problems.
func readSettings(cfg *config.Config) (settings, error) {
	s := settings{
		master: net.JoinHostPort(config.JobManagerRPCAddress.In(cfg), strconv.Itoa(config.JobManagerRPCPort.In(cfg))),
		slots:  config.TaskManagerNumberOfTaskSlots.In(cfg), cancellation: config.TaskCancellationTimeout.In(cfg),
		bufferSize: int(config.TaskManagerSegmentSize.In(cfg)),
	}
	if s.cancellation <= 0 {
		s.cancellation = never
	}
	var problems []config.Problem
	problem := func(key, what, fix string) {
		value, _ := cfg.Get(key)
		problems = append(problems, config.Problem{Origin: cfg.Origin(key), Key: key, Value: value, What: what, Fix: fix})
	}
	if err := s.cluster.UnmarshalText([]byte(config.ClusterID.In(cfg))); err != nil {
		problem(config.ClusterID.Key, err.Error(), "")
	}
	if config.JobManagerRPCPort.In(cfg) == 0 {
		problem(config.JobManagerRPCPort.Key, "a TaskManager cannot find a master at port 0", "set the port the JobManager listens on")
	}
	if config.TaskManagerHost.In(cfg) == "" && everywhere(config.TaskManagerBindHost.In(cfg)) {
		problem(config.TaskManagerBindHost.Key, "others cannot connect to an address that means every interface", "set "+config.TaskManagerHost.Key+" too")
	}
	if len(config.TaskManagerResourceID.In(cfg)) > maxResourceID {
		problem(config.TaskManagerResourceID.Key, "it is longer than 255 bytes", "")
	}
	var err error
	if s.memory, err = memory.TaskManager(cfg); err != nil {
		problems = append(problems, config.Problem{What: err.Error()})
	}
	if len(problems) > 0 {
		return s, &config.Error{Problems: problems}
	}
	return s, nil
}

// maxResourceID is the room for a TaskManager's name at the beginning of a data
// connection.
const maxResourceID = 255

func everywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// buffers is how many network buffers all workers have together.
func (s *settings) buffers() int { return int(s.memory.Network) / s.bufferSize }

// profile is what all slots share.
func (s *settings) profile() slottable.Profile {
	m := s.memory
	return slottable.Profile{CPU: float64(s.slots), TaskHeap: int64(m.TaskHeap), TaskOffHeap: int64(m.TaskOffHeap),
		Managed: int64(m.Managed), Network: int64(m.Network)}
}

// hardware describes the host, and what the process takes of it.
func (s *settings) hardware() *pb.Hardware {
	return &pb.Hardware{
		CpuCores: int32(runtime.NumCPU()), PhysicalMemory: physicalMemory(),
		FreeMemory: int64(s.memory.HeapLimit()), ManagedMemory: int64(s.memory.Managed),
	}
}

// memoryJSON is the budget as /taskmanagers/:id shows it, in bytes.
func (s *settings) memoryJSON() []byte {
	m := s.memory
	text, err := json.Marshal(struct {
		FrameworkHeap      memory.Size `json:"frameworkHeap"`
		TaskHeap           memory.Size `json:"taskHeap"`
		FrameworkOffHeap   memory.Size `json:"frameworkOffHeap"`
		TaskOffHeap        memory.Size `json:"taskOffHeap"`
		NetworkMemory      memory.Size `json:"networkMemory"`
		ManagedMemory      memory.Size `json:"managedMemory"`
		JVMMetaspace       memory.Size `json:"jvmMetaspace"`
		JVMOverhead        memory.Size `json:"jvmOverhead"`
		TotalFlinkMemory   memory.Size `json:"totalFlinkMemory"`
		TotalProcessMemory memory.Size `json:"totalProcessMemory"`
	}{m.FrameworkHeap, m.TaskHeap, m.FrameworkOffHeap, m.TaskOffHeap, m.Network, m.Managed, m.Metaspace, m.Overhead, m.Flink, m.Process})
	invariant.Check(err == nil, "a memory budget can be written as JSON: %v", err)
	return text
}
