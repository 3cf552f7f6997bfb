// Package chaos runs jobs whose answers are known beforehand on a cluster of real
// processes while the master, TaskManagers and workers are killed, stopped and
// resumed, and the network between them is cut, slowed down and reset.
//
// It promises that the faults of a run and their times come from a seed, which it
// prints; that it counts what it has injected and fails when that is less than
// was planned; and that it ends every process it has started, by its id. Bounded
// jobs must finish with the exact answer, and an endless job must go on after
// every fault. The network is harmed only as far as the machine and the user's
// rights allow; the output says what could not be done, and why.
//
// The answers are computed by this package alone, which imports nothing of the
// engine. Jobs with state are judged by a program of its own, oracle, at every
// moment; two controls show that it finds what a sink doubles that takes no part in
// checkpoints, and what a task loses that does not wait for barriers.
package chaos
