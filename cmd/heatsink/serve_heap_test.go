package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// Garbage may be half of what is in use and 32 MB.
func TestHeapPercent(t *testing.T) {
	for _, c := range []struct {
		inUse uint64 // MB
		want  int
	}{{0, 850}, {1, 850}, {4, 850}, {8, 450}, {32, 150}, {64, 100}, {1 << 10, 53}, {1 << 20, 50}} {
		if got := heapPercent(c.inUse << 20); got != c.want {
			t.Errorf("%d MB: got %d%%, want %d%%", c.inUse, got, c.want)
		}
	}
}

// collectorPercent is what the garbage collector is set to.
func collectorPercent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// The percentage follows what is in use, collection after collection, and is what it
// was when the server is over.
func TestSteadyHeapFollowsWhatIsInUse(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(123))
	undo := steadyHeap()
	// settle collects until the percentage is right, which is soon after a collection.
	settle := func(what string) int {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
			runtime.GC()
			for range 100 {
				if got := collectorPercent(); got == heapPercent(heapInUse()) {
					return got
				}
				time.Sleep(time.Millisecond)
			}
		}
		t.Fatalf("%s: got %d%%, want %d%% for %d bytes in use", what, collectorPercent(), heapPercent(heapInUse()), heapInUse())
		return 0
	}
	small := settle("little in use")
	data := make([]byte, 512<<20) // never written to, so it takes no memory of the machine
	if large := settle("much in use"); large >= small || large > heapShare+10 {
		t.Errorf("%d%% with little in use and %d%% with 512 MB more", small, large)
	}
	runtime.KeepAlive(data)
	data = nil
	if again := settle("little again"); again < small/2 {
		t.Errorf("%d%% at first, %d%% after all", small, again)
	}
	undo()
	runtime.GC()
	time.Sleep(10 * time.Millisecond) // for a cleanup that must do nothing
	if got := collectorPercent(); got != 123 {
		t.Errorf("got %d%% after all, want the 123%% of before", got)
	}
}
