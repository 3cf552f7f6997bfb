// Package slotmanager decides which slot of which TaskManager serves which job.
//
// It is the pure core of the ResourceManager. Jobs declare their whole
// requirement, TaskManagers report their slots, and the Manager makes the two
// meet:
//
//	JobMaster ──Declared──▶ requirement ─┐
//	                                     ├─ Match ──▶ RequestSlot ──▶ TaskManager
//	TaskManager ──Reported──▶ slots ─────┘        └─▶ NotEnough ────▶ JobMaster
//
//	slot:  Free ──RequestSlot──▶ Pending ──Granted, or in a report──▶ Allocated
//	        ▲                      │ Refused                             │
//	        └──────────────────────┴── Freed, or absent from a report ◀──┘
//
// It promises that equal events give equal effects, that an allocation belongs
// to one job and one slot, that a slot is never asked for twice at a time, and
// that every difference between what a TaskManager reports and what was
// believed is resolved in the TaskManager's favour. It never talks to anyone
// and reads no clock: the endpoint carries its effects out.
package slotmanager
