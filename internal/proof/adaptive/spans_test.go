package main

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSpans(t *testing.T) {
	s, again := spansOf([]int{7, 2, 1, 3, 2})
	if !slices.Equal(s, spans{1, 3, 7, 7}) || again != 1 {
		t.Errorf("got %v, %d", s, again)
	}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOf(rapid.IntRange(0, 30)).Draw(t, "numbers")
		want := map[int]int{}
		twice := 0
		for _, n := range numbers {
			if want[n]++; want[n] > 1 {
				twice++
			}
		}
		s, again := spansOf(slices.Clone(numbers))
		for n := -1; n < 32; n++ {
			if s.has(n) != (want[n] > 0) {
				t.Fatalf("%v has %d: got %v", s, n, s.has(n))
			}
		}
		if again != twice {
			t.Fatalf("got %d again, want %d", again, twice)
		}
	})
}
