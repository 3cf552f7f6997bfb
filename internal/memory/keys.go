package memory

import "slices"

// The keys of the TaskManager's memory. Package config declares an option for
// each, with the same defaults.
const (
	TaskManagerProcessSize          = "taskmanager.memory.process.size"
	TaskManagerFlinkSize            = "taskmanager.memory.flink.size"
	TaskManagerFrameworkHeapSize    = "taskmanager.memory.framework.heap.size"
	TaskManagerFrameworkOffHeapSize = "taskmanager.memory.framework.off-heap.size"
	TaskManagerTaskHeapSize         = "taskmanager.memory.task.heap.size"
	TaskManagerTaskOffHeapSize      = "taskmanager.memory.task.off-heap.size"
	TaskManagerManagedSize          = "taskmanager.memory.managed.size"
	TaskManagerManagedFraction      = "taskmanager.memory.managed.fraction"
	TaskManagerNetworkFraction      = "taskmanager.memory.network.fraction"
	TaskManagerNetworkMin           = "taskmanager.memory.network.min"
	TaskManagerNetworkMax           = "taskmanager.memory.network.max"
	TaskManagerMetaspaceSize        = "taskmanager.memory.jvm-metaspace.size"
	TaskManagerOverheadFraction     = "taskmanager.memory.jvm-overhead.fraction"
	TaskManagerOverheadMin          = "taskmanager.memory.jvm-overhead.min"
	TaskManagerOverheadMax          = "taskmanager.memory.jvm-overhead.max"
)

// The keys of the JobManager's memory.
const (
	JobManagerProcessSize      = "jobmanager.memory.process.size"
	JobManagerFlinkSize        = "jobmanager.memory.flink.size"
	JobManagerHeapSize         = "jobmanager.memory.heap.size"
	JobManagerOffHeapSize      = "jobmanager.memory.off-heap.size"
	JobManagerMetaspaceSize    = "jobmanager.memory.jvm-metaspace.size"
	JobManagerOverheadFraction = "jobmanager.memory.jvm-overhead.fraction"
	JobManagerOverheadMin      = "jobmanager.memory.jvm-overhead.min"
	JobManagerOverheadMax      = "jobmanager.memory.jvm-overhead.max"
)

// Keys gives every key that decides about the memory of a process.
func Keys() []string { return slices.Concat(jobManagerKeys, taskManagerKeys) }

// Sizes and fractions that hold where nothing is set. Process, flink, task
// heap and managed size have none. Network memory has no upper bound.
const (
	DefaultFrameworkHeapSize     = 128 * MB
	DefaultFrameworkOffHeapSize  = 128 * MB
	DefaultTaskOffHeapSize       = Size(0)
	DefaultManagedFraction       = 0.4
	DefaultNetworkFraction       = 0.1
	DefaultNetworkMin            = 64 * MB
	DefaultMetaspaceSize         = 256 * MB
	DefaultOverheadFraction      = 0.1
	DefaultOverheadMin           = 192 * MB
	DefaultOverheadMax           = 1 * GB
	DefaultJobManagerOffHeapSize = 128 * MB
)
