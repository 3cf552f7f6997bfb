// Package files reads and writes files as streams: Source reads them, also in
// directories that grow, and Sink writes them.
//
// It promises that every line of every file is read exactly once, whatever the
// cut into splits, that an error names file and byte offset, that a part file is
// seen under its name only when it is complete, and that an attempt whose place
// another has taken adds none. It never lists files by itself: which part of which
// file a subtask reads is decided by the source's coordinator.
package files
