//go:build race

package main

import "runtime"

// Go 1.26 crashes inside the race detector if timers of one synctest bubble are received from on two processors at once.
func init() { runtime.GOMAXPROCS(1) }
