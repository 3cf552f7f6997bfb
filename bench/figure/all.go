package figure

// All are the figures, in the order of the table. The limits hold for one core
// of the kind of machine they were set on: two shared cores of a current server.
var All = []Figure{
	{Name: "chained sequence → map → filter → map → discard", Key: "Chain Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 45},
	{Name: "fused source → map → filter → keyBy → count, 10 k string keys", Key: "Fused Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 10},
	{Name: "the same, every record over a local exchange and with a result", Key: "LocalShuffle Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 7},
	{Name: "an extra chained operator", Key: "ExtraOperator ns/operator", Unit: "ns/record", Limit: 8, AtMost: true},
	{Name: "an extra chained operator, allocations", Key: "ExtraOperator allocs/operator", Unit: "per record", Limit: 0.001, AtMost: true},
	{Name: "keyBy over TCP between two processes, 10 k string keys, both ends counted", Key: "Exchange/tcp Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 5},
	{Name: "keyBy over a unix socket between two processes, 10 k string keys, both ends counted", Key: "Exchange/unix Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 5},
	{Name: "sequence → keyBy 1 M keys → reduce → discard, p=2, one process", Key: "Keyed Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 8},
	{Name: "shuffle over TCP, 32 KiB frames, 8 channels, both ends counted", Key: "Network/tcp/channels=8 MB/cpu-s", Unit: "MB/CPU-s", Limit: 900},
	{Name: "shuffle over TCP, 32 KiB frames, 64 channels, both ends counted", Key: "Network/tcp/channels=64 MB/cpu-s", Unit: "MB/CPU-s", Limit: 900},
	{Name: "shuffle over a unix socket, 32 KiB frames, 8 channels, both ends counted", Key: "Network/unix/channels=8 MB/cpu-s", Unit: "MB/CPU-s", Limit: 900},
	{Name: "shuffle over a unix socket, 32 KiB frames, 64 channels, both ends counted", Key: "Network/unix/channels=64 MB/cpu-s", Unit: "MB/CPU-s", Limit: 900},
	{Name: "deploy 10,000 subtasks, 1,000 to a vertex, every second edge all-to-all", Key: "Deploy/shared/subtasks=10000 cpu-s/op", Unit: "CPU-s", Limit: 1, AtMost: true},
	{Name: "deploy 100,000 subtasks, 1,000 to a vertex, every second edge all-to-all", Key: "Deploy/shared/subtasks=100000 cpu-s/op", Unit: "CPU-s", Limit: 10, AtMost: true},
	{Name: "deploy 10,000 subtasks, each in a slot of its own", Key: "Deploy/spread/subtasks=10000 cpu-s/op", Unit: "CPU-s", Limit: 1, AtMost: true},
	{Name: "deploy 100,000 subtasks, each in a slot of its own", Key: "Deploy/spread/subtasks=100000 cpu-s/op", Unit: "CPU-s", Limit: 10, AtMost: true},
	{Name: "word count of Go's source tree, embedded, p=1", Key: "WordCount/p=1 cpu-s/op", Unit: "CPU-s"},
	{Name: "word count of Go's source tree, embedded, p=2", Key: "WordCount/p=2 cpu-s/op", Unit: "CPU-s"},
	{Name: "word count of Go's source tree, cluster, p=2: all processes", Key: "word count CPU", Unit: "CPU-s", Limit: 2.5, AtMost: true},
	{Name: "word count of Go's source tree, cluster, p=2: submission to FINISHED", Key: "word count wall", Unit: "s", Limit: 1.6, AtMost: true, Wall: true},
	{Name: "`weir jobmanager`: exec → first GET /overview answered", Key: "jobmanager ready", Unit: "ms", Limit: 60, AtMost: true, Wall: true},
	{Name: "`weir taskmanager`: exec → registered", Key: "taskmanager registered", Unit: "ms", Limit: 120, AtMost: true, Wall: true},
	{Name: "idle memory (PSS), master and one TaskManager together", Key: "idle memory", Unit: "MiB", Limit: 50, AtMost: true},
	{Name: "submit by REST → all tasks RUNNING, binary cached", Key: "submit cached", Unit: "ms", Limit: 60, AtMost: true, Wall: true,
		Missed: "a program that no other job is running is copied into the blob store and synced to disk again, about 40 ms of the time"},
	{Name: "submit by REST → all tasks RUNNING, binary new to the TaskManager", Key: "submit new", Unit: "ms", Limit: 150, AtMost: true, Wall: true,
		Missed: "the program is copied into the master's blob store and synced to disk, about 40 ms, before the TaskManager fetches it"},
	{Name: "upload of that binary by REST", Key: "upload", Unit: "ms"},
	{Name: "`weir run` of a word count over 40 lines, attached, binary built", Key: "weir run", Unit: "ms", Limit: 200, AtMost: true, Wall: true},
	{Name: "`bin/weir`, stripped", Key: "size of weir", Unit: "MB", Limit: 40, AtMost: true},
	{Name: "`weir version`, exec → exit", Key: "weir version", Unit: "ms", Limit: 20, AtMost: true, Wall: true},
}

// Failover are the figures of failures and of blocking exchanges, in the order of
// their table. Their jobs restart without delay.
var Failover = []Figure{
	{Name: "task failure → all tasks RUNNING again", Key: "task failed", Unit: "ms", Limit: 20, AtMost: true, Wall: true},
	{Name: "kill -9 of a TaskManager, with a spare slot → all tasks RUNNING again", Key: "TaskManager killed", Unit: "ms", Limit: 300, AtMost: true, Wall: true},
	{Name: "the same, the worst", Key: "TaskManager killed, worst", Unit: "ms", Limit: 1000, AtMost: true, Wall: true},
	{Name: "SIGSTOP of a TaskManager, heartbeats every 1 s with a timeout of 4 s → known to be lost, and the job restarted", Key: "TaskManager frozen", Unit: "s", Limit: 5, AtMost: true, Wall: true},
	{Name: "SIGCONT of that TaskManager → registered anew; its tasks are given up, and the job runs on", Key: "TaskManager thawed", Unit: "ms"},
	{Name: "batch word count of Go's source tree, every word through four blocking exchanges: these", Key: "blocking exchange", Unit: "GB/CPU-s", Limit: 0.5},
	{Name: "bytes that went through them", Key: "blocking exchange bytes", Unit: "MB"},
	{Name: "that job, all processes", Key: "blocking exchange job", Unit: "CPU-s"},
	{Name: "the same with pipelined exchanges, by reference", Key: "pipelined exchange job", Unit: "CPU-s"},
}

// State are the figures of keyed state and checkpoints, in the order of their table.
var State = []Figure{
	{Name: "update of one of 1 M int64 keys, by batch", Key: "Update/int64/keys=1000000/batch CPU-ns/op", Unit: "CPU-ns", Limit: 1000. / 15, AtMost: true},
	{Name: "the same, one by one with the keys of a block ready", Key: "Update/int64/keys=1000000/ready CPU-ns/op", Unit: "CPU-ns", Limit: 1000. / 15, AtMost: true},
	{Name: "the same, one by one", Key: "Update/int64/keys=1000000/single CPU-ns/op", Unit: "CPU-ns"},
	{Name: "update of one of 1 M string keys, by batch", Key: "Update/string/keys=1000000/batch CPU-ns/op", Unit: "CPU-ns", Limit: 1000. / 5, AtMost: true},
	{Name: "the same, one by one with the keys of a block ready", Key: "Update/string/keys=1000000/ready CPU-ns/op", Unit: "CPU-ns", Limit: 1000. / 5, AtMost: true},
	{Name: "the same, one by one", Key: "Update/string/keys=1000000/single CPU-ns/op", Unit: "CPU-ns"},
	{Name: "keyed function that reads and writes a value of 1 M int64 keys", Key: "KeyedProcess/int64 cpu-ns/record", Unit: "CPU-ns/record"},
	{Name: "keyed function that reads and writes a value of 1 M string keys", Key: "KeyedProcess/string cpu-ns/record", Unit: "CPU-ns/record"},
	{Name: "read and write of one of 0.5 M keys on disk, room for an eighth, drawn evenly", Key: "OnDisk/even CPU-ns/op", Unit: "CPU-ns", Limit: 1e6 / 80, AtMost: true},
	{Name: "the same, four in five from a hundredth of the keys", Key: "OnDisk/skewed CPU-ns/op", Unit: "CPU-ns", Limit: 1e6 / 200, AtMost: true},
	{Name: "task stopped at a barrier, 256 MB of state", Key: "Freeze/int64 stop-µs", Unit: "µs of CPU", Limit: 1000, AtMost: true},
	{Name: "longest batch while that is copied", Key: "Freeze/int64 worst-ms/batch", Unit: "ms of CPU", Limit: 10, AtMost: true},
	{Name: "256 MB of integers written as a checkpoint, to nowhere", Key: "Write/int64/write MB/CPU-s", Unit: "MB/CPU-s", Limit: 400},
	{Name: "and read back", Key: "Write/int64/restore MB/CPU-s", Unit: "MB/CPU-s"},
	{Name: "garbage collector with 5 M string keys", Key: "Collector %-of-CPU", Unit: "% of CPU", Limit: 3, AtMost: true},
	{Name: "tumbling windows of 10 s, 10 k keys, 100 records to a millisecond of event time, p=1, embedded", Key: "Tumbling/rate=100 Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 15},
	{Name: "the same, one record to a millisecond: two results for three records", Key: "Tumbling/rate=1 Mrec/cpu-s", Unit: "M records/CPU-s"},
	{Name: "sliding windows of 60 s by 1 s, 100 records to a millisecond", Key: "Sliding/rate=100 Mrec/cpu-s", Unit: "M records/CPU-s", Limit: 10},
	{Name: "the same, one record to a millisecond: ten results for each record", Key: "Sliding/rate=1 Mrec/cpu-s", Unit: "M records/CPU-s"},
	{Name: "sequence → keyBy 1 M keys → reduce, p=2 over TCP, checkpoint every 1 s, `hashmap`", Key: "keyed hashmap", Unit: "M records/CPU-s"},
	{Name: "the same, `rocksdb`", Key: "keyed rocksdb", Unit: "M records/CPU-s"},
	{Name: "kill -9 of a TaskManager with half of 256 MB of state, with a spare slot → all tasks RUNNING again, `hashmap`", Key: "restored hashmap", Unit: "ms", Limit: 1500, AtMost: true, Wall: true},
	{Name: "the same, `rocksdb`", Key: "restored rocksdb", Unit: "ms", Wall: true},
	{Name: "checkpoint that is restored from then", Key: "restored bytes", Unit: "MB"},
}
