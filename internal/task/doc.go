// Package task runs one subtask: it builds the chain of operators, reads the
// input gates or polls the source, and writes the result partitions, all on one
// goroutine.
//
//	CREATED ─Run─▶ INITIALIZING ─chain built─▶ RUNNING ─all input ended─▶ FINISHED
//	                    │                         ├─ canceled ───────────▶ CANCELED
//	                    └─ cannot be set up ──────┴─ function failed ────▶ FAILED
//
// Where there are checkpoints, a barrier waits on all channels of the task; then what
// the operators keep is frozen, and given to whoever writes it beside the task. After
// a savepoint that stops the job the task stands still until that is complete, and
// ends; after all input, if something is still to be committed, it waits for one more
// checkpoint.
//
// It promises that mail (answers of coordinators, timers) runs between two
// batches on the task's goroutine, that metrics cost once a batch, that whatever
// was opened is closed before the terminal state is reported, and that a
// terminal state is reported exactly once. It never knows who coordinates it.
package task
