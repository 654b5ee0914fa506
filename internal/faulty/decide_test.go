package faulty_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatsink-go/heatsink/internal/faulty"
)

// decided asks for n requests of an operation.
func decided(decide faulty.Decide, operation string, n int) (faults []faulty.Fault) {
	for range n {
		faults = append(faults, decide(faulty.Request{Operation: operation}))
	}
	return faults
}

func TestScript(t *testing.T) {
	faults := []faulty.Fault{faulty.Late, faulty.None, faulty.Denied}
	script := faulty.Script(faults...)
	if got, want := decided(script, "Query", 5), append(faults, faulty.None, faulty.None); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := faulty.Script()(faulty.Request{}); got != faulty.None {
		t.Errorf("an empty script: got %v", got)
	}
}

// A decision of some operations is not asked for others.
func TestOf(t *testing.T) {
	script := faulty.Script(faulty.Late, faulty.Denied).Of("PutItem", "Query")
	var got []faulty.Fault
	for _, operation := range []string{"GetItem", "Query", "Scan", "PutItem", "PutItem"} {
		got = append(got, decided(script, operation, 1)...)
	}
	if want := []faulty.Fault{faulty.None, faulty.Late, faulty.None, faulty.Denied, faulty.None}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The same seed decides the same; the share of faults is as asked for, and each is drawn.
func TestRandom(t *testing.T) {
	draw := func(seed uint64, percent int) []faulty.Fault {
		return decided(faulty.Random(rand.New(rand.NewPCG(1, seed)), percent, faulty.Throttled, faulty.LostAnswer), "PutItem", 10_000)
	}
	if !slices.Equal(draw(1, 30), draw(1, 30)) || slices.Equal(draw(1, 30), draw(2, 30)) {
		t.Error("the seed does not decide")
	}
	for percent, bounds := range map[int][2]int{0: {0, 0}, 30: {2800, 3200}, 100: {10_000, 10_000}} {
		count := map[faulty.Fault]int{}
		for _, f := range draw(3, percent) {
			count[f]++
		}
		wrong := count[faulty.Throttled] + count[faulty.LostAnswer]
		if wrong < bounds[0] || wrong > bounds[1] || wrong+count[faulty.None] != 10_000 || percent > 0 && 3*count[faulty.LostAnswer] < wrong {
			t.Errorf("%d percent: got %v", percent, count)
		}
	}
}
