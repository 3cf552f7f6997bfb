// Package e2e drives the real binary as a user does: it starts clusters of real
// processes on this machine, runs programs on them, kills what may die, and looks
// at what is left.
//
// It promises that every cluster it starts has a home of its own, listens on
// loopback ports the system chooses, and is gone, with its files, when its test
// ends. It never asserts a duration.
package e2e
