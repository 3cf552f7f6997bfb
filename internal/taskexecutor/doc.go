// Package taskexecutor is the agent of one TaskManager: it registers at the
// ResourceManager, owns the slots, and starts one worker process for each job
// it serves. Tasks run in the workers; the Executor passes their deployments
// down and their news up.
//
//	ResourceManager ── RequestSlot ─────────▶ Executor ── OfferSlots ──▶ JobMaster
//	                ◀─ slot report, free ────    │   ◀── SubmitTask, CancelTask, FreeSlot ──
//	                                             │   ─── task states, metrics, requests ──▶
//	                              Launch, RunTask ▼ ▲ RegisterWorker, states, exit
//	                                          worker process, one a job
//
// It promises:
//   - a slot is held for one job, every slot that becomes free is reported, and
//     what is decided about slots is decided in package slottable;
//   - a task is taken only from the JobMaster the Executor is connected to, in
//     a slot that this JobMaster holds, and only once;
//   - every task taken ends with exactly one terminal state, also when its
//     worker dies, does not start, is another program than was submitted, or
//     does not let go of a canceled task; the states of one task reach the
//     JobMaster in order;
//   - the death of a worker ends the tasks of its job and nothing else;
//   - when a job has neither slot nor task here, its worker is gone soon after.
//
// It never runs user code, and it never decides that a job has failed. All of
// it runs on its loop; package process starts real processes for it.
package taskexecutor
