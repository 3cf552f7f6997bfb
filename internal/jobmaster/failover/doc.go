// Package failover says, when something of a job has failed, what must run
// again and when.
//
// Two questions, answered by two families of small pure values:
//
//	which tasks?   Region: the failed region, the regions that produced what it can
//	               no longer read, and all that read from a region that restarts
//	               Full: all
//	may it, when?  None, FixedDelay, FailureRate, ExponentialDelay
//
// It promises that equal histories give equal answers: time comes as an argument
// and chance as a function. It never changes a graph; package schedule does what
// the answers say.
package failover
