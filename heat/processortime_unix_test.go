//go:build unix

package heat_test

import (
	"syscall"
	"time"
)

// processorTime returns how long processors have worked for this process. Unlike the time of day it does not grow while
// other processes have them.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // there is no such error with these arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
