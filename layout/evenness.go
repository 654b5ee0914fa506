package layout

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

const (
	// skewedBelow is the probability of a false alarm that Skewed accepts.
	skewedBelow = 0.001

	// minExpected is the mean number of items per shard from which the chi-square approximation is acceptable.
	minExpected = 5
)

// Evenness measures how evenly items are spread over shards.
//
// Random counts always differ, and small counts differ most: with 100 items on 10 shards, some shard is nearly always off
// by more than a fifth. There are therefore two questions. Over answers how far the worst shard is from the mean, which
// limits throughput. Skewed answers whether chance explains the difference, which tells a bad key from bad luck.
type Evenness struct {
	Counts []int // items in each shard
	Total  int   // items in all shards
	Min    int   // items in the emptiest shard
	Max    int   // items in the fullest shard

	// LargestShare is the fraction of all items that is in the fullest shard, from 0 to 1.
	LargestShare float64

	// LargestExcess is the largest difference between a shard and the mean, above or below, as a fraction of the mean.
	LargestExcess float64

	// ChiSquare is Pearson's statistic against equal shares, Σ (count - mean)² / mean. For items spread at random it is
	// about the number of shards minus one.
	ChiSquare float64

	// PValue is the probability that items spread at random are at least as uneven, from 0 to 1.
	PValue float64
}

// NewEvenness measures counts of items per shard, none of which may be negative. No items, and no shards, are even.
func NewEvenness(counts []int) Evenness {
	e := Evenness{Counts: slices.Clone(counts), PValue: 1}
	for _, c := range counts {
		e.Total += c
	}
	if e.Total == 0 {
		return e
	}
	e.Min, e.Max = slices.Min(counts), slices.Max(counts)
	e.LargestShare = float64(e.Max) / float64(e.Total)

	// How far off the mean, times the number of shards: in whole numbers a fifth is a fifth and not a little more.
	shards := len(counts)
	offBy := max(e.Max*shards-e.Total, e.Total-e.Min*shards)
	e.LargestExcess = float64(offBy) / float64(e.Total)

	mean := float64(e.Total) / float64(shards)
	for _, c := range counts {
		d := float64(c) - mean
		e.ChiSquare += d * d / mean
	}
	e.PValue = chiSquareTail(e.ChiSquare, shards-1)
	return e
}

// Evenness measures how a Calculated layout would spread ids. Use it to try a hash on real ids before writing anything.
func (l Layout) Evenness(ids iter.Seq[string]) Evenness {
	counts := make([]int, max(1, l.Shards))
	for id := range ids {
		counts[l.Shard(id)]++
	}
	return NewEvenness(counts)
}

// Over reports whether some shard differs from the mean by more than the given fraction of it; 0.2 is common. It does not
// consider whether there are enough items to tell: see Skewed.
func (e Evenness) Over(fraction float64) bool { return e.LargestExcess > fraction }

// Skewed reports whether the items are less even than chance explains. It needs at least five items per shard on average,
// and a PValue below one in a thousand.
func (e Evenness) Skewed() bool {
	return e.Total >= minExpected*len(e.Counts) && e.PValue < skewedBelow
}

// String returns a line such as "1000 items on 10 shards, 82 to 117 each: fullest 11.7%, furthest 18.0% off, p=0.35, even".
func (e Evenness) String() string {
	if e.Total == 0 {
		return fmt.Sprintf("no items on %s", countShards(len(e.Counts)))
	}
	spread := "even"
	switch {
	case e.Skewed():
		spread = "skewed"
	case e.Total < minExpected*len(e.Counts):
		spread = "too few to tell"
	}
	return fmt.Sprintf("%d items on %s, %d to %d each: fullest %.1f%%, furthest %.1f%% off, p=%.2g, %s",
		e.Total, countShards(len(e.Counts)), e.Min, e.Max, 100*e.LargestShare, 100*e.LargestExcess, e.PValue, spread)
}

// chiSquareTail returns the probability that a chi-square variable with df degrees of freedom exceeds x: the regularized
// upper incomplete gamma function Q(df/2, x/2).
func chiSquareTail(x float64, df int) float64 {
	if x <= 0 || df < 1 {
		return 1
	}
	a := float64(df) / 2
	x /= 2
	if math.IsInf(x, 1) {
		return 0
	}
	lgamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lgamma)
	if x < a+1 {
		return 1 - front*gammaSeries(a, x)
	}
	return front * gammaFraction(a, x)
}

const (
	gammaPrecision = 1e-14
	gammaSteps     = 1 << 16 // far more than the about √a that it takes
)

// gammaSeries returns Σ x^n / (a (a+1) … (a+n)), which converges fast for x < a+1. Abramowitz and Stegun 6.5.29.
func gammaSeries(a, x float64) float64 {
	term := 1 / a
	sum := term
	for n := 1; n < gammaSteps && term > sum*gammaPrecision; n++ {
		term *= x / (a + float64(n))
		sum += term
	}
	return sum
}

// gammaFraction returns the continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- …))), which converges fast for
// x > a+1, by Lentz's method. Abramowitz and Stegun 6.5.31, contracted.
func gammaFraction(a, x float64) float64 {
	const tiny = 1e-300 // stands in for a denominator of zero
	b := x + 1 - a
	c := 1 / tiny
	d := 1 / b
	f := d
	for n := 1.0; n < gammaSteps; n++ {
		numerator := -n * (n - a)
		b += 2
		if d = numerator*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + numerator/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		factor := d * c
		f *= factor
		if math.Abs(factor-1) < gammaPrecision {
			break
		}
	}
	return f
}
