// Package sqlrun runs the jobs of SQL statements: on a cluster, which is reached within its
// JobManager or by its REST API, or embedded in this process, for a client without one. A
// program whose statements call functions of its own is the worker of their jobs (Serve).
//
// It promises that an embedded job ends with its runner, that the rows of a job end when the
// job has ended, and that a job is told that somebody reads on for as long as that may be. It
// never changes a plan.
package sqlrun
