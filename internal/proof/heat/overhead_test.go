package main

import (
	"strings"
	"testing"
)

// The figures of a benchmark are found in its line, whatever is between them.
func TestBenchLine(t *testing.T) {
	const line = "BenchmarkRecorded/PutItem-2         \t     100\t         3.000 added-allocs/call\t      -412.5 added-ns/call\t         0.750 noise-%\t         2.310 overhead-%\t     17862 plain-ns/call\n"
	found := benchLine.FindStringSubmatch(line)
	if got, want := strings.Join(found[min(1, len(found)):], " "), "PutItem 3.000 -412.5 0.750 2.310 17862"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMedian(t *testing.T) {
	for want, of := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 3, 2}, 7: {7}} {
		if got := median(of); got != want {
			t.Errorf("of %v: got %v, want %v", of, got, want)
		}
	}
}
