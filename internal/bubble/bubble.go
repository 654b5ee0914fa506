// Package bubble runs tests on virtual time, in a bubble of testing/synctest, with the race detector too.
//
// In Go 1.26 timers of one bubble share one context of the race detector. Two goroutines that receive from expired timers at once
// use it at once, and the process ends with a SIGSEGV inside the detector. On one processor nothing happens at once, and
// the detector sees the same races: it compares what happened before what, not when.
package bubble

import (
	"testing"
	"testing/synctest"
)

// Test is synctest.Test. With the race detector the process has one processor while f runs.
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer oneProcessor()()
	synctest.Test(t, f)
}
