// Package memory is the keyed state that lives in memory: a table from keys to
// accumulators, cut into one open-addressing sub-table per key group.
//
// It promises that
//
//   - an accumulator lies beside its key, so that a batch of updates costs one
//     or two cache misses a key;
//   - when the accumulator type holds no pointers, no memory of the table that
//     grows with the keys holds any either, so that a cycle of the garbage
//     collector costs the same however many keys there are (the one exception,
//     keys without a DecodeKey, is told at Options);
//   - nothing is allocated per operation, only per doubling or page;
//   - the longest stall is that of doubling one key group, and rows of string
//     keys are never copied by it.
//
// A table belongs to one goroutine and never locks. It never drops or spills a
// key by itself, and it knows nothing of checkpoints.
//
// Integers are kept in place, the accumulator with them:
//
//	group ─► entries: │ V key │ V key │   │ V key │ …       linear probing
//
// All other keys are bytes. Slots say where their rows are, rows lie in pages
// in the order in which the keys came, and a slot carries enough of the hash
// that a doubling looks at no row:
//
//	group ─► slots: │ hash32 ref │ │ hash32 ref │ …          linear probing
//	                         │
//	         pages: │ V len key │ V len key │ …              64 KiB each
//
// Where V holds pointers, its place in the row is taken by a number, and the
// accumulators are in typed chunks beside.
package memory
