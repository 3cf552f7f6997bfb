// Package dispatcher is the endpoint that takes jobs: it gives each one a
// JobMaster, answers what becomes of it, and remembers it when it has ended.
//
//	Submit ──▶ INITIALIZING ── factory made a JobMaster ──▶ JobMaster's view, until it says "ended"
//	                └───────── factory failed ────────────▶ FAILED
//	ended: FINISHED, CANCELED, FAILED ──▶ kept in the finished-job store, archived, artifact let go
//	       SUSPENDED (the process ends) ─▶ told to whoever waits, nothing let go
//
// It promises that a job id runs at most once in the life of the process, that
// the view of a running job is never stale, and that whoever waits for a job
// gets its last view exactly once. It never looks into a job: what is decided
// about its tasks is its JobMaster's.
//
// All state belongs to one loop, which the JobMasters share, so that what
// happens in one process happens in one order. The exported methods that take a
// context are for other goroutines; they ask the loop.
package dispatcher
