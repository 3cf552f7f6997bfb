// Package rescale decides how parallel a streaming job is whose parallelism follows
// the slots there are, when it may begin, and when it is worth to begin anew.
//
// It is pure: Apply(event, now) changes the Rescaler and returns what must now be
// done; Deadline says when it wants a Tick. The states are those of Flink's
// adaptive scheduler:
//
//	Created ─Start─▶ WaitingForResources ─▶ CreatingExecutionGraph ─▶ Executing
//	                    ▲  all wanted slots, or enough of them     │      │
//	                    │  for long enough; else it fails          │      │ a failure, or
//	                    └────────── Ended ── Restarting ◀──────────┴──────┘ a rescale
//
// While it executes:
//
//	Cooldown ─▶ Idling ─a change─▶ Stabilizing ──time──▶ Stabilized
//	                                   │ all wanted          │ enough
//	                                   └──── trigger ────────┴─▶ Rescale
//
// The trigger is a completed checkpoint, so that nothing is processed twice; or
// some failed ones; or that it has taken too long.
//
// It promises that every layout it gives is within the bounds, fits into the slots
// that were present, and gives one parallelism to vertices that need the same; that
// a running job is rescaled only to another parallelism; and that after a failure
// it waits only for slots that may come back. It sees no slot, only their number,
// and no task.
package rescale
