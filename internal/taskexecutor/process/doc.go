// Package process starts the worker processes of a TaskExecutor and finds out
// how they died.
//
//	Launch ── fetch the program ──▶ start: own directory, process group, memory limit
//	                                   │
//	          Stop: close its stdin ───┤     stdout, stderr ──▶ bounded log files
//	          Kill: SIGKILL the group ─┤
//	                                   ▼
//	                       exit code, signal, last stack, out of memory ──▶ one Failure
//
// It promises that a worker does not outlive its TaskManager, that nothing of
// it is left when Exited is called (no process of its group, no directory, no
// control group), that what it prints cannot fill the disk, and that the
// Failure says what the operating system and the Go runtime know. It never
// speaks to the worker: that is the TaskExecutor's part, by RPC.
//
// This is where the control plane meets the operating system, so it has
// goroutines and locks of its own; what it tells the TaskExecutor it posts to
// the TaskExecutor's loop.
package process
