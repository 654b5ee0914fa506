package main

import "testing"

func TestNames(t *testing.T) {
	same(t, "names", read(t, "small").names(), []names{
		{Package: ".", Types: 2, Functions: 1},
		{Package: "local"},
		{Package: "plan", Types: 4, Functions: 2},
	})
}
