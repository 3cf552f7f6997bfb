// Package exec runs physical plans: it makes the stream graph of one, and has the
// operators, which work on whole columns.
//
//	plan.Job ──Compile──▶ streamgraph.Compiled ──▶ embedded cluster, or JobManager and workers
//
// An operator is made for each subtask and takes batches of columns (transform.go says
// the rules). What it holds is bounded by its managed memory: tables and sorted rows go
// to temporary files in parts when that is used up.
//
// It promises that a worker makes the same graph of a plan as whoever submitted it, and
// that results do not depend on memory, parallelism or the sizes of batches, but for the
// order of rows where SQL leaves it open. It never plans: what a node says is done.
package exec
