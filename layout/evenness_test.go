package layout

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Values of the regularized incomplete gamma function, computed with 30 digits.
func TestChiSquareTail(t *testing.T) {
	for _, c := range []struct {
		x    float64
		df   int
		want float64
	}{
		{3.841, 1, 0.0500136837639567},
		{0.5, 1, 0.4795001221869535},
		{9, 9, 0.4372741889138671},
		{16.919, 9, 0.04999964084834979},
		{27.877, 9, 0.001000063357757274},
		{100, 9, 1.573517630375394e-17},
		{1, 2, 0.6065306597126334},
		{199, 199, 0.486667825972319},
		{240, 199, 0.02489585645050487},
		{300, 199, 4.776023145770774e-6},
		{150, 199, 0.996077197317625},
		{65535, 65535, 0.4992653724170944},
		{66500, 65535, 0.003973081602588415},
		{1000, 99, 7.229607902491263e-149},
		{1e-6, 3, 0.9999999997340386},
		{5, 1000, 1},
		{0, 9, 1},
		{5, 0, 1},
		{math.Inf(1), 9, 0},
		{1e300, 9, 0},
	} {
		if got := chiSquareTail(c.x, c.df); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%v with %d degrees: got %v, want %v", c.x, c.df, got, c.want)
		}
	}
}

func TestEvenness(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		want   Evenness
		over   bool // 0.2
		skewed bool
		prints string
	}{
		{
			"even",
			[]int{10, 10, 10},
			Evenness{Total: 30, Min: 10, Max: 10, LargestShare: 1. / 3, PValue: 1},
			false, false, "30 items on 3 shards, 10 to 10 each: fullest 33.3%, furthest 0.0% off, p=1, even",
		},
		{
			"a fifth over, 000-22",
			[]int{12, 9, 9, 10},
			Evenness{Total: 40, Min: 9, Max: 12, LargestShare: 0.3, LargestExcess: 0.2, ChiSquare: 0.6, PValue: chiSquareTail(0.6, 3)},
			false, false, "40 items on 4 shards, 9 to 12 each: fullest 30.0%, furthest 20.0% off, p=0.9, even",
		},
		{
			"a fifth under",
			[]int{8, 11, 11, 10},
			Evenness{Total: 40, Min: 8, Max: 11, LargestShare: 0.275, LargestExcess: 0.2, ChiSquare: 0.6, PValue: chiSquareTail(0.6, 3)},
			false, false, "40 items on 4 shards, 8 to 11 each: fullest 27.5%, furthest 20.0% off, p=0.9, even",
		},
		{
			"more than a fifth",
			[]int{1201, 900, 900, 999},
			Evenness{Total: 4000, Min: 900, Max: 1201, LargestShare: 0.30025, LargestExcess: 0.201, ChiSquare: 60.402, PValue: chiSquareTail(60.402, 3)},
			true, true, "4000 items on 4 shards, 900 to 1201 each: fullest 30.0%, furthest 20.1% off, p=4.8e-13, skewed",
		},
		{
			"too few to tell",
			[]int{9, 0, 0},
			Evenness{Total: 9, Min: 0, Max: 9, LargestShare: 1, LargestExcess: 2, ChiSquare: 18, PValue: math.Exp(-9)},
			true, false, "9 items on 3 shards, 0 to 9 each: fullest 100.0%, furthest 200.0% off, p=0.00012, too few to tell",
		},
		{
			"one shard",
			[]int{100},
			Evenness{Total: 100, Min: 100, Max: 100, LargestShare: 1, PValue: 1},
			false, false, "100 items on 1 shard, 100 to 100 each: fullest 100.0%, furthest 0.0% off, p=1, even",
		},
		{"no items", []int{0, 0}, Evenness{PValue: 1}, false, false, "no items on 2 shards"},
		{"no shards", nil, Evenness{PValue: 1}, false, false, "no items on 0 shards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := NewEvenness(c.counts)
			if !slices.Equal(got.Counts, c.counts) || got.Total != c.want.Total || got.Min != c.want.Min || got.Max != c.want.Max ||
				got.LargestShare != c.want.LargestShare || got.LargestExcess != c.want.LargestExcess ||
				math.Abs(got.ChiSquare-c.want.ChiSquare) > 1e-9 || math.Abs(got.PValue-c.want.PValue) > 1e-9 {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got.Over(0.2) != c.over || got.Skewed() != c.skewed {
				t.Errorf("got over %v, skewed %v, want %v, %v", got.Over(0.2), got.Skewed(), c.over, c.skewed)
			}
			if got.String() != c.prints {
				t.Errorf("got %q, want %q", got, c.prints)
			}
		})
	}
}

func TestEvennessKeepsItsCounts(t *testing.T) {
	counts := []int{1, 2}
	e := NewEvenness(counts)
	counts[0] = 100
	if e.Counts[0] != 1 {
		t.Error("the counts are the caller's")
	}
}

// 000-22: a hundred items at random on ten shards nearly always break the rule of a fifth, and rarely look skewed.
func TestSkewedDoesNotCryWolf(t *testing.T) {
	const runs = 2000
	r := rand.New(rand.NewPCG(22, 0))
	for _, c := range []struct {
		items             int
		leastOver         int
		mostOver          int
		mostSkewed        int
		skewedIfOneDouble int
	}{
		{100, 0.99 * runs, runs, 10, 0},
		{1000, 0.15 * runs, 0.35 * runs, 10, 0.99 * runs},
	} {
		l := Layout{Shards: 10}
		over, skewed, found := 0, 0, 0
		for range runs {
			counts, uneven := make([]int, l.Shards), make([]int, l.Shards)
			for range c.items {
				counts[l.Draw(r)]++
				uneven[l.WithShards(11).Draw(r)%10]++ // shard 0 gets double
			}
			if e := NewEvenness(counts); e.Over(0.2) {
				over++
			}
			if NewEvenness(counts).Skewed() {
				skewed++
			}
			if NewEvenness(uneven).Skewed() {
				found++
			}
		}
		t.Logf("%d items: over a fifth %d, skewed %d, a real skew found %d of %d times", c.items, over, skewed, found, runs)
		if over < c.leastOver || over > c.mostOver || skewed > c.mostSkewed || found < c.skewedIfOneDouble {
			t.Errorf("%d items: got over %d, skewed %d, found %d", c.items, over, skewed, found)
		}
	}
}
