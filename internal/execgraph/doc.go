// Package execgraph holds a job in parallel: the subtasks of every vertex, the
// attempts to run them, how they are wired, and what has become of them.
//
//	Graph ─▶ JobVertex ─▶ Vertex ─▶ Execution
//	a job    a chain      subtask   attempt
//
// It promises that every change of a state is a row of the tables of package
// status, made at a time that the caller gives; that the same job graph is
// always wired and cut into regions in the same way; and that a View, once
// built, never changes. It never decides what should happen: package
// jobmaster/schedule does. It knows no message, no clock and no network.
package execgraph
