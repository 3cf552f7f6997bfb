package recorded

import "strings"

// Ours are the fields that stand beside Flink's, by endpoint and place, and what
// they tell.
var Ours = map[string]string{
	"/config $.weir-version":   "the version of Weir; flink-version is that of the API",
	"/overview $.weir-version": "the version of Weir; flink-version is that of the API",

	"/jobs/:id $.vertices[].parallelismReason":                                         "who decided the parallelism, and why",
	"/jobs/:id $.vertices[].splits":                                                    "how much a source has to read",
	"/jobs/:id $.lastRescale":                                                          "for how long a job that was rescaled did not run",
	"/jobs/:id/exceptions $.root-exception":                                            "Flink's older fields, which its scripts still read",
	"/jobs/:id/exceptions $.timestamp":                                                 "Flink's older fields, which its scripts still read",
	"/jobs/:id/exceptions $.all-exceptions":                                            "Flink's older fields, which its scripts still read",
	"/jobs/:id/exceptions $.truncated":                                                 "Flink's older fields, which its scripts still read",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].taskName":                       "the first cause stands at the top also of a failure that ended the job",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].endpoint":                       "the first cause stands at the top also of a failure that ended the job",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].taskManagerId":                  "the first cause stands at the top also of a failure that ended the job",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].cause":                          "the innermost cause",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].chain":                          "what was being done, outermost first",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].kind":                           "what sort of failure it is",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].attempt":                        "the number of the attempt that failed",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].process":                        "how the job's process died",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].record":                         "the record that was being processed",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].decision":                       "what was done about it",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].restart":                        "the same in numbers",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].folded":                         "what only followed from it",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].concurrentExceptions[].cause":   "the innermost cause",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].concurrentExceptions[].chain":   "what was being done, outermost first",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].concurrentExceptions[].kind":    "what sort of failure it is",
	"/jobs/:id/exceptions $.exceptionHistory.entries[].concurrentExceptions[].attempt": "the number of the attempt that failed",

	"/jobs/:id/rescales/overview $.latest.completed.outageInMillis":    "for how long the job did not run",
	"/jobs/:id/rescales/overview $.latest.completed.endingInMillis":    "of that, until its tasks had ended",
	"/jobs/:id/rescales/overview $.latest.completed.placingInMillis":   "of that, until new ones were placed",
	"/jobs/:id/rescales/overview $.latest.completed.deployingInMillis": "of that, until they ran",
	"/jobs/:id/rescales/history $[].outageInMillis":                    "for how long the job did not run",
	"/jobs/:id/rescales/history $[].endingInMillis":                    "of that, until its tasks had ended",
	"/jobs/:id/rescales/history $[].placingInMillis":                   "of that, until new ones were placed",
	"/jobs/:id/rescales/history $[].deployingInMillis":                 "of that, until they ran",
	"/jobs/:id/rescales/details/:id $.outageInMillis":                  "for how long the job did not run",
	"/jobs/:id/rescales/details/:id $.endingInMillis":                  "of that, until its tasks had ended",
	"/jobs/:id/rescales/details/:id $.placingInMillis":                 "of that, until new ones were placed",
	"/jobs/:id/rescales/details/:id $.deployingInMillis":               "of that, until they ran",

	"/jobs/:id/execution-result $.accumulators": "results as text; Flink's are serialized Java objects",

	"/jobs/:id/vertices/:id/backpressure $.subtasks[].attempt-number": "which attempt is told of",
}

// maybe are the values that an answer has or lacks by its situation: fields and,
// with [] behind them, the items of lists.
var maybe = map[string]string{
	"/jobmanager/config $[]":                           "a cluster of which nothing is configured",
	"/jobs/:id/jobmanager/config $[]":                  "a cluster of which nothing is configured",
	"/applications/:id/jobmanager/config $[]":          "a cluster of which nothing is configured",
	"/jobmanager/environment $.jvm.options[]":          "there is no Java virtual machine",
	"/jobmanager/environment $.classpath[]":            "there is no Java virtual machine",
	"/jobs/:id/jobmanager/environment $.jvm.options[]": "there is no Java virtual machine",
	"/jobs/:id/jobmanager/environment $.classpath[]":   "there is no Java virtual machine",

	"/jobs/:id/exceptions $.exceptionHistory.entries[].concurrentExceptions[]": "the first cause stands at the top, where Flink has a JobException without a task",

	"/jars $.files[]": "of another test's upload",

	"/jobs/:id $.plan.nodes[].inputs":      "a plan of one node has none",
	"/jobs/:id/plan $.plan.nodes[].inputs": "a plan of one node has none",

	"/jobs/:id/checkpoints $.latest.completed": "the job that is replayed has no checkpoints",
	"/jobs/:id/checkpoints $.latest.restored":  "the job that is replayed has no checkpoints",
	"/jobs/:id/checkpoints $.history[]":        "the job that is replayed has no checkpoints",

	"/jobs/:id/accumulators $.user-task-accumulators[]":                                   "a job without accumulators",
	"/jobs/:id/vertices/:id/accumulators $.user-accumulators[]":                           "a job without accumulators",
	"/jobs/:id/vertices/:id/subtasks/accumulators $.subtasks[].user-accumulators[]":       "a job without accumulators",
	"/jobs/:id/vertices/:id/subtasks/:id/attempts/:id/accumulators $.user-accumulators[]": "a job without accumulators",

	"/jobs/:id/vertices/:id/jm-operator-metrics $[]":  "a vertex without a coordinator",
	"/jobs/:id/vertices/:id/metrics $[]":              "figures of a task that has ended are not kept",
	"/jobs/:id/vertices/:id/subtasks/metrics $[]":     "figures of a task that has ended are not kept",
	"/jobs/:id/vertices/:id/subtasks/:id/metrics $[]": "figures of a task that has ended are not kept",
	"/jobs/:id/vertices/:id/watermarks $[]":           "figures of a task that has ended are not kept",
}

// free are the last fields of paths whose objects have data for keys.
var free = map[string]bool{
	"user-config": true, "failureLabels": true, "extendedResources": true, "accumulator-results": true, "jobs": true, "slots": true,
	"serialized-user-task-accumulators": true,
}

// shuffled are the last fields of paths whose objects come from Java's maps: the
// keys are the same, in any order.
var shuffled = map[string]bool{
	"timestamps": true, "tasks": true, "status-counts": true, "status-duration": true, "metrics": true,
}

func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func freeKeys(path string) bool { return free[last(path)] }

func anyOrder(path string) bool { return shuffled[last(path)] }
