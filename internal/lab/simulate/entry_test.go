package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Each place of an index gets the same part of all writes, whatever the other indexes have.
func TestEntriesAreEven(t *testing.T) {
	for _, counts := range [][]int{{1}, {3, 2}, {1, 1, 1}, {2, 3, 4}, {100}, {100, 7}, {9, 10, 11, 1}, {10, 10, 5}} {
		list := entries(counts, rand.New(rand.NewPCG(1, 1)))
		if most := entryCount(counts); len(list) > most {
			t.Errorf("%v: got %d entries, want %d at most", counts, len(list), most)
		}
		for index, n := range counts {
			parts := make([]float64, n)
			for _, e := range list {
				parts[e.places[index]] += e.part
			}
			for place, got := range parts {
				if math.Abs(got-1/float64(n)) > 1e-9 {
					t.Errorf("%v: place %d of index %d gets %v, want %v", counts, place, index, got, 1/float64(n))
				}
			}
		}
	}
}
