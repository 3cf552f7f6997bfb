//go:build !unix

package program

import "os/exec"

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the program; its children are not known here.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
