// Package metrics is what the engine knows of itself in numbers, under Flink's
// names: how a value is written, how totals become rates, and which metric each
// figure of a task, an operator and a process is.
//
//	task goroutine ─atomics, once a batch─▶ worker ─figures, once a second─▶ TaskExecutor ─▶ JobMaster ─▶ REST
//	                                                                             └▶ Prometheus
//
// Who makes figures (package status has their types) computes their rates; who
// shows them gives them their names here. So a master keeps one value a metric
// and no history, and a name stands in one place.
//
// It promises that a metric which is shown says what its name says, and that the
// identifiers and the text of values are Flink's. It never counts by itself and
// never locks.
//
// # Flink's metrics that mean something else here
//
//	Status.JVM.Memory.Heap.*       Go's heap; of a TaskManager, of its workers too, with managed and network memory
//	Status.JVM.Memory.NonHeap.*    stacks, and what the Go runtime needs itself
//	Status.JVM.Memory.Metaspace.*  what is in memory of the program's file: code and constants
//	Status.JVM.Memory.Direct.*     network buffers
//	Status.JVM.Threads.Count       goroutines; Status.Go.Threads counts threads of the system
//	Status.JVM.GarbageCollector.*  Go's; its time is that of processors which had other work, divided by their number
//	Status.Flink.Memory.Managed.Used  the managed memory of the slots that jobs hold
//	numBytesIn, numBytesOut        bytes that were encoded, for and from other processes
//	numBuffers*, *QueueLength      batches, which are to a task what buffers are to Flink's
//	hardBackPressuredTimeMsPerSecond  all of the back-pressure: a task waits in the middle of a batch
//	*PerSecond                     over the last minute, or over the task's age while that is less
//
// # Flink's metrics that are not there
//
// A name that would have to lie is not listed at all. Patterns are those of
// path.Match.
//
//	Status.JVM.ClassLoader.*       there are no classes to load
//	Status.JVM.Memory.Mapped.*     no files are mapped
//	Status.JVM.GarbageCollector.G1_Old*  there is one collector
//	Status.FileDescriptor.*        Flink's own name is Status.JVM.FileDescriptor.*
//	Network.*                      queues are not measured one by one
//	Shuffle.Netty.<Input|Output>.* queues are not measured one by one
//	*.inputFloatingBuffersUsage    a channel's own buffers and borrowed ones are not told apart
//	*.inputExclusiveBuffersUsage   a channel's own buffers and borrowed ones are not told apart
//	*.inputQueueSize               batches that wait have no size
//	*.outputQueueSize              batches that wait have no size
//	*numBytesInLocal*              records that stay in a process are not encoded
//	softBackPressuredTimeMsPerSecond  a task never waits for room between two records
//	max*BackPressure*TimeMs        waits are added up, not kept
//	changelogBusyTimeMsPerSecond   there is no changelog
//	fullRestarts                   an old name of numRestarts
//	<jobStatus>*                   stands for runningTime and its like
//	deployingState                 metrics.job.status.enable is not read
//	deployingTimeTotal             metrics.job.status.enable is not read
//	numPendingTaskManagers         a standalone cluster asks for no TaskManagers
//	startWorkFailurePerSecond      a standalone cluster asks for no TaskManagers
//	checkpointAlignmentTime        REST tells it of each checkpoint and subtask
//	checkpointStartDelayNanos      the time until a barrier comes is not measured
//	fileMerging.*                  files of checkpoints are not merged
//	state*Latency                  access to state is not measured
//	*State*Latency                 access to state is not measured
//	*State*Size                    access to state is not measured
//	forst.*                        there is no ForSt
//	numberOfUpload*                there is no changelog
//	*ttemptsPerUpload              there is no changelog
//	upload*                        there is no changelog
//	*Materialization               there is no changelog
//	*.latency                      there are no latency markers
//	numFiredTimers*                timers that fire are not counted
//	estimatedTimeToConsumeBuffersMs  buffers are not debloated
//	debloatedBufferSize            buffers are not debloated
//	currentInputNWatermark         the inputs of an operator share one watermark, the least
//	numSplitsProcessed             Flink's old sources have it
//	watermark.*                    splits are not measured one by one
//	split.*                        splits are not measured one by one
//	<operator>.numBytes*           bytes are counted of tasks
//	asyncStateProcessing.*         state is read at once
//	System.*                       metrics.system-resource is not read
//	num*SlowExecutionVertices      there are no speculative executions
//	numEffectiveSpeculativeExecutions  there are no speculative executions
//	pendingBytes                   sources count records
//	currentFetchEventTimeLag       what is fetched has an event time only when it is emitted
//	numRecordsOutErrors*           no sink sends anything away
//	Kafka*                         there is no Kafka connector
//	commits*                       there is no Kafka connector
//	committedOffsets               there is no Kafka connector
//	currentOffsets                 there is no Kafka connector
//	<Kinesis>                      there is no Kinesis connector
//	lookupCacheHitRate             there is no HBase connector
package metrics
