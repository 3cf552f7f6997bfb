// Package process measures what the processes of a cluster cost: how soon they
// are ready, what memory they hold, how long a job takes from its submission, and
// the processor time of all of them together.
//
// Every cluster is made of the real binary, on free ports of the loopback
// interface, with its files in a temporary directory; it is stopped and removed
// afterwards. It reads /proc, so it works on Linux only.
//
// It promises that what it started is gone when it returns, and that a
// measurement that cannot be made is an error for its figures and for no other.
// It never starts anything through the command line's background mode: each
// process is its child, whose end it awaits.
package process
