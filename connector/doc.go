// Package connector holds what every sink and source of Weir implements, and what
// the engine promises to them in return.
//
// A Sink writes in two phases, so that each record is seen once whatever fails:
//
//	records ──▶ Writer ──Prepare──▶ committables ──checkpoint complete──▶ Committer ──▶ seen
//	                                     │
//	                                     └── kept in the checkpoint; committed again after a restore
//
// It promises that a committable is handed to the Committer only when the
// checkpoint it belongs to is complete, so that what is committed is never taken
// back; and that it is handed over again after every restore from a checkpoint
// that holds it, until one that does not hold it is complete. It never calls an
// implementation on more than one goroutine at a time. It knows no system: those
// have packages of their own below it.
package connector
