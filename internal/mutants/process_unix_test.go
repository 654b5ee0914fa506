//go:build unix

package main

import "testing"

// A break may make a loop endless, and the loop may append: its process gets only so much.
func TestBounded(t *testing.T) {
	argv := bounded(1<<30, []string{"/bin/sh", "-c", `ulimit -v; echo "$0 $1"`, "a", "b c"})
	out, err := command(t.Context(), ".", nil, argv...)
	if want := "1048576\na b c\n"; out != want || err != nil {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}
