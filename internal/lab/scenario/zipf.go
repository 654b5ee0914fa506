package scenario

import (
	"math"
	"math/rand/v2"
)

// zipf draws ranks by Zipf's law in constant time and memory, by rejection-inversion (Hörmann and Derflinger, 1996). The
// standard library's needs an exponent above 1.
//
// The law of rank k, from 1, is k^-s / sum. Its hull is the integral of x^-s, from k-½ to k+½ for each k, and h is that
// integral. A point below the hull is drawn by inverting h, and is kept if it is below the law.
type zipf struct {
	count    int64
	exponent float64
	first    float64 // h(1.5) - 1
	last     float64 // h(count + 0.5)
	short    float64 // a draw so near to its rank is kept without a look
	sum      float64 // of k^-s
}

func newZipf(count int64, exponent float64) zipf {
	z := zipf{count: count, exponent: exponent}
	if count == 0 || exponent == 0 {
		return z
	}
	z.first = z.h(1.5) - 1
	z.last = z.h(float64(count) + 0.5)
	z.short = 2 - z.inverse(z.h(2.5)-math.Pow(2, -exponent))
	z.sum = z.total()
	return z
}

// exactRanks is how many terms of the sum are added one by one. The integral is as good as exact behind them.
const exactRanks = 1 << 16

func (z *zipf) total() float64 {
	sum := 0.0
	n := min(z.count, exactRanks)
	for k := int64(1); k <= n; k++ {
		sum += math.Pow(float64(k), -z.exponent)
	}
	if z.count > n {
		sum += z.h(float64(z.count)+0.5) - z.h(float64(n)+0.5)
	}
	return sum
}

// h is an integral of x^-s, which is 0 at 1.
func (z *zipf) h(x float64) float64 {
	log := math.Log(x)
	return over((1-z.exponent)*log, math.Expm1) * log
}

func (z *zipf) inverse(y float64) float64 {
	t := max(y*(1-z.exponent), -1)
	return math.Exp(over(t, math.Log1p) * y)
}

// over returns f(x)/x, which is 1 at 0 for both of the functions that are used here.
func over(x float64, f func(float64) float64) float64 {
	if math.Abs(x) < 1e-8 {
		return 1
	}
	return f(x) / x
}

// draw returns a rank from 0.
func (z *zipf) draw(r *rand.Rand) int64 {
	for {
		u := z.last + r.Float64()*(z.first-z.last)
		x := z.inverse(u)
		k := math.Min(math.Max(math.Round(x), 1), float64(z.count))
		if k-x <= z.short || u >= z.h(k+0.5)-math.Pow(k, -z.exponent) {
			return int64(k) - 1
		}
	}
}
