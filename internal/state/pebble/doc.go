// Package pebble puts the state for which there is no room in memory into files, with
// Pebble, a log-structured merge tree.
//
// It promises that
//
//   - a store is in a directory of its own, which is removed when it is closed;
//   - an error of the disk is told by the next call, with the directory, and ends
//     neither the process nor anything that belongs to another store;
//   - nobody waits for a disk that has failed.
//
// It never writes a log ahead and never waits for the disk to have taken anything for
// good: state comes back from checkpoints, never from here.
//
// # One store for each operator's subtask
//
// A Pebble costs a few goroutines and, as long as little is written to it, some tens
// of kilobytes; what it writes to in memory grows with use, up to a size that is a
// part of the operator's managed memory. It is opened when the first key is to leave
// the memory, so that state which fits costs nothing. With one for each subtask, the
// disk space of a task comes back when its directory is removed, rather than by
// compaction; no task waits for another's writes; and an error has one task to fail.
// What is worth sharing is shared by all stores of a process: the cache of blocks.
//
// # What is taken stays in the files
//
// A key that is read goes into memory, is changed there, and is put again sooner or
// later. Meanwhile its old value stays in the files, and a set in memory says that it
// does not count; only when that set is full, or the key will not come back, is there
// anything written to remove it. So what is written is what is put: group by group.
package pebble
