// Package memory is the keyed state that lives in memory: tables from keys to
// values, cut into one sub-table per key group.
//
//	Table, Cells   keys to accumulators of one type
//	Blobs          keys to bytes
//	Entries        keys to maps, whose entries are linked in the order of creation;
//	BlobEntries    with values of one type, or bytes
//	Timers         moments of keys, in the order of time
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
//   - the longest stall is that of doubling one key group, or of moving the rows or
//     values of one together when half of them are gone; rows of string keys are
//     never copied by a doubling;
//   - a freeze costs a little for each key group and page, whatever they hold, and
//     the view that it gives can be read by another goroutine while the table
//     changes.
//
// A table belongs to one goroutine. It never drops or spills a key by itself, never
// reads a clock, and knows nothing of files. But for the exchange with a view it
// never locks.
//
// # Layout
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
// accumulators are in typed chunks beside. Values that are bytes lie in an arena of
// the key group, in chunks of few sizes; the accumulator says where.
//
// Deleting moves entries and slots back, so that there are no tombstones; a row is
// marked dead, and the pages of a group are written anew when half of them are.
//
// # Freezing
//
// Copying a key group before its first change would copy all of a large table in
// one batch, when keys are spread over it. So the table goes on in the memory that
// was frozen, and 4 KiB of it are kept as an image before they change:
//
//	table's goroutine                         view's goroutine
//	a page changes for the first time?        copies the group, 256 KiB at a time:
//	  lock, keep an image, unlock               lock, an image or else the live page, unlock
//	change it                                 from then on nothing is kept for the group
//
// What is behind the end of a page at the freeze, and memory that the table has left
// since, need no images. In between checkpoints a group that has not been written to
// keeps a frozen that is done, so that its first change is noted: that is how a view
// knows which groups have changed since which freeze.
package memory
