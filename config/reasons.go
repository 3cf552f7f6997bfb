package config

import "strings"

// reasons says for a family of Flink's options why it does nothing here. Of
// several prefixes that fit a key the longest counts. Every name in
// known_keys.txt that is not declared has a row, which a test holds true.
var reasons = []struct{ prefix, why string }{
	// What belongs to the Java virtual machine.
	{"env.java.", "there is no Java virtual machine to give options to; GOMEMLIMIT and GOGC are set from the memory model"},
	{"env.hadoop.", "there is no Hadoop"},
	{"env.hbase.", "there is no HBase connector"},
	{"env.yarn.", "there is no YARN driver"},
	{"env.ssh.", "no script starts processes over SSH; start `weir taskmanager` on each host"},
	{"env.stdout-err.", "`weir cluster start` always sends what processes print to files in the log directory"},
	{"classloader.", "there are no Java class loaders: a job is one static binary"},
	{"compiler.", "there is no optimizer that samples input formats"},
	{"jmx.", "there is no Java virtual machine, and so no JMX"},
	{"jobmanager.memory.enable-jvm", "there is no Java virtual machine, and so no direct memory to limit"},
	{"taskmanager.jvm-exit-on-oom", "there is no Java virtual machine; a job's process that runs out of memory ends alone"},
	{"cluster.intercept-user-system-exit", "a program that calls os.Exit ends its own job's process only, which is reported as the failure of the job"},
	{"cluster.processes.halt-on-fatal-error", "there are no shutdown hooks of a Java virtual machine that could hang"},
	{"cluster.thread-dump.", "stacks of goroutines are always given whole"},
	{"cluster.uncaught-exception-handling", "a panic in user code is the failure of its job, and one elsewhere ends the process"},
	{"cluster.io-pool.size", "blocking work has a goroutine each, and no pool"},
	{"jobmanager.future-pool.size", "blocking work has a goroutine each, and no pool"},
	{"jobmanager.io-pool.size", "blocking work has a goroutine each, and no pool"},
	{"taskmanager.debug.memory.", "what the processes use is measured by their metrics, not written to a log"},
	{"taskmanager.system-out.", "what a job prints always goes to its TaskManager's .out file"},
	{"taskmanager.log.path", "the log is in env.log.dir"},
	{"web.log.path", "the log is in env.log.dir"},
	{"mdc.", "every line of the log about a job holds its id; no other field is added"},

	// How programs arrive and are described.
	{"pipeline.jars", "a job is one Go binary; `weir run` uploads it"},
	{"pipeline.classpaths", "a job is one Go binary and has no class path"},
	{"pipeline.cached-files", "files are not distributed with a job in this version; embed them into its binary"},
	{"pipeline.closure-cleaner-level", "functions are compiled into the binary and not serialized"},
	{"pipeline.force-", "records are encoded by their Go type and neither by Kryo nor by Avro"},
	{"pipeline.generic-types", "records are encoded by their Go type; a type that cannot be is refused when the program is built"},
	{"pipeline.serialization-config", "records are encoded by their Go type; there are no serializers to register"},
	{"pipeline.cep.", "there is no pattern matching (CEP) in this version"},
	{"pipeline.jobvertex-parallelism-overrides", "the parallelism of a vertex comes from its program in this version"},
	{"pipeline.sources.pause-until-first-checkpoint", "sources begin at once, and do not wait for a checkpoint"},
	{"pipeline.vertex-", "the names and descriptions of vertices have one form"},
	{"pipeline.watermark-alignment.buffer-size", "a source that is ahead is held between two batches of records: it has no buffer for alignment"},
	{"user.artifacts.", "a job's binary is uploaded through the REST API and not fetched from elsewhere in this version"},
	{"python.", "there are no Python functions"},
	{"execution.program-config.", "a program can always set its own configuration"},
	{"execution.shutdown-on-application-finish", "there is no application mode in this version: a session cluster outlives its jobs"},
	{"execution.terminate-application-", "there is no application mode in this version: a session cluster outlives its jobs"},
	{"execution.job-listeners", "there are no listeners in the JobManager: user code runs in the job's process only"},
	{"execution.job-status-changed-listeners", "there are no listeners in the JobManager: user code runs in the job's process only"},
	{"jobmanager.failure-enrichers", "there are no plugins in the JobManager: user code runs in the job's process only"},
	{"client.heartbeat.", "whoever reads the rows of a query says so every half minute, and after three minutes without a word the query ends; other jobs do not depend on clients: -sae cancels one when its client is interrupted"},
	{"sink.committer.", "a commit that may be tried again is, up to 20 times in a row, whatever the setting"},

	// Batch execution.
	{"execution.batch.job-recovery.", "a job does not survive the loss of its JobManager in this version"},
	{"execution.batch.speculative.", "slow tasks are not run twice in this version"},
	{"slow-task-detector.", "slow tasks are not run twice in this version"},
	{"execution.sort-", "a keyed operator of a batch job has its share of the managed memory, and what does not fit goes to disk"},
	{"jobmanager.partition.hybrid.", "there is no hybrid shuffle"},
	{"taskmanager.network.hybrid-shuffle.", "there is no hybrid shuffle"},
	{"taskmanager.network.compression.", "records are not compressed between processes in this version"},
	{"taskmanager.memory.framework.off-heap.batch-shuffle.size", "how much memory reads blocking exchanges from disk cannot be set in this version"},
	{"taskmanager.runtime.fs-timeout", "files are opened without a limit of time"},
	{"taskmanager.runtime.", "how operators sort and hash on disk cannot be set in this version"},
	{"shuffle-service-factory.class", "there is one shuffle service, over TCP"},

	// The network between tasks.
	{"taskmanager.network.netty.", "the network stack is not Netty"},
	{"taskmanager.network.retries", "a connection that cannot be made is the failure of the task, which restarting heals"},
	{"taskmanager.network.request-backoff.", "a request for a partition that is not there yet waits for it, and need not be repeated"},
	{"taskmanager.network.partition-request-timeout", "a request for a partition that is not there yet waits until it is there or its task is cancelled"},
	{"taskmanager.network.tcp-connection.", "each job has a process, and so connections, of its own"},
	{"taskmanager.network.bind-policy", "the address others use is taskmanager.host, or else the one that is listened on"},
	{"taskmanager.network.adaptive-partitioner.", "records that are rebalanced go round in order in this version"},
	{"taskmanager.network.detailed-metrics", "the queues of single channels are not measured in this version"},
	{"taskmanager.network.memory.buffer-debloat.", "buffers keep their size; records that wait are bounded by time (execution.buffer-timeout.interval)"},
	{"taskmanager.network.memory.", "a gate has what its channels need and borrows more while there is some"},
	{"taskmanager.memory.starting-segment-size", "buffers keep their size"},
	{"taskmanager.data.ssl.", "connections are not encrypted in this version"},
	{"taskmanager.collect-sink.port", "results are collected over the connections there are"},
	{"task.cancellation.timers.timeout", "there are no timer threads to wait for"},

	// Processes and how they find each other.
	{"pekko.", "the processes do not speak through Pekko"},
	{"blob.service.ssl.", "connections are not encrypted in this version"},
	{"blob.", "programs travel over the connection between the processes: there is no port, no queue and no retry of its own"},
	{"process.", "temporary files lie in io.tmp.dirs, and nothing in there outlives its process"},
	{"resourcemanager.rpc.port", "the ResourceManager is reached at jobmanager.rpc.port"},
	{"resourcemanager.", "a standalone cluster starts no TaskManagers by itself"},
	{"slotmanager.", "a standalone cluster has the TaskManagers that were started, neither more nor fewer"},
	{"external-resource", "slots have no other resources than memory and CPU in this version"},
	{"minicluster.", "an embedded cluster has one TaskManager"},
	{"jobmanager.retrieve-taskmanager-hostname", "a TaskManager is shown under the name it advertises; no name server is asked"},
	{"jobmanager.adaptive-scheduler.prefer-minimal-taskmanagers", "a job takes the slots it is given, and gives back those above what it wants after slot.idle.timeout"},
	{"high-availability.", "high availability in this version is files in high-availability.storageDir, and has no leader to elect"},
	{"zookeeper.", "there is no high availability in this version, and no ZooKeeper"},
	{"job-result-store.", "there is no high availability in this version: results of jobs are not kept for another JobManager"},
	{"application-result-store.", "there is no high availability in this version: results of jobs are not kept for another JobManager"},
	{"job-event.store.", "there is no high availability in this version: the progress of batch jobs is not kept for another JobManager"},
	{"cleanup-strategy.", "there is no high availability in this version, and so nothing to clean up in its store"},
	{"yarn.", "there is no YARN driver"},
	{"flink.yarn", "there is no YARN driver"},
	{"flink.hadoop", "there is no Hadoop"},
	{"kubernetes.", "there is no Kubernetes driver in this version; processes in pods are started by your own manifests"},
	{"containerized.", "no driver starts containers in this version"},
	{"$internal.", "it is Flink's own, set by its client for its processes"},

	// State.
	{"state.backend.", "a state backend on a disk takes its sizes from the managed memory, and its files are tuned by nothing else"},
	{"state.changelog.", "there is no state changelog"},
	{"state.latency-track.", "access to state is not timed in this version"},
	{"state.size-track.", "the size of state is not sampled in this version"},
	{"execution.checkpointing.", "this option of checkpoints is not looked at yet"},
	{"execution.checkpointing.cleaner.parallel-mode", "the files of a checkpoint are deleted one after the other, its metadata first"},
	{"execution.checkpointing.create-subdir", "each job has a directory of its own"},
	{"execution.checkpointing.file-merging.", "a subtask writes one file for each checkpoint, and small state has none"},
	{"execution.checkpointing.write-buffer-size", "state is written in blocks of its own"},
	{"execution.checkpointing.unaligned.max-subtasks-per-channel-state-file", "a subtask writes one file for each checkpoint"},
	{"execution.state-recovery.", "there is no local recovery in this version: state is read from where the checkpoint is"},
	{"rest.cache.checkpoint-statistics.", "answers about checkpoints are not kept"},
	{"queryable-state.", "state cannot be queried from outside; Flink has removed this too"},

	// File systems.
	{"fs.default-scheme", "paths without a scheme are local in this version"},
	{"fs.allowed-fallback-filesystems", "there is no Hadoop to fall back on"},
	{"fs.output.always-create-directory", "a file sink always makes its directory"},
	{"fs.overwrite-files", "a file sink never overwrites"},
	{"fs.", "files are on local or mounted disks in this version; there are no object stores"},
	{"gs.", "files are on local or mounted disks in this version; there are no object stores"},
	{"s3.", "files are on local or mounted disks in this version; there are no object stores"},
	{"s3a.", "files are on local or mounted disks in this version; there are no object stores"},
	{"presto.s3.", "files are on local or mounted disks in this version; there are no object stores"},

	// What is shown.
	{"metrics.fetcher.", "the processes tell their metrics by themselves, once a second, and are not asked"},
	{"metrics.internal.", "the processes tell their metrics by themselves, and are not asked"},
	{"metrics.job.status.enable", "of the states of a job only the time in the present one is measured"},
	{"metrics.latency.", "there are no latency markers in this version"},
	{"metrics.reporter.", "of reporters only Prometheus is known, which reads factory.class, port, host and filterLabelValueCharacters"},
	{"metrics.scope.", "the only metric reporter, Prometheus, tells scopes by labels"},
	{"metrics.system-resource", "the processes are measured, not their machines"},
	{"traces.", "there are no trace reporters in this version"},
	{"events.", "there are no event reporters in this version"},
	{"rest.flamegraph.", "there are no flame graphs in this version"},
	{"rest.profiling.", "processes cannot be profiled through the REST API in this version"},
	{"rest.cache.execution-graph.timeout", "every answer is made from the state of the moment, which costs little"},
	{"rest.await-leader-timeout", "the JobManager's address is its leader's: there is no election to wait for"},
	{"rest.path", "the REST API is at the root; a proxy's path is rest.url-prefix"},
	{"rest.server.", "requests have a goroutine each, and no pool of threads"},
	{"historyserver.archive.load.mode", "an archive is read when its job is looked at, and its line in the list when it is found"},
	{"historyserver.archive.storage.type", "archives are read where they are and not copied into another store"},
	{"historyserver.archive.clean-expired-", "archives are read where they are: a job is shown as long as its archive is there"},
	{"historyserver.archive.retained-applications", "here each job is an application of its own: historyserver.archive.retained-jobs bounds them"},
	{"historyserver.lazy.", "archives are read where they are, and not fetched by a pool of threads"},
	{"historyserver.log.", "the history server links no logs in this version"},
	{"historyserver.web.tmpdir", "archives are read where they are: the history server writes no files"},
	{"historyserver.web.ssl.", "connections are not encrypted in this version"},

	// SQL and security.
	{"table.", "SQL does not look at it in this version"},
	{"materialized-table.", "there are no materialized tables in this version"},
	{"sql-client.display.color-schema", "what is typed has one set of colours, and none if NO_COLOR is set"},
	{"sql-client.display.show-line-numbers", "lines that are typed are not numbered"},
	{"sql-gateway.worker.", "each statement has a goroutine, and no pool of threads"},
	{"security.redaction.", "values are hidden by the names of their keys, which cannot be added to in this version"},
	{"security.kerberos.", "there is no Kerberos"},
	{"security.delegation.", "there are no delegation tokens: nothing here asks Hadoop or S3 for credentials"},
	{"security.", "connections are not encrypted in this version"},
}

// reason says why the option key, which no option declares, does nothing.
func reason(key string) string {
	best, why := -1, unexplained
	for _, r := range reasons {
		if len(r.prefix) > best && (strings.HasPrefix(key, r.prefix) || key+"." == r.prefix) {
			best, why = len(r.prefix), r.why
		}
	}
	return why
}

// unexplained is said of a key without a row, which no known key is.
const unexplained = "Flink has this option; nothing here reads it in this version"
