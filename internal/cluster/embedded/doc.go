// Package embedded runs one job on a cluster inside the program's own process:
// a Dispatcher, a ResourceManager and a TaskExecutor with the job's worker, all
// on one loop and joined by calls through memory.
//
// It promises that the job runs by the same code as on a cluster of processes;
// that Run returns when the job has ended and nothing is left of the cluster,
// neither goroutine nor file; and that a job which cannot have its slots is
// refused at once. It never listens on a port and never serves REST: package
// local adds that.
//
// What a process boundary would give is missing: a panic is caught in the task
// that caused it, but user code that uses up the memory or ends the process
// takes the program with it, and user code that does not return when its task is
// canceled is given up after task.cancellation.timeout and left behind.
package embedded
