//go:build unix

// Package local runs a cluster in the background of one host: a JobManager and
// some TaskManagers, each a process of its own that outlives the command that
// started it.
//
// It promises that Start returns when the cluster is ready for jobs, or stops
// what it started and says why with the end of the log; that Stop ends exactly
// the processes Start began, even if the number of one that is gone has been
// given to another process since; and that two clusters with different run
// directories never meet. It never reads what the processes say, apart from the
// addresses they write down and the REST API's overview.
//
// A process is known by a file in the run directory, ROLE-NUMBER.pid, which
// holds its process id and its birth: a text that no other process with the same
// id ever has. The JobManager itself writes its addresses beside it (see
// addressfile).
package local
