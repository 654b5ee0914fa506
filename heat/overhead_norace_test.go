//go:build !race

package heat_test

import "testing"

// Under the race detector pools drop what they hold, and calls allocate hundreds of times more. There, BenchmarkRecorded holds the bounds: it
// runs in `make test` without it.
func TestRecordedAllocations(t *testing.T) {
	plain, recorded := startPair(t)
	for _, operation := range recordedCalls {
		added := garbage(t, operation.call, recorded).allocations - garbage(t, operation.call, plain).allocations
		if most := mostAdded[operation.name]; added > most {
			t.Errorf("a recorded %s allocates %v times more than an unrecorded one, want at most %v", operation.name, added, most)
		}
	}
}
