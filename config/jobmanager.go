package config

import "time"

// The JobManager process and its connections.
var (
	JobManagerRPCAddress = declare(text, Option[string]{
		Key: "jobmanager.rpc.address", Default: "localhost", Effect: ProcessRestart,
		Doc: "The host name or address at which TaskManagers reach the JobManager.",
	})
	JobManagerRPCPort = declare(integer, Option[int]{
		Key: "jobmanager.rpc.port", Default: 6123, Effect: ProcessRestart, check: between(0, 65535),
		Doc: "The port at which TaskManagers reach the JobManager; 0 = any free port.",
	})
	JobManagerRPCBindPort = declare(integer, Option[int]{
		Key: "jobmanager.rpc.bind-port", NoDefault: true, Effect: ProcessRestart, check: between(0, 65535),
		Doc: "The port the JobManager listens on, where that differs from jobmanager.rpc.port.",
	})
	JobManagerBindHost = declare(text, Option[string]{
		Key: "jobmanager.bind-host", Default: "localhost", Effect: ProcessRestart,
		Doc: "The address the JobManager listens on. It is the loopback unless set; 0.0.0.0 means every interface.",
	})
	JobManagerResourceID = declare(text, Option[string]{
		Key: "jobmanager.resource-id", NoDefault: true, Effect: ProcessRestart,
		Doc:   "The name of the JobManager process. Without it, a random one.",
		inert: always[string]("there is one JobManager, and TaskManagers know it by its address"),
	})
	RPCTimeout = declare(duration, Option[time.Duration]{
		Key: "pekko.ask.timeout", Default: 10 * time.Second, Effect: ProcessRestart, check: positive,
		OldKeys: []string{"akka.ask.timeout"},
		Doc: "How long a call between processes may take. Calls take at most 10 s in this version, whatever is set; the value holds for " +
			"taskmanager.slot.timeout where that is not set.",
	})
	JobManagerAttemptsHistorySize = declare(integer, Option[int]{
		Key: "jobmanager.execution.attempts-history-size", Default: 16, Effect: ProcessRestart, check: atLeast(1),
		OldKeys: []string{"job-manager.max-attempts-history-size"},
		Doc:     "How many earlier attempts of a task are remembered.",
	})
)

// Where finished jobs are kept. Flink called this the job store. Whichever of
// its bounds is reached first, the job that ended longest ago is forgotten; what
// jobmanager.archive.fs.dir has written of it stays.
var (
	JobStoreCacheSize = declare(long, Option[int64]{
		Key: "completed-application-store.cache-size", Default: 52428800, Effect: ProcessRestart, check: atLeast[int64](0),
		OldKeys: []string{"jobstore.cache-size"},
		Doc: "How many bytes of finished jobs are kept in memory, by estimate; the job that ended last is kept whatever it takes. " +
			"What becomes of others completed-application-store.type says. 0 means no bound.",
	})
	JobStoreExpirationTime = declare(duration, Option[time.Duration]{
		Key: "completed-application-store.expiration-time", Default: time.Hour, Effect: ProcessRestart,
		OldKeys: []string{"jobstore.expiration-time"},
		Doc:     "How long a finished job can be seen; 0 means for ever.",
	})
	JobStoreMaxCapacity = declare(integer, Option[int]{
		Key: "completed-application-store.max-capacity", Default: 2147483647, Effect: ProcessRestart, check: atLeast(0),
		OldKeys: []string{"jobstore.max-capacity"},
		Doc:     "How many finished jobs are kept. The one that ended longest ago is forgotten first.",
	})
	JobStoreType = declare(choice[string]("File", "Memory"), Option[string]{
		Key: "completed-application-store.type", Default: "File", Effect: ProcessRestart,
		OldKeys: []string{"jobstore.type"},
		Doc: "Where finished jobs go for which there is no room in memory: File, into files in the first of io.tmp.dirs, which go with the process; " +
			"Memory, nowhere: they are forgotten.",
	})
)

// Which scheduler runs streaming jobs, and how one that follows the slots there are
// goes about it.
var (
	JobManagerScheduler = declare(choice[string]("Default", "Adaptive", "AdaptiveBatch"), Option[string]{
		Key: "jobmanager.scheduler", Default: "Default", Effect: NextJob,
		Doc: "Which scheduler runs streaming jobs: Default keeps the parallelism of the program, Adaptive follows the slots there are, up to that parallelism. " +
			"Batch jobs are sized by their data whatever it says.",
	})
	SchedulerMode = declare(choice[string]("REACTIVE"), Option[string]{
		Key: "scheduler-mode", NoDefault: true, Effect: NextJob,
		Doc: "REACTIVE: streaming jobs are run by the adaptive scheduler, and take all the slots there are, up to their max parallelism.",
	})
	AdaptiveWaitTimeout = declare(duration, Option[time.Duration]{
		Key: "jobmanager.adaptive-scheduler.submission.resource-wait-timeout", Default: 5 * time.Minute, Effect: NextJob,
		OldKeys: []string{"jobmanager.adaptive-scheduler.resource-wait-timeout"},
		Doc: "How long a job waits for slots, when it begins and when it restarts, before it runs with those there are, or fails if they are too few. " +
			"A negative one is no limit, which is what holds in reactive mode where it is not set.",
	})
	AdaptiveStabilization = declare(duration, Option[time.Duration]{
		Key: "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout", Default: 10 * time.Second, Effect: NextJob, check: notNegative,
		OldKeys: []string{"jobmanager.adaptive-scheduler.resource-stabilization-timeout"},
		Doc: "How long a job waits for all slots it wants once those there are suffice to run it, when it begins, and when it restarts after the loss of a TaskManager that may return. " +
			"In reactive mode it is 0 where it is not set.",
	})
	AdaptiveCooldown = declare(duration, Option[time.Duration]{
		Key: "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling", Default: 30 * time.Second, Effect: NextJob, check: notNegative,
		OldKeys: []string{"jobmanager.adaptive-scheduler.scaling-interval.min"},
		Doc:     "The least time for which a job runs before it is rescaled.",
	})
	AdaptiveRescaleStabilization = declare(duration, Option[time.Duration]{
		Key: "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout", Default: time.Minute, Effect: NextJob, check: notNegative,
		Doc: "How long a running job waits for all slots it wants before it is rescaled to fewer. Once it can have them all it does not wait.",
	})
	AdaptiveActiveCheckpoint = declare(boolean, Option[bool]{
		Key: "jobmanager.adaptive-scheduler.rescale-trigger.active-checkpoint.enabled", Default: true, Effect: NextJob,
		Doc: "Whether a job that is to be rescaled takes a checkpoint for it at once, instead of waiting for the next one.",
	})
	AdaptiveCheckpointFailures = declare(integer, Option[int]{
		Key: "jobmanager.adaptive-scheduler.rescale-trigger.max-checkpoint-failures", Default: 2, Effect: NextJob, check: atLeast(1),
		Doc: "After how many failed checkpoints a job is rescaled without a complete one.",
	})
	AdaptiveMaxDelay = declare(duration, Option[time.Duration]{
		Key: "jobmanager.adaptive-scheduler.rescale-trigger.max-delay", NoDefault: true, Effect: NextJob, check: notNegative,
		Doc: "How long a rescale waits for a checkpoint. Where it is not set: the interval of checkpoints times one more than the failed ones that are waited for; 0 for a job without checkpoints.",
	})
)
