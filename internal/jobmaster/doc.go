// Package jobmaster is the owner of one job: it gets slots for it, deploys its
// tasks, hears of their ends and decides how the job ends.
//
// The decisions are made by pure cores, schedule and slotpool and, for a job that
// has checkpoints, checkpoint; the Master here is the endpoint around them. It runs only on its loop: what comes in,
// by call, timer or method, becomes an event of a core, and the core's effects
// become calls and events in turn, in the order they were made.
//
//	TaskManager ─OfferSlots─▶ slotpool ─Grant─▶ schedule ─Deploy─▶ SubmitTask ─▶ TaskManager
//	ResourceManager ◀─DeclareRequiredResources─ slotpool ◀─RequestSlots─ schedule
//	TaskManager ─UpdateTaskExecutionState─▶ schedule ─CancelTask─▶ TaskManager
//	TaskManager ─AcknowledgeCheckpoint─▶ checkpoint ─TriggerCheckpoint─▶ TaskManager
//
// It promises that every call of it may come twice; that a TaskManager which is
// gone, or says other things about the job than the Master believes, is noticed
// by heartbeats and set right; that tasks go on while the ResourceManager is
// gone; and that OnDone is called once, with the job's last view. It links no
// operator and runs no user code.
package jobmaster
