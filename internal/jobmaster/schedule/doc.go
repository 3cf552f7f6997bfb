// Package schedule decides, for one job, when its subtasks get slots, when they
// are deployed, what a failure means and how the job ends.
//
// It is pure: Apply(event, now) changes the job's execution graph and returns
// what must now be done. It promises that the subtasks of a region are deployed
// all together or not at all; that every failure, whoever noticed it, goes
// through one funnel; that a plan that waited for slots is dropped when the
// subtasks' versions have moved, and its slots are given back; and that a job
// ends once, after its last attempt.
//
//	Start ─▶ RUNNING ─▶ regions ready? ─▶ RequestSlots ─▶ SlotGranted × all ─▶ Deploy × all
//	TaskReport, DeployFailed, TaskLost, SlotsLost ─▶ attempt FAILED ─▶ Backoff:
//	    no restart ─▶ job FAILING ─▶ cancel the rest ─▶ FAILED
//	    restart ─▶ Failover: these tasks ─▶ job RESTARTING ─▶ cancel them ─▶ RestartAfter
//	        ─▶ RestartDue, and all ended ─▶ new attempts ─▶ RUNNING ─▶ regions ready? …
//	Rescale ─▶ job RESTARTING ─▶ cancel all ─▶ AskLayout ─▶ LayOut ─▶ new attempts ─▶ RUNNING
//	CancelJob ─▶ CANCELLING ─▶ cancel all ─▶ CANCELED
//
// It never sees slots that are not its own (jobmaster/slotpool does), a message
// or a clock.
package schedule
