// Package sqlrun runs the jobs of SQL statements: on a cluster, which is reached within its
// JobManager or by its REST API, or embedded in this process, for a client without one.
//
// It promises that an embedded job ends with its runner. It never looks into
// a plan.
package sqlrun
