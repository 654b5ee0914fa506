package scenario

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// What is drawn must have the shares that the distribution says.
func TestDrawFollowsShares(t *testing.T) {
	const draws = 200_000
	for name, k := range map[string]Keys{
		"uniform":     {Uniform: &Uniform{Count: 20}},
		"zipf 0.5":    {Zipf: &Zipf{Count: 20, Exponent: 0.5}},
		"zipf 1":      {Zipf: &Zipf{Count: 20, Exponent: 1}},
		"zipf 2.5":    {Zipf: &Zipf{Count: 20, Exponent: 2.5}},
		"one of zipf": {Zipf: &Zipf{Count: 1, Exponent: 1}},
		"hot":         {Hot: &Hot{Key: "hot", Share: 0.3, Count: 10}},
		"tenants":     {Tenants: &Tenants{Count: 20, Largest: 0.4}},
		"listed":      {Listed: &Listed{Shares: []Share{{"a", 0.5}, {"b", 0.2}}, Count: 3}},
		"one":         {One: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			d := k.Distribution()
			r := rand.New(rand.NewPCG(1, 1))
			heads, ranks := make([]float64, len(d.Heads)), make([]float64, d.Tail.Count)
			for range draws {
				if head, rank := d.Draw(r, 0); head >= 0 {
					heads[head]++
				} else {
					ranks[rank]++
				}
			}
			sum := 0.0
			check := func(got, share float64) {
				sum += share
				if spread := math.Sqrt(draws * share * (1 - share)); math.Abs(got-draws*share) > 5*spread+1 {
					t.Errorf("got %v of %v, want %v", got, draws, draws*share)
				}
			}
			for i := range heads {
				check(heads[i], d.Heads[i].Active(0))
			}
			for i := range ranks {
				check(ranks[i], d.TailShare(0)*d.Tail.Share(int64(i)))
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("the shares add up to %v", sum)
			}
		})
	}
}

// The sum of a long tail is partly an integral: it must be as good as exact.
func TestZipfSumOfManyKeys(t *testing.T) {
	z := newZipf(3*exactRanks, 0.9)
	want := 0.0
	for k := 1; k <= 3*exactRanks; k++ {
		want += math.Pow(float64(k), -0.9)
	}
	if math.Abs(z.sum/want-1) > 1e-9 {
		t.Errorf("got %v, want %v", z.sum, want)
	}
}

func TestFlashAndDate(t *testing.T) {
	flash := Keys{Flash: &Flash{Key: "f", Share: 0.8, At: Duration(time.Second), For: Duration(2 * time.Second), Count: 5}}
	d := flash.Distribution()
	for at, want := range map[time.Duration]float64{0: 0, time.Second: 0.8, 2900 * time.Millisecond: 0.8, 3 * time.Second: 0} {
		if got := d.Heads[0].Active(at); got != want || math.Abs(d.TailShare(at)-(1-want)) > 1e-12 {
			t.Errorf("at %v: got %v and a tail of %v, want %v", at, got, d.TailShare(at), want)
		}
	}
	date := Keys{Date: &Date{Prefix: "DATE#", Period: layout.Day}}
	d = date.Distribution()
	if got := d.Heads[0].Key(time.Date(2026, 11, 18, 23, 59, 59, 0, time.UTC)); got != "DATE#2026-11-18" {
		t.Errorf("got %s", got)
	}
}

func TestRates(t *testing.T) {
	ramp := Load{Ramp: &Ramp{From: 100, To: 300, Over: Duration(10 * time.Second)}}
	steps := Load{Steps: []Step{{Duration(time.Second), 10}, {Duration(3 * time.Second), 50}}}
	for _, c := range []struct {
		load             *Load
		at               time.Duration
		rate, operations float64
	}{
		{&Load{PerSecond: 5}, 4 * time.Second, 5, 20},
		{&ramp, 0, 100, 0},
		{&ramp, 5 * time.Second, 200, 750},
		{&ramp, 20 * time.Second, 300, 2000 + 3000},
		{&steps, 500 * time.Millisecond, 0, 0},
		{&steps, 2 * time.Second, 10, 10},
		{&steps, 5 * time.Second, 50, 20 + 100},
	} {
		if got := c.load.Rate(c.at); got != c.rate {
			t.Errorf("%+v at %v: got %v, want %v", c.load, c.at, got, c.rate)
		}
		if got := c.load.Operations(c.at); math.Abs(got-c.operations) > 1e-9 {
			t.Errorf("%+v until %v: got %v operations, want %v", c.load, c.at, got, c.operations)
		}
	}
	if ramp.Peak() != 300 || steps.Peak() != 50 {
		t.Errorf("got %v and %v", ramp.Peak(), steps.Peak())
	}
}
