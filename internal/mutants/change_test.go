package main

import (
	"slices"
	"testing"
)

func TestShuffle(t *testing.T) {
	var changes []change
	for line := range 20 {
		changes = append(changes, change{line: line, operator: "string"}, change{line: line, operator: "drop"}, change{line: line, operator: "negate"})
	}
	order := func(seed uint64) []change {
		shuffled := slices.Clone(changes)
		shuffle(shuffled, seed)
		return shuffled
	}
	first := order(1)
	if !slices.Equal(first, order(1)) {
		t.Error("the same seed gave two orders")
	}
	if slices.Equal(first, order(2)) {
		t.Error("two seeds gave one order")
	}
	for turn := range 3 {
		lines := map[int]bool{}
		for _, c := range first[turn*20 : turn*20+20] {
			lines[c.line] = true
			if (c.operator == "string") != (turn == 2) {
				t.Errorf("line %d: %s in turn %d", c.line, c.operator, turn)
			}
		}
		if len(lines) != 20 {
			t.Errorf("turn %d has %d lines of 20", turn, len(lines))
		}
	}
}
