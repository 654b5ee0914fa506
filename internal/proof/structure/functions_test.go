package main

import "testing"

func TestFunctions(t *testing.T) {
	same(t, "functions", read(t, "copies").functions(), []function{
		{"total", "first.go:10", 15},
		{"weight", "second.go:11", 13},
		{"mixed", "third.go:9", 13},
		{"var nested", "nested.go:4", 7},
		{"Set.Add", "nested.go:16", 3},
		{"var other", "nested.go:11", 1},
	})
}
