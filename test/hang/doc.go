//go:build unix

// Package hang shows that nothing outside can stop the loops of the control
// plane: while every disk, program and listing that they have asked for hangs,
// heartbeats go on and every endpoint answers.
//
// One test lets all work beside the loops hang, in virtual time, for much longer
// than any time-out; the other starts a real JobManager and TaskManager and gives
// them files that never open, a log that cannot be written and an archive that is
// never done.
package hang
