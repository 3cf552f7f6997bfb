// Package plan holds the physical plan of a statement: what is executed, as data.
//
// A Job has one tree of Nodes for each of its sinks; trees may share nodes, which are
// then executed once. Every node says what columns it gives. Which rows are in which
// subtask is said by Exchange nodes alone: all other nodes take their input as it lies.
//
//	planner ──▶ Job ──Encode──▶ bytes in the job graph ──Decode──▶ Job ──▶ operators
//
// It promises that a job survives encoding: who decodes it executes the same. It never
// decides anything, and never runs.
package plan
