// Package memory holds sizes in bytes and the budget of a process: how the
// configured sizes of a TaskManager or JobManager are split into named parts.
//
// It promises Flink's arithmetic to the byte, Flink's rules for which setting
// decides when several are given, and Flink's words when a configuration does
// not add up. It never allocates or measures memory, and it reads no file: a
// Source hands it the settings.
package memory
