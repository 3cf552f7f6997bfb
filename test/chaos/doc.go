// Package chaos runs jobs whose answers are known beforehand on a cluster of real
// processes while TaskManagers and workers are killed, stopped and resumed, and
// the network between them is cut.
//
// It promises that the faults of a run and their times come from a seed, which it
// prints; that it counts what it has injected and fails when that is less than
// was planned; and that it ends every process it has started, by its id. Bounded
// jobs must finish with the exact answer, and an endless job must run again after
// every fault. The network is cut only where the machine has network namespaces
// and the user may make them; otherwise the output says why not.
package chaos
