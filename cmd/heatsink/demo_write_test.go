package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	var values []time.Duration
	if got := percentile(values, 99); got != 0 {
		t.Errorf("of none: got %v", got)
	}
	for n := 200; n > 0; n-- {
		values = append(values, time.Duration(n))
	}
	if p50, p99, all := percentile(values, 50), percentile(values, 99), percentile(values, 100); p50 != 100 || p99 != 198 || all != 200 {
		t.Errorf("got %d, %d, %d, want 100, 198, 200", p50, p99, all)
	}
}
