// Package state is what one subtask of an operator remembers for each key:
// values, lists, maps, reductions, aggregates and timers, with time-to-live,
// and the snapshots that are written of them and restored from.
//
// It promises that
//
//   - a view (Value, List, Map, …) works on the key that was last set, without
//     boxing, and without allocation where the type holds no pointers;
//   - what holds pointers is kept encoded, so that neither the garbage
//     collector nor a snapshot ever meets a live pointer of the user;
//   - Freeze takes microseconds whatever the size is, and the snapshot it gives
//     may be written by another goroutine while the subtask goes on;
//   - state may be larger than the memory it is given: then what was not used of late
//     is on a disk, and snapshots are the same;
//   - a snapshot is cut by key group: groups can be read by a subtask of another
//     parallelism, and those that did not change are not written again;
//   - a file that is cut short, damaged or of another operator is refused, with
//     its name and the offset, before any of its state is used, and so is a state
//     whose type changed in a way that its fields' names do not explain.
//
// It never reads a clock but the one it was given, never starts a goroutine, and
// never opens a file: it writes to an io.Writer and reads from an io.ReaderAt, and what
// its disk is it is told.
//
// # The life of a backend
//
//	NewKeyed ─► NewValue, NewList, NewTimers, … ─► Restore ─► SetKey, Get, Set, …
//	                                                             │   ▲
//	                                                      Freeze ▼   │ (goes on)
//	                                                          Snapshot ─► Write ─► Release
//
// Everything but a Snapshot belongs to the goroutine of the task. A Snapshot
// belongs to the one goroutine that writes it.
//
// # More than fits into memory
//
//	         SetKey: more than there is room for?
//	tables ─────────────────────────────────────────► disk
//	       ◄─────────────────────────────────────────
//	         a view works on a key that is there
//
// A key with all that a state has of it, a map or a list as a whole, is in the tables
// or on the disk, never in both. So the tables, snapshots and views of those that stay
// in memory are used as they are; only a group that has something on the disk is asked
// twice. Keys go there group by group, half of a group or more at a time: those that
// were not used since the last time, which a bit for each tells. Timers stay in memory.
//
// # Errors of the user's types
//
// A type that encodes itself may fail to, and then there is no value that a view
// could give or keep. Views panic with an *Error in this case, which names the
// state; the task turns it into its failure.
package state
