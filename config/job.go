package config

import "time"

// A RuntimeMode says when results are emitted. See ExecutionRuntimeMode.
type RuntimeMode string

const (
	Streaming RuntimeMode = "STREAMING" // each record changes the result at once
	Batch     RuntimeMode = "BATCH"     // results are emitted once, at the end of the input
	Automatic RuntimeMode = "AUTOMATIC" // Batch when every source is bounded
)

// A BatchShuffleMode says how the tasks of a batch job exchange records. See
// ExecutionBatchShuffleMode.
type BatchShuffleMode string

const (
	ExchangesBlocking  BatchShuffleMode = "ALL_EXCHANGES_BLOCKING"  // a stage begins when the ones before are complete
	ExchangesPipelined BatchShuffleMode = "ALL_EXCHANGES_PIPELINED" // all stages run at the same time
)

// How a job's graph is built.
var (
	ParallelismDefault = declare(integer, Option[int]{
		Key: "parallelism.default", Default: 1, Effect: NextJob, check: atLeast(1),
		Doc: "The parallelism of jobs and operators that name none.",
	})
	PipelineName = declare(text, Option[string]{
		Key: "pipeline.name", NoDefault: true, Effect: NextJob,
		Doc:   "The name of the job.",
		inert: always[string]("the program names its job, in Execute"),
	})
	PipelineMaxParallelism = declare(integer, Option[int]{
		Key: "pipeline.max-parallelism", Default: -1, Effect: NextJob, check: maxParallelism,
		Doc: "The number of key groups of operators that name none, which bounds their parallelism; -1 derives it from the parallelism.",
	})
	PipelineObjectReuse = declare(boolean, Option[bool]{
		Key: "pipeline.object-reuse", Default: false, Effect: NextJob,
		Doc:   "Whether chained operators hand on the same object.",
		inert: always[bool]("chained operators never copy records"),
	})
	PipelineOperatorChaining = declare(boolean, Option[bool]{
		Key: "pipeline.operator-chaining.enabled", Default: true, Effect: NextJob,
		OldKeys: []string{"pipeline.operator-chaining"},
		Doc:     "Whether operators that can run in one task do.",
	})
	PipelineChainDifferentMaxParallelism = declare(boolean, Option[bool]{
		Key: "pipeline.operator-chaining.chain-operators-with-different-max-parallelism", Default: true, Effect: NextJob,
		Doc:   "Whether operators with different numbers of key groups may share a task.",
		inert: unless(true, "operators with different numbers of key groups share a task wherever they can, in this version"),
	})
	PipelineAutoGenerateUIDs = declare(boolean, Option[bool]{
		Key: "pipeline.auto-generate-uids", Default: true, Effect: NextJob,
		Doc:   "Whether operators without a UID get one from the structure of the graph; when false they are refused.",
		inert: unless(true, "operators without a UID always get one from the structure of the graph in this version"),
	})
	PipelineAutoWatermarkInterval = declare(duration, Option[time.Duration]{
		Key: "pipeline.auto-watermark-interval", Default: 200 * time.Millisecond, Effect: NextJob,
		Doc: "How often watermarks are emitted.",
	})
	PipelineWatermarkAlignmentUnaligned = declare(boolean, Option[bool]{
		Key: "pipeline.watermark-alignment.allow-unaligned-source-splits", Effect: NextJob,
		Doc: "Whether the splits of an aligned source that cannot pause them one by one may be ahead of each other. Otherwise the job fails when they are.",
	})
	PipelineGlobalJobParameters = declare(dictionary, Option[map[string]string]{
		Key: "pipeline.global-job-parameters", NoDefault: true, Effect: NextJob,
		Doc: "Parameters of the program, shown with the job.",
	})
)

// How a job is run.
var (
	ExecutionRuntimeMode = declare(choice(Streaming, Batch, Automatic), Option[RuntimeMode]{
		Key: "execution.runtime-mode", Default: Automatic, Effect: NextJob,
		Doc: "Whether results are emitted on every record or once at the end. Flink's default is STREAMING.",
	})
	ExecutionBufferTimeoutEnabled = declare(boolean, Option[bool]{
		Key: "execution.buffer-timeout.enabled", Default: true, Effect: NextJob,
		Doc: "Whether buffers that are not full are sent after a time.",
	})
	ExecutionBufferTimeout = declare(duration, Option[time.Duration]{
		Key: "execution.buffer-timeout.interval", Default: 100 * time.Millisecond, Effect: NextJob,
		OldKeys: []string{"execution.buffer-timeout"},
		Doc:     "The longest time a record waits for its buffer to fill; 0 sends after every record.",
	})
	ExecutionBatchShuffleMode = declare(choice(ExchangesBlocking, ExchangesPipelined), Option[BatchShuffleMode]{
		Key: "execution.batch-shuffle-mode", Default: ExchangesBlocking, Effect: NextJob,
		Doc: "How tasks of a batch job that are not chained exchange records: ALL_EXCHANGES_BLOCKING, through files that are read when they are whole, or ALL_EXCHANGES_PIPELINED, at once. Hybrid exchanges are not built yet.",
	})
	BatchAutoParallelism = declare(boolean, Option[bool]{
		Key: "execution.batch.adaptive.auto-parallelism.enabled", Default: true, Effect: NextJob,
		Doc: "Whether the parallelism of operators of a batch job that have none of their own is decided while the job runs, by the volume of what they read. Where exchanges are pipelined it never is.",
	})
	BatchMinParallelism = declare(integer, Option[int]{
		Key: "execution.batch.adaptive.auto-parallelism.min-parallelism", Default: 1, Effect: NextJob, check: keyGroups,
		OldKeys: []string{"jobmanager.adaptive-batch-scheduler.min-parallelism"},
		Doc:     "The least parallelism that is decided while a batch job runs.",
	})
	BatchMaxParallelism = declare(integer, Option[int]{
		Key: "execution.batch.adaptive.auto-parallelism.max-parallelism", Default: 128, Effect: NextJob, check: keyGroups,
		OldKeys: []string{"jobmanager.adaptive-batch-scheduler.max-parallelism"},
		Doc:     "The greatest parallelism that is decided while a batch job runs. Where it is not set, parallelism.default is, if that is set. An operator's own max parallelism wins.",
	})
	BatchTaskVolume = declare(size, Option[Size]{
		Key: "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task", Default: 16 << 20, Effect: NextJob, check: atLeast[Size](1),
		OldKeys: []string{"jobmanager.adaptive-batch-scheduler.avg-data-volume-per-task"},
		Doc:     "How much data each task should read, where the parallelism is decided while a batch job runs. A task may get more where the parallelism is at its bound or a single key group is larger.",
	})
	BatchSourceParallelism = declare(integer, Option[int]{
		Key: "execution.batch.adaptive.auto-parallelism.default-source-parallelism", NoDefault: true, Effect: NextJob, check: keyGroups,
		OldKeys: []string{"jobmanager.adaptive-batch-scheduler.default-source-parallelism"},
		Doc:     "The greatest parallelism of a source that is decided while a batch job runs, and what a source gets that cannot say how much it will read.",
	})
	ExecutionTarget = declare(text, Option[string]{
		Key: "execution.target", NoDefault: true, Effect: Now,
		Doc: "Where `weir sql` runs the jobs of statements: remote, on the cluster that rest.address names, or local, in its own process. Where it is not set, on that cluster if it answers. `weir run` always runs a program on the cluster, and a program that is started by itself runs embedded.",
	})
	ExecutionAttached = declare(boolean, Option[bool]{
		Key: "execution.attached", Default: false, Effect: Now,
		Doc:   "Whether the client waits for the job to end.",
		inert: always[bool]("`weir run` waits for its job unless it is given -d"),
	})
	ExecutionShutdownOnAttachedExit = declare(boolean, Option[bool]{
		Key: "execution.shutdown-on-attached-exit", Default: false, Effect: Now,
		Doc:   "Whether an attached client that is interrupted has its job cancelled.",
		inert: always[bool]("`weir run` leaves its job running when it is interrupted, unless it is given -sae"),
	})
)

// How a client waits for its job.
var (
	ClientTimeout = declare(duration, Option[time.Duration]{
		Key: "client.timeout", Default: time.Minute, Effect: Now, check: positive,
		Doc:   "How long a command waits for the cluster's answer.",
		inert: always[time.Duration]("a command waits until the cluster answers or it is interrupted, in this version"),
	})
	ClientRetryPeriod = declare(duration, Option[time.Duration]{
		Key: "client.retry-period", Default: 2 * time.Second, Effect: Now, check: positive,
		Doc:   "How long a command waits between two looks at a job's state.",
		inert: always[time.Duration]("the state of a job is asked for at intervals of 2 ms that grow to 100 ms"),
	})
)
