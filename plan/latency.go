package plan

import (
	"math"
	"time"
)

// tailOf returns the probability that a read of n requests waits for a slow one, if a share p of all requests is slow:
// 1 − (1 − p)^n. With ten requests, 9.6 % of reads wait for one beyond the 99th percentile; with 200, 86.6 %.
func tailOf(p float64, n int) float64 {
	if p >= 1 {
		return 1
	}
	return -math.Expm1(float64(max(n, 0)) * math.Log1p(-max(p, 0)))
}

// latency is how long one request takes: its median, and what one request in a hundred exceeds. Between and beyond them
// it is assumed to be log-normal.
type latency struct{ p50, p99 time.Duration }

func (a *Assumptions) latency() latency {
	millis := func(n float64) time.Duration { return time.Duration(math.Round(n * 1e6)) }
	return latency{millis(a.P50Millis), millis(a.P99Millis)}
}

// inFlight is heatsink's default limit of concurrent requests for one read.
const inFlight = 256

// slowest returns the latency of the slowest of n concurrent requests that a share q of all reads stays below, such as
// 0.99. More than 256 requests take turns.
func (l latency) slowest(n int, q float64) time.Duration {
	n = max(n, 1)
	turns := (n + inFlight - 1) / inFlight
	// All of them stay below what a single one exceeds with probability 1 − q^(1/n).
	exceeds := -math.Expm1(math.Log(q) / float64(min(n, inFlight)))
	median := math.Log(float64(l.p50))
	spread := (math.Log(float64(l.p99)) - median) / above(0.01)
	return time.Duration(float64(turns) * math.Exp(median+spread*above(exceeds)))
}

// above returns what a standard normal variable exceeds with a probability.
func above(probability float64) float64 { return math.Sqrt2 * math.Erfcinv(2*probability) }
