package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// heapShare lets garbage be half of what is in use, in percent, so that large
	// requests do not take twice the memory they are allowed.
	heapShare = 50

	// heapSpare is garbage that there may be besides, in bytes. Without it the heap of
	// a server with little data would be collected all the time: enginebench's queries
	// then take 102 µs of CPU instead of 62.
	heapSpare = 32 << 20

	// heapLeast is less than any server has in use. It bounds the percentage.
	heapLeast = 4 << 20
)

// steadyHeap sets the garbage collector up for a server, until the function that it
// returns is called. GOMEMLIMIT still holds. The collector takes a percentage of what
// is in use, so steadyHeap sets it again after each collection.
func steadyHeap() (undo func()) {
	h := &heap{}
	before := debug.SetGCPercent(heapPercent(heapInUse()))
	h.afterCollection()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.left = true
		debug.SetGCPercent(before)
	}
}

// heap is the process's heap, while a server keeps it steady.
type heap struct {
	mu   sync.Mutex
	left bool // to itself
}

// afterCollection adjusts the percentage once the next collection is over. That one
// frees a small object, whose cleanup does it. A memory limit that follows the heap
// instead would replace GOMEMLIMIT, and is no faster.
func (h *heap) afterCollection() {
	found := &struct{ self *heap }{h} // with a pointer: objects without are freed in groups, later
	runtime.AddCleanup(found, (*heap).adjust, h)
}

func (h *heap) adjust() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left {
		return
	}
	debug.SetGCPercent(heapPercent(heapInUse()))
	h.afterCollection()
}

// heapPercent returns the percentage at which garbage is heapShare of what is in use,
// and heapSpare.
func heapPercent(inUse uint64) int {
	return int(heapShare + 100*heapSpare/max(inUse, heapLeast))
}

// heapInUse returns what the last collection found in use, in bytes.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
