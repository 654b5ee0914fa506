package faulty_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/faulty"
)

func TestUpTo(t *testing.T) {
	delay := faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 3)
	seen := map[time.Duration]bool{}
	for range 100 {
		seen[delay(faulty.Request{})] = true
	}
	if len(seen) != 4 || !seen[0] || !seen[3] {
		t.Errorf("got %v, want 0 to 3", seen)
	}
	if d := faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 0)(faulty.Request{}); d != 0 {
		t.Errorf("got %v, want no delay", d)
	}
}

func TestDelayOf(t *testing.T) {
	delay := faulty.Exactly(time.Minute).Of(faulty.Late)
	for fault, want := range map[faulty.Fault]time.Duration{faulty.Late: time.Minute, faulty.None: 0, faulty.LostAnswer: 0} {
		if got := delay(faulty.Request{Fault: fault}); got != want {
			t.Errorf("%s: got %v, want %v", fault, got, want)
		}
	}
}
