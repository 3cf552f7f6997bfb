// Package local moves batches between the tasks of one process: a Partition is a
// set of bounded queues, one a consumer, and a Gate reads queues in turn.
//
// It promises that a batch changes hands by pointer, that a queue never holds
// more batches than its depth, that elements leave a queue in the order they
// came, and that a consumer may ask for a partition before it exists. Package
// network reads the same queues for consumers elsewhere and feeds the same gates
// from producers elsewhere. It never encodes a batch and never starts a
// goroutine.
//
//	task ── Emit ──▶ Queue ◀── Take ── Gate ◀── Poll ── task
//	                   ▲                 ▲
//	       view of a remote consumer     channel of a remote producer
//
// Locks: a queue's and a gate's mutex guard their fields only and are never held
// across a call into the other.
package local
