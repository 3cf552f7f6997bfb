package config

import (
	"errors"

	"github.com/weirstream/weir/internal/memory"
)

// The memory of a TaskManager. What follows from these settings is computed
// by memory.TaskManager; which of them decide is told there.
var (
	TaskManagerProcessSize = declare(size, Option[Size]{
		Key: memory.TaskManagerProcessSize, NoDefault: true, Effect: ProcessRestart,
		Doc: "All memory of a TaskManager, with everything the operating system counts.",
	})
	TaskManagerFlinkSize = declare(size, Option[Size]{
		Key: memory.TaskManagerFlinkSize, NoDefault: true, Effect: ProcessRestart,
		Doc: "All memory of a TaskManager, without metaspace and overhead.",
	})
	TaskManagerFrameworkHeapSize = declare(size, Option[Size]{
		Key: memory.TaskManagerFrameworkHeapSize, Default: memory.DefaultFrameworkHeapSize, Effect: ProcessRestart,
		Doc: "Heap kept for the TaskManager itself.",
	})
	TaskManagerFrameworkOffHeapSize = declare(size, Option[Size]{
		Key: memory.TaskManagerFrameworkOffHeapSize, Default: memory.DefaultFrameworkOffHeapSize, Effect: ProcessRestart,
		Doc: "Memory outside the heap kept for the TaskManager itself.",
	})
	TaskManagerTaskHeapSize = declare(size, Option[Size]{
		Key: memory.TaskManagerTaskHeapSize, NoDefault: true, Effect: ProcessRestart,
		Doc: "Heap for the operators of jobs. Without it, what the other parts leave.",
	})
	TaskManagerTaskOffHeapSize = declare(size, Option[Size]{
		Key: memory.TaskManagerTaskOffHeapSize, Default: memory.DefaultTaskOffHeapSize, Effect: ProcessRestart,
		Doc: "Memory outside the heap for the operators of jobs.",
	})
	TaskManagerManagedSize = declare(size, Option[Size]{
		Key: memory.TaskManagerManagedSize, NoDefault: true, Effect: ProcessRestart,
		OldKeys: []string{"taskmanager.memory.size"},
		Doc:     "Memory for state, sorting and hash tables. Without it, a fraction.",
	})
	TaskManagerManagedFraction = declare(decimal, Option[float64]{
		Key: memory.TaskManagerManagedFraction, Default: memory.DefaultManagedFraction, Effect: ProcessRestart,
		Doc: "The part of taskmanager.memory.flink.size that is managed memory, where its size is not set.",
	})
	TaskManagerNetworkFraction = declare(decimal, Option[float64]{
		Key: memory.TaskManagerNetworkFraction, Default: memory.DefaultNetworkFraction, Effect: ProcessRestart,
		OldKeys: []string{"taskmanager.network.memory.fraction"},
		Doc:     "The part of taskmanager.memory.flink.size for network buffers, between their min and max.",
	})
	TaskManagerNetworkMin = declare(size, Option[Size]{
		Key: memory.TaskManagerNetworkMin, Default: memory.DefaultNetworkMin, Effect: ProcessRestart,
		OldKeys: []string{"taskmanager.network.memory.min"},
		Doc:     "The least memory for network buffers.",
	})
	TaskManagerNetworkMax = declare(size, Option[Size]{
		Key: memory.TaskManagerNetworkMax, Default: memory.MaxSize, Effect: ProcessRestart,
		OldKeys: []string{"taskmanager.network.memory.max"},
		Doc:     "The most memory for network buffers.",
	})
	TaskManagerMetaspaceSize = declare(size, Option[Size]{
		Key: memory.TaskManagerMetaspaceSize, Default: memory.DefaultMetaspaceSize, Effect: ProcessRestart,
		Doc: "What a Java process would need for its classes. It counts in the sum, and the heap may use it.",
	})
	TaskManagerOverheadFraction = declare(decimal, Option[float64]{
		Key: memory.TaskManagerOverheadFraction, Default: memory.DefaultOverheadFraction, Effect: ProcessRestart,
		Doc: "The part of taskmanager.memory.process.size left for the runtime's own needs, between its min and max.",
	})
	TaskManagerOverheadMin = declare(size, Option[Size]{
		Key: memory.TaskManagerOverheadMin, Default: memory.DefaultOverheadMin, Effect: ProcessRestart,
		Doc: "The least overhead.",
	})
	TaskManagerOverheadMax = declare(size, Option[Size]{
		Key: memory.TaskManagerOverheadMax, Default: memory.DefaultOverheadMax, Effect: ProcessRestart,
		Doc: "The most overhead.",
	})
	TaskManagerSegmentSize = declare(size, Option[Size]{
		Key: "taskmanager.memory.segment-size", Default: 32 * memory.KB, Effect: ProcessRestart, check: segmentSize,
		Doc: "The size of one network buffer: a power of two, at least 4 kb. Smaller ones hold fewer records between two tasks, so that barriers of checkpoints pass sooner.",
	})
	TaskManagerMinSegmentSize = declare(size, Option[Size]{
		Key: "taskmanager.memory.min-segment-size", Default: 256, Effect: ProcessRestart, check: powerOfTwo,
		Doc:   "The least size of one network buffer, where sizes adapt.",
		inert: always[Size]("network buffers keep their size"),
	})
	TaskManagerManagedConsumerWeights = declare(dictionary, Option[map[string]string]{
		Key: "taskmanager.memory.managed.consumer-weights", Effect: NextJob,
		Default: map[string]string{"OPERATOR": "70", "STATE_BACKEND": "70", "PYTHON": "30"},
		Doc:     "How the kinds of users share the managed memory of a slot.",
		inert:   always[map[string]string]("managed memory has one kind of user in this version"),
	})
)

// The memory of a JobManager, computed by memory.JobManager.
var (
	JobManagerProcessSize = declare(size, Option[Size]{
		Key: memory.JobManagerProcessSize, NoDefault: true, Effect: ProcessRestart,
		Doc: "All memory of a JobManager, with everything the operating system counts.",
	})
	JobManagerFlinkSize = declare(size, Option[Size]{
		Key: memory.JobManagerFlinkSize, NoDefault: true, Effect: ProcessRestart,
		Doc: "All memory of a JobManager, without metaspace and overhead.",
	})
	JobManagerHeapSize = declare(size, Option[Size]{
		Key: memory.JobManagerHeapSize, NoDefault: true, Effect: ProcessRestart,
		Doc: "The heap of a JobManager.",
	})
	JobManagerOffHeapSize = declare(size, Option[Size]{
		Key: memory.JobManagerOffHeapSize, Default: memory.DefaultJobManagerOffHeapSize, Effect: ProcessRestart,
		Doc: "Memory of a JobManager outside its heap.",
	})
	JobManagerMetaspaceSize = declare(size, Option[Size]{
		Key: memory.JobManagerMetaspaceSize, Default: memory.DefaultMetaspaceSize, Effect: ProcessRestart,
		Doc: "What a Java process would need for its classes. It counts in the sum, and the heap may use it.",
	})
	JobManagerOverheadFraction = declare(decimal, Option[float64]{
		Key: memory.JobManagerOverheadFraction, Default: memory.DefaultOverheadFraction, Effect: ProcessRestart,
		Doc: "The part of jobmanager.memory.process.size left for the runtime's own needs, between its min and max.",
	})
	JobManagerOverheadMin = declare(size, Option[Size]{
		Key: memory.JobManagerOverheadMin, Default: memory.DefaultOverheadMin, Effect: ProcessRestart,
		Doc: "The least overhead.",
	})
	JobManagerOverheadMax = declare(size, Option[Size]{
		Key: memory.JobManagerOverheadMax, Default: memory.DefaultOverheadMax, Effect: ProcessRestart,
		Doc: "The most overhead.",
	})
)

func segmentSize(s Size) error {
	if s < 4*memory.KB || s > 16*memory.MB || s&(s-1) != 0 {
		return errors.New("must be a power of two from 4 kb to 16 mb")
	}
	return nil
}

func powerOfTwo(s Size) error {
	if s < 256 || s > 16*memory.MB || s&(s-1) != 0 {
		return errors.New("must be a power of two from 256 bytes to 16 mb")
	}
	return nil
}
