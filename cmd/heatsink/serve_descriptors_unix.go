//go:build unix

package main

import (
	"math"
	"syscall"
)

// descriptorLimit returns how many files the process may have open, 0 if that is
// not known. Go has raised the soft limit to the hard one by now.
func descriptorLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
