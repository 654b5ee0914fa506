package bins

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// enumerate calls do with the number of shards on each partition, for every placement, all of which are equally likely.
func enumerate(s Spread, do func(on []int)) (placements int) {
	on := make([]int, s.Partitions)
	var place func(left int)
	place = func(left int) {
		if left == 0 {
			placements++
			do(on)
			return
		}
		for i := range on {
			on[i]++
			place(left - 1)
			on[i]--
		}
	}
	place(s.Shards)
	return placements
}

// Every figure is exact: it equals what counting all placements gives.
func TestSpreadIsExact(t *testing.T) {
	for _, s := range []Spread{{1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 4}, {4, 3}, {6, 4}, {5, 6}, {7, 3}, {9, 2}} {
		fullest, covered := make([]float64, s.Shards+1), make([]float64, s.Partitions+1)
		sums := map[Choice]float64{}
		const offered, free = 2.6, 0.8
		n := float64(enumerate(s, func(on []int) {
			most, used, uniform := 0, 0, 0.0
			for _, k := range on {
				most = max(most, k)
				if k > 0 {
					used++
				}
				uniform += min(free, offered*float64(k)/float64(s.Shards))
			}
			fullest[most]++
			covered[used]++
			sums[Uniform] += uniform
			sums[Aware] += min(offered, free*float64(used))
		}))
		f := newFactorials(s.Shards)
		below := 0.0
		for m, times := range fullest {
			below += times / n
			if m > 0 {
				near(t, "none above", f.noneAbove(m, s), below)
			}
		}
		mean := 0.0
		for k, times := range covered {
			near(t, "covered", thrown(s).mean(func(c int) float64 {
				if c == k {
					return 1
				}
				return 0
			}), times/n)
			mean += float64(k) * times / n
		}
		near(t, "mean covered", covers(s), mean)
		for choice, sum := range sums {
			near(t, string(choice), s.Accepted(choice, offered, free), sum/n)
		}
	}
}

// covers is the number of partitions that have a shard, on average.
func covers(s Spread) float64 {
	return thrown(s).mean(func(covered int) float64 { return float64(covered) })
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// X20: the figures that others have simulated: shards on the fullest partition in half and in 99 of 100 cases, and
// partitions that have a shard, on average. Three of the simulated ones were off by one.
func TestSpreadFigures(t *testing.T) {
	type cell struct {
		m50, m99 int
		covered  float64
	}
	partitions := []int{4, 10, 20, 50, 100, 500}
	for shards, row := range map[int][]cell{
		5:   {{2, 4, 3.0}, {2, 3, 4.1}, {1, 3, 4.5}, {1, 2, 4.8}, {1, 2, 4.9}, {1, 2, 5.0}},
		8:   {{3, 6, 3.6}, {2, 4, 5.7}, {2, 3, 6.7}, {1, 3, 7.5}, {1, 2, 7.7}, {1, 2, 7.9}},
		10:  {{4, 7, 3.8}, {3, 5, 6.5}, {2, 4, 8.0}, {2, 3, 9.2}, {1, 3, 9.6}, {1, 2, 9.9}},
		20:  {{7, 11, 4.0}, {4, 7, 8.8}, {3, 5, 12.8}, {2, 4, 16.6}, {2, 3, 18.2}, {1, 2, 19.6}},
		50:  {{16, 22, 4.0}, {9, 13, 9.9}, {6, 9, 18.5}, {4, 6, 31.8}, {3, 5, 39.5}, {2, 3, 47.6}},
		75:  {{23, 30, 4.0}, {12, 17, 10}, {8, 11, 19.6}, {5, 7, 39.0}, {4, 6, 53}, {2, 3, 69.7}},
		100: {{30, 38, 4.0}, {15, 20, 10}, {9, 13, 19.9}, {6, 8, 43.4}, {4, 6, 63.4}, {2, 4, 90.7}},
		200: {{57, 68, 4.0}, {27, 34, 10}, {16, 21, 20}, {9, 13, 49.1}, {6, 9, 86.6}, {3, 5, 165}},
		750: {{201, 221, 4.0}, {88, 101, 10}, {49, 59, 20}, {24, 30, 50}, {15, 19, 99.9}, {6, 9, 389}},
	} {
		for i, want := range row {
			s := Spread{shards, partitions[i]}
			if m50, m99 := s.Fullest(0.5), s.Fullest(0.99); m50 != want.m50 || m99 != want.m99 {
				t.Errorf("%v: got %d and %d on the fullest, want %d and %d", s, m50, m99, want.m50, want.m99)
			}
			if got := covers(s); math.Abs(got-want.covered) > 0.1+0.001*want.covered {
				t.Errorf("%v: got %.2f covered, want %v", s, got, want.covered)
			}
			uniform := float64(shards) / float64(want.m99)
			if got := s.Sustained(Uniform, 0.99); math.Abs(got-uniform) > 1e-9 {
				t.Errorf("%v: got %v sustained, want %v", s, got, uniform)
			}
		}
	}
}

// X20: ten shards are far from 10,000 write units a second unless there are many partitions.
func TestTenShardsAreNotTenThousand(t *testing.T) {
	for partitions, want := range map[int]float64{4: 2480, 10: 3860, 100: 8110} {
		s := Spread{10, partitions}
		f := newFactorials(10)
		mean, below := 0.0, 0.0
		for m := 1; m <= 10; m++ {
			p := f.noneAbove(m, s)
			mean += (p - below) * 10_000 / float64(m)
			below = p
		}
		if math.Abs(mean-want) > 0.01*want {
			t.Errorf("on %d partitions: got %.0f on average, want %.0f", partitions, mean, want)
		}
	}
}

// What is sustained and accepted is within its bounds, and grows with shards, partitions and load.
func TestSpreadProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spread{rapid.IntRange(1, 300).Draw(t, "shards"), rapid.IntRange(1, 300).Draw(t, "partitions")}
		confidence := rapid.Float64Range(0.5, 0.9999).Draw(t, "confidence")
		offered := rapid.Float64Range(0, 500).Draw(t, "offered")
		bound := float64(min(s.Shards, s.Partitions))
		uniform, aware := s.Sustained(Uniform, confidence), s.Sustained(Aware, confidence)
		if uniform > aware+1e-9 || aware > bound || uniform < 1-1e-9 {
			t.Errorf("%v sustains %v uniformly and %v aware, of %v", s, uniform, aware, bound)
		}
		if m := s.Fullest(confidence); m < s.fair() || m > s.Shards {
			t.Errorf("%v has %d on the fullest", s, m)
		}
		accepted := map[Choice]float64{}
		for _, choice := range []Choice{Uniform, Aware} {
			accepted[choice] = s.Accepted(choice, offered, 1)
			if got := accepted[choice]; got > min(offered, bound)*(1+1e-9) || got < 0 {
				t.Errorf("%v accepts %v of %v", s, got, offered)
			}
			if more := s.Accepted(choice, offered+0.1, 1); more < accepted[choice]*(1-1e-9) {
				t.Errorf("%v accepts %v of %v, but %v of more", s, accepted[choice], offered, more)
			}
			if wider := (Spread{s.Shards, s.Partitions + 1}).Accepted(choice, offered, 1); wider < accepted[choice]*(1-1e-9) {
				t.Errorf("%v accepts %v, but %v with another partition", s, accepted[choice], wider)
			}
		}
		if accepted[Uniform] > accepted[Aware]*(1+1e-9) {
			t.Errorf("%v accepts more if it does not look: %v", s, accepted)
		}
		if more := (Spread{s.Shards + 1, s.Partitions}).CoveredAt(confidence); more < s.CoveredAt(confidence) {
			t.Errorf("%v covers %d, one more shard %d", s, s.CoveredAt(confidence), more)
		}
	})
}

func TestSpreadOfAnything(t *testing.T) {
	for _, s := range []Spread{{}, {-1, -1}, {math.MaxInt, 1}, {1, math.MaxInt}} {
		for _, choice := range []Choice{Uniform, Aware} {
			if got := s.Sustained(choice, 0.99); math.Abs(got-1) > 1e-9 {
				t.Errorf("%v sustains %v, want 1", s, got)
			}
			if got := s.Accepted(choice, 5, 1); math.Abs(got-1) > 1e-9 {
				t.Errorf("%v accepts %v of 5, want 1", s, got)
			}
		}
	}
}
