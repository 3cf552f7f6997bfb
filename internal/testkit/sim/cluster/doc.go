// Package cluster is a whole Weir cluster in a simulated world: Dispatcher,
// JobMasters, ResourceManager and TaskExecutors are the real ones; workers, the
// user and bad luck are played.
//
//	user ── submit, cancel, submit again ──▶ Dispatcher, JobMasters, ResourceManager
//	bad luck: lost and slow messages, lost answers, clogged links, jitter, cuts, resets, clocks that jump or
//	    drift, disks that are slow or fail, frozen and crashed processes
//	TaskExecutors ──▶ played workers: tasks that run, finish, fail, panic, hang, die
//	after every event: the invariants of protocols.md §13 that concern them
//
// Run plays one seed in three acts: jobs come and go while faults happen; then
// faults stop, and after a time in which everything must have settled, every job
// runs or has ended as it should, and all sides agree about the slots; then a
// new job must run, and when all are canceled nothing may be left.
//
// The tests of this package are scenarios: worlds in which nothing goes wrong but
// what one rule of protocols.md §4 is for.
//
// It promises that a seed gives the same course each time, and that a broken
// invariant ends the run and is named by its number.
package cluster
