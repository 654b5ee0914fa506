//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"syscall"
)

// ownGroup starts a command in a process group of its own, all of which is killed when the command's context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
}

// killGroup kills what a command started and left behind, and the command itself if it still runs.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// bounded is a command line that gives a program no more than that many bytes of addresses: a break may make a loop
// endless, and the loop may append.
func bounded(bytes int64, argv []string) []string {
	return append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$0" "$@"`, bytes>>10)}, argv...)
}
