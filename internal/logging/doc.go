// Package logging opens the log of a process: lines of key=value pairs, to
// standard error and to a file under the log directory that is followed by a
// new one when it is full.
//
// It promises that a line is written whole, that a file or a standard error which
// cannot be written, or hangs, never stops the process, and that at most a
// configured number of older files is kept. It has no global logger: whoever opens a log hands it
// down. It never logs itself.
package logging
