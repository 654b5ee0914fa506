package simulate

import (
	"math"
	"math/rand/v2"
)

// poisson draws a number of independent events of which mean are expected. From 50 on it is the normal distribution, rounded,
// which differs from it by less than what a lab measures.
func poisson(r *rand.Rand, mean float64) float64 {
	switch {
	case !(mean > 0):
		return 0
	case mean >= 50:
		return max(math.Round(mean+math.Sqrt(mean)*r.NormFloat64()), 0)
	}
	// Gaps between events are exponential: count how many fit.
	n, left := 0.0, math.Exp(-mean)
	for product := r.Float64(); product > left; product *= r.Float64() {
		n++
	}
	return n
}
