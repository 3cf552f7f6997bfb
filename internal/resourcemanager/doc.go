// Package resourcemanager is the endpoint that knows the cluster's
// TaskManagers and slots and brings them together with the jobs' requirements.
//
//	TaskExecutor ── RegisterTaskExecutor, SendSlotReport ──▶ Manager ◀── RegisterJobMaster ── JobMaster
//	             ── NotifySlotAvailable ───────────────────▶         ◀── DeclareRequiredResources ──
//	             ◀── RequestSlot, heartbeat ────────────────         ── not enough, heartbeat ─────▶
//
// It promises that a TaskManager counts only after its slot report, that a
// TaskManager of another cluster or version is refused with the reason, and
// that one that is lost or registers again takes its old slots with it. What
// is decided about slots is decided in package slotmanager; the Manager carries
// it out. It never starts or stops TaskManagers: that is a driver's work, and
// standing alone there is none. All of it runs on its loop.
package resourcemanager
