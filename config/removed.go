package config

// removed are options that Flink once had and has taken out, so that its present
// documentation does not name them, and what to do instead. Flink ignores them
// without a word; here a file that still has one is told.
var removed = map[string]string{
	"taskmanager.heap.size":                                     "set taskmanager.memory.process.size, all memory of the process, or taskmanager.memory.task.heap.size",
	"taskmanager.heap.mb":                                       "set taskmanager.memory.process.size, all memory of the process, or taskmanager.memory.task.heap.size",
	"jobmanager.heap.size":                                      "set jobmanager.memory.process.size, all memory of the process, or jobmanager.memory.heap.size",
	"jobmanager.heap.mb":                                        "set jobmanager.memory.process.size, all memory of the process, or jobmanager.memory.heap.size",
	"taskmanager.memory.fraction":                               "set taskmanager.memory.managed.fraction",
	"taskmanager.memory.off-heap":                               "remove it: managed memory is always outside the heap",
	"taskmanager.memory.preallocate":                            "remove it: memory is taken when it is needed",
	"containerized.heap-cutoff-ratio":                           "set taskmanager.memory.jvm-overhead.fraction",
	"containerized.heap-cutoff-min":                             "set taskmanager.memory.jvm-overhead.min",
	"taskmanager.network.numberOfBuffers":                       "set taskmanager.memory.network.min and taskmanager.memory.network.max",
	"taskmanager.network.memory.buffers-per-channel":            "remove it: each channel has 2 buffers",
	"taskmanager.network.memory.floating-buffers-per-gate":      "remove it: a gate borrows as many buffers as it can use",
	"taskmanager.network.memory.max-buffers-per-channel":        "remove it: what a channel may queue is bounded by its credits",
	"taskmanager.network.memory.max-overdraft-buffers-per-gate": "remove it: a record that has begun is always written to its end",

	"execution-retries.default": "set restart-strategy.type: fixed-delay and restart-strategy.fixed-delay.attempts",
	"execution-retries.delay":   "set restart-strategy.type: fixed-delay and restart-strategy.fixed-delay.delay",

	"cluster.evenly-spread-out-slots":                  "set taskmanager.load-balance.mode: SLOTS",
	"slotmanager.request-timeout":                      "set slot.request.timeout",
	"cluster.fine-grained-resource-management.enabled": "remove it: all slots of a TaskManager are equal",
	"jobmanager.scheduler.scheduling-strategy":         "remove it: jobs are scheduled by pipelined regions",
}
