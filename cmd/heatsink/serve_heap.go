package main

import (
	"runtime"
	"runtime/debug"
)

const (
	// ballast is memory that is never touched and so costs none. Without much data
	// the heap would be so small that it would be collected all the time.
	ballast = 64 << 20

	// gcPercent lets garbage be half of what is in use, so that large requests do
	// not take twice the memory they are allowed.
	gcPercent = 50
)

// steadyHeap sets the garbage collector up for a server, until the function that it
// returns is called.
func steadyHeap() (undo func()) {
	weight := make([]byte, ballast)
	before := debug.SetGCPercent(gcPercent)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(weight)
	}
}
