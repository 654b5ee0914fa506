package main

import (
	"strings"
	"testing"
)

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

func TestLongFunctions(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n-1) } // between the braces of n lines
	tree, err := readTree(write(t, map[string]string{
		"go.mod": "module example.com/a\n\ngo 1.26.0\n",
		"a.go":   "package a\n\nfunc short() {" + lines(80) + "}\n\nfunc long() {" + lines(81) + "}\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := tree.static()
	same(t, "long functions", got.LongFunctions, []function{{"long", "a.go:84", 81}})
	if got.Longest.Name != "long" {
		t.Errorf("the longest: got %v, want long", got.Longest)
	}
}
