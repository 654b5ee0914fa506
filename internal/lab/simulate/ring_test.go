package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What is added is taken, once, at its time or later.
func TestRing(t *testing.T) {
	r := newRing(10, 5)
	r.add(6, 7, 3) // 2 each at 7, 8, 9
	r.add(1, 3, 1) // before the first: due at once
	r.add(4, 40, 2)
	var got []float64
	for _, until := range []int64{5, 6, 8, 9, 30} {
		got = append(got, r.take(until))
	}
	want := []float64{1, 0, 4, 2, 4} // what was out of reach comes at the end of the ring
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("got %v, want %v", got, want)
			break
		}
	}
	if r.sum != 0 {
		t.Errorf("%v are left", r.sum)
	}
}

func TestPoisson(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, mean := range []float64{0, 0.01, 3, 49, 51, 1000} {
		const n = 20_000
		sum, squares := 0.0, 0.0
		for range n {
			x := poisson(r, mean)
			sum += x
			squares += x * x
		}
		got, variance := sum/n, squares/n-sum/n*sum/n
		if math.Abs(got-mean) > 5*math.Sqrt(mean/n)+1e-9 || math.Abs(variance-mean) > 0.1*mean+0.01 {
			t.Errorf("mean %v: got %v with a variance of %v", mean, got, variance)
		}
	}
	if got := poisson(r, math.NaN()); got != 0 {
		t.Errorf("got %v", got)
	}
}

// The chances of targets are those with which place.Chooser draws.
func TestChancesAreThoseOfTheChooser(t *testing.T) {
	list := []*target{{shard: 0, weight: 0.25}, {shard: 1, weight: 0.25, heats: []float64{3}}, {shard: 2, weight: 0.25, heats: []float64{1}}, {shard: 3, weight: 0.25}}
	see(list, 0, 1)
	// Of 16 pairs of draws: a cold one first, 4 each; a hot one first and a cold one second, 2 each; and the pairs of hot ones.
	want := map[int]float64{0: 6.0 / 16, 3: 6.0 / 16, 2: 3.0 / 16, 1: 1.0 / 16}
	for _, s := range list {
		if math.Abs(s.next-want[s.shard]) > 1e-12 {
			t.Errorf("shard %d: got %v, want %v", s.shard, s.next, want[s.shard])
		}
	}
}
