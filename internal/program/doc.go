// Package program keeps the programs that users upload, and asks a program for
// the job it describes.
//
// A program is an executable built by Go whose main ends in Execute; Flink's
// REST API calls it a jar. The Store is a directory with one file for each,
// named UUID_NAME. Plan runs a program with WEIR_PLAN set, so that Execute
// writes the JobGraph and ends instead of running the job:
//
//	Upload ── header is wrong ──▶ *RefusedError, nothing kept
//	  └─ temporary file ─ rename ─▶ Program
//	Plan ── graph written, exit 0 ──▶ JobGraph with its Artifact filled in
//	  └─ panic, exit, no Execute, time or memory used up ──▶ *PlanError with the end of the output
//
// It promises that a program that can be listed is whole, that what cannot be
// run here is refused when it is uploaded, and that a planned program leaves no
// process and no file behind. It never runs a job, and never runs a program in
// its own process group.
package program
