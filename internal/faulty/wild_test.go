package faulty_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/faulty"
)

// Every setting is changed in some struct and left alone in another, and the same seed changes the same.
func TestWild(t *testing.T) {
	type inner struct {
		Share float64
		On    bool
	}
	type options struct {
		Name  string
		N     int
		Kind  uint8
		For   time.Duration
		Inner inner
		Any   any
	}
	draw := func(seed uint64) (o options) {
		faulty.Wild(rand.New(rand.NewPCG(1, seed)), &o)
		return o
	}
	var changed [6]int
	for seed := range uint64(1000) {
		o := draw(seed)
		for i, is := range []bool{o.Name != "", o.N != 0, o.Kind != 0, o.For != 0, o.Inner.Share != 0, o.Inner.On} {
			if is {
				changed[i]++
			}
		}
		if again := draw(seed); o.Any != nil || again.Name != o.Name || again.N != o.N || again.For != o.For {
			t.Fatalf("got %+v and %+v", o, again)
		}
	}
	for i, n := range changed {
		if n < 100 || n > 450 {
			t.Errorf("setting %d was changed %d times of 1,000", i, n)
		}
	}
}
