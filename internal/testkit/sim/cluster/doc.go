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
// Unbounded jobs have checkpoints in two worlds of five or so. Their tasks are played
// with a small model of data (stream.go): sources number records, others count and
// pass them on, and what has no outputs puts them out by transactions. JobMasters,
// coordinators of sources, the store of completed checkpoints and the files are the
// real ones, on a file system that can be slow, full, broken or torn. What is right
// can be computed: each record once for each way that leads to where it is put out.
// Somebody may be killed at chosen moments in the life of a checkpoint (strikes.go).
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
