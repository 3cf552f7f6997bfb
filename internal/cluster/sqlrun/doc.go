// Package sqlrun runs the jobs of SQL statements: embedded in this process, for a client
// without a cluster.
//
// It promises that a job that nobody waits for ends with its runner. It never looks into
// a plan.
package sqlrun
