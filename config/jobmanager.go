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
	JobManagerScheduler = declare(choice[string]("Default", "Adaptive", "AdaptiveBatch"), Option[string]{
		Key: "jobmanager.scheduler", Default: "Default", Effect: NextJob,
		Doc:   "Which scheduler runs jobs.",
		inert: unless("Default", "batch jobs are sized by their data whatever it says (execution.batch.adaptive.auto-parallelism.enabled), and streaming jobs keep their parallelism in this version"),
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
