package rest

import (
	"encoding/json/v2"
	"fmt"
	"net/http"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/status"
)

func (s *Server) taskManagerRoutes() []route {
	return []route{
		get("/taskmanagers", s.taskManagers),
		get("/taskmanagers/metrics", s.taskManagersMetrics),
		get("/taskmanagers/:taskmanagerid", s.taskManager),
		get("/taskmanagers/:taskmanagerid/metrics", s.taskManagerMetrics),
		get("/taskmanagers/:taskmanagerid/log", s.taskManagerLog),
		get("/taskmanagers/:taskmanagerid/stdout", s.taskManagerStdout),
		get("/taskmanagers/:taskmanagerid/logs", s.taskManagerLogs),
		get("/taskmanagers/:taskmanagerid/logs/:filename", s.taskManagerLogFile),
	}
}

// resource is what a slot or a TaskManager has; memory in MiB.
type resource struct {
	CPU         double           `json:"cpuCores"`
	TaskHeap    int64            `json:"taskHeapMemory"`
	TaskOffHeap int64            `json:"taskOffHeapMemory"`
	Managed     int64            `json:"managedMemory"`
	Network     int64            `json:"networkMemory"`
	Extended    map[string]empty `json:"extendedResources"`
}

func resourceOf(p slotmanager.Profile) resource {
	return resource{double(p.CPU), p.TaskHeap >> 20, p.TaskOffHeap >> 20, p.Managed >> 20, p.Network >> 20, nil}
}

// hardware is the machine; memory in bytes.
type hardware struct {
	CPUs     int   `json:"cpuCores"`
	Physical int64 `json:"physicalMemory"`
	Free     int64 `json:"freeMemory"`
	Managed  int64 `json:"managedMemory"`
}

// memoryConfiguration is how a TaskManager divides its memory, in bytes.
type memoryConfiguration struct {
	FrameworkHeap    int64 `json:"frameworkHeap"`
	TaskHeap         int64 `json:"taskHeap"`
	FrameworkOffHeap int64 `json:"frameworkOffHeap"`
	TaskOffHeap      int64 `json:"taskOffHeap"`
	Network          int64 `json:"networkMemory"`
	Managed          int64 `json:"managedMemory"`
	Metaspace        int64 `json:"jvmMetaspace"`
	Overhead         int64 `json:"jvmOverhead"`
	Flink            int64 `json:"totalFlinkMemory"`
	Process          int64 `json:"totalProcessMemory"`
}

// UnmarshalJSON reads the names of Flink and those of `weir memory explain`.
func (m *memoryConfiguration) UnmarshalJSON(text []byte) error {
	var named struct {
		FrameworkHeap, TaskHeap, FrameworkOffHeap, TaskOffHeap int64
		NetworkMemory, Network, ManagedMemory, Managed         int64
		JVMMetaspace, Metaspace, JVMOverhead, Overhead         int64
		TotalFlinkMemory, Flink, TotalProcessMemory, Process   int64
	}
	if err := json.Unmarshal(text, &named, json.MatchCaseInsensitiveNames(true)); err != nil {
		return fmt.Errorf("read a memory configuration: %w", err)
	}
	*m = memoryConfiguration{
		named.FrameworkHeap, named.TaskHeap, named.FrameworkOffHeap, named.TaskOffHeap,
		max(named.NetworkMemory, named.Network), max(named.ManagedMemory, named.Managed),
		max(named.JVMMetaspace, named.Metaspace), max(named.JVMOverhead, named.Overhead),
		max(named.TotalFlinkMemory, named.Flink), max(named.TotalProcessMemory, named.Process),
	}
	return nil
}

// taskManagerInfo is a TaskManager in the list of them.
type taskManagerInfo struct {
	ID       ident.ResourceID    `json:"id"`
	Path     string              `json:"path"`
	DataPort int                 `json:"dataPort"`
	JMXPort  int                 `json:"jmxPort"` // -1: none, always
	Seen     int64               `json:"timeSinceLastHeartbeat"`
	Slots    int                 `json:"slotsNumber"`
	Free     int                 `json:"freeSlots"`
	Tasks    int                 `json:"assignedTasks"`
	Total    resource            `json:"totalResource"`
	FreeRes  resource            `json:"freeResource"`
	Hardware hardware            `json:"hardware"`
	Memory   memoryConfiguration `json:"memoryConfiguration"`
}

func (s *Server) taskManagerOf(v *resourcemanager.View, tasks load) taskManagerInfo {
	h := v.Hardware
	info := taskManagerInfo{
		ID: v.ID, Path: v.RPCAddress, DataPort: v.DataPort, JMXPort: -1, Seen: millis(v.LastHeartbeat), Slots: v.Slots, Free: v.Free,
		Tasks: tasks.on(v.ID), Total: resourceOf(v.Total), FreeRes: resourceOf(v.FreeResource),
		Hardware: hardware{h.CPUCores, h.PhysicalMemory, h.FreeMemory, h.ManagedMemory},
	}
	if len(v.MemoryConfiguration) > 0 {
		if err := json.Unmarshal(v.MemoryConfiguration, &info.Memory); err != nil {
			s.Logger.Warn("TaskManager sent a memory configuration that cannot be read", "taskManager", v.ID, "error", err)
		}
	}
	return info
}

// load counts the tasks that run, by TaskManager and job.
type load map[ident.ResourceID]map[ident.JobID]int

func (l load) on(id ident.ResourceID) int {
	sum := 0
	for _, n := range l[id] {
		sum += n
	}
	return sum
}

func loadOf(jobs []execgraph.View) load {
	l := load{}
	for i := range jobs {
		if jobs[i].State.Terminal() {
			continue
		}
		for _, vertex := range jobs[i].Vertices {
			for k := range vertex.Subtasks {
				a := &vertex.Subtasks[k].AttemptView
				if a.State.Terminal() || a.Start().IsZero() {
					continue
				}
				if l[a.TaskManager] == nil {
					l[a.TaskManager] = map[ident.JobID]int{}
				}
				l[a.TaskManager][jobs[i].Job]++
			}
		}
	}
	return l
}

// cluster asks for the TaskManagers and what runs on them.
func (s *Server) cluster(r *request) ([]resourcemanager.View, load, error) {
	managers, err := s.TaskManagers.TaskManagers(r.Context())
	if err != nil {
		return nil, nil, err
	}
	jobs, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return nil, nil, err
	}
	return managers, loadOf(jobs), nil
}

func (s *Server) taskManagers(r *request) (answer, error) {
	managers, tasks, err := s.cluster(r)
	if err != nil {
		return answer{}, err
	}
	all := []taskManagerInfo{}
	for i := range managers {
		all = append(all, s.taskManagerOf(&managers[i], tasks))
	}
	return ok(struct {
		TaskManagers []taskManagerInfo `json:"taskmanagers"`
	}{all})
}

// slotInfo is an allocated slot.
type slotInfo struct {
	Job      ident.JobID `json:"jobId"`
	Resource resource    `json:"resource"`
	Tasks    int         `json:"assignedTasks"`
}

// machineMetrics are the figures Flink takes from its JVM, and what they are
// here, see package metrics. All are there, because clients need them; those of
// a TaskManager that has not yet reported are zero.
type machineMetrics struct {
	HeapUsed          int64       `json:"heapUsed"`
	HeapCommitted     int64       `json:"heapCommitted"`
	HeapMax           int64       `json:"heapMax"`
	NonHeapUsed       int64       `json:"nonHeapUsed"`
	NonHeapCommitted  int64       `json:"nonHeapCommitted"`
	NonHeapMax        int64       `json:"nonHeapMax"`
	DirectCount       int64       `json:"directCount"`
	DirectUsed        int64       `json:"directUsed"`
	DirectMax         int64       `json:"directMax"`
	MappedCount       int64       `json:"mappedCount"`
	MappedUsed        int64       `json:"mappedUsed"`
	MappedMax         int64       `json:"mappedMax"`
	SegmentsAvailable int64       `json:"nettyShuffleMemorySegmentsAvailable"`
	SegmentsUsed      int64       `json:"nettyShuffleMemorySegmentsUsed"`
	SegmentsTotal     int64       `json:"nettyShuffleMemorySegmentsTotal"`
	ShuffleAvailable  int64       `json:"nettyShuffleMemoryAvailable"`
	ShuffleUsed       int64       `json:"nettyShuffleMemoryUsed"`
	ShuffleTotal      int64       `json:"nettyShuffleMemoryTotal"`
	Collectors        []collector `json:"garbageCollectors"`
}

// collector is what a garbage collector has done; Time in milliseconds.
type collector struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Time  int64  `json:"time"`
}

func machineOf(f *status.ProcessFigures) machineMetrics {
	if f == nil {
		return machineMetrics{Collectors: []collector{}}
	}
	free := max(0, f.BuffersTotal-f.BuffersTaken)
	return machineMetrics{
		HeapUsed: f.HeapUsed, HeapCommitted: f.HeapCommitted, HeapMax: f.HeapMax,
		NonHeapUsed: f.NonHeapUsed, NonHeapCommitted: f.NonHeapCommitted, NonHeapMax: f.NonHeapMax,
		DirectCount: f.BuffersTaken, DirectUsed: f.BuffersTaken * f.BufferSize, DirectMax: f.BuffersTotal * f.BufferSize,
		SegmentsAvailable: free, SegmentsUsed: f.BuffersTaken, SegmentsTotal: f.BuffersTotal,
		ShuffleAvailable: free * f.BufferSize, ShuffleUsed: f.BuffersTaken * f.BufferSize, ShuffleTotal: f.BuffersTotal * f.BufferSize,
		Collectors: []collector{{"All", f.Collections, f.CollectionTime.Milliseconds()}},
	}
}

func (s *Server) taskManager(r *request) (answer, error) {
	managers, tasks, err := s.cluster(r)
	if err != nil {
		return answer{}, err
	}
	id := ident.ResourceID(r.params["taskmanagerid"])
	for i := range managers {
		v := &managers[i]
		if v.ID != id {
			continue
		}
		return ok(struct {
			taskManagerInfo `json:",inline"`
			Allocated       []slotInfo     `json:"allocatedSlots"`
			Metrics         machineMetrics `json:"metrics"`
		}{s.taskManagerOf(v, tasks), slotsOf(v, tasks), machineOf(v.Process)})
	}
	return answer{}, fail(http.StatusNotFound, notFoundException+"Could not find TaskExecutor "+clip(string(id)), unregistered(id))
}

// unregistered says that no TaskManager has the id.
func unregistered(id ident.ResourceID) string {
	return "org.apache.flink.runtime.resourcemanager.exceptions.UnknownTaskExecutorException: No TaskExecutor registered under " + clip(string(id)) + "."
}

// slotsOf lists the allocated slots. Which of a job's slots a task is in is
// the TaskManager's own business; the tasks are spread over them evenly, as
// slot sharing does.
func slotsOf(v *resourcemanager.View, tasks load) []slotInfo {
	slots := map[ident.JobID]int{}
	for _, a := range v.Allocated {
		slots[a.Job]++
	}
	seen := map[ident.JobID]int{}
	all := []slotInfo{}
	for _, a := range v.Allocated {
		n := tasks[v.ID][a.Job]
		share := n / slots[a.Job]
		if seen[a.Job] < n%slots[a.Job] {
			share++
		}
		seen[a.Job]++
		all = append(all, slotInfo{a.Job, resourceOf(a.Profile), share})
	}
	return all
}
