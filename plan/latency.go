package plan

import (
	"math"
	"time"
)

// tailOf returns how likely a read that waits for n requests meets at least one of those that are slow, if a share p of
// all requests is: 1 − (1 − p)^n. Of ten requests, one is beyond the 99th percentile in 9.6 % of reads; of 200, in 86.6
// %.
func tailOf(p float64, n int) float64 {
	if p >= 1 {
		return 1
	}
	return -math.Expm1(float64(max(n, 0)) * math.Log1p(-max(p, 0)))
}

// latency is how long one request takes: its median, and what one request in a hundred exceeds. Between and beyond them
// it is taken to be log-normal.
type latency struct{ p50, p99 time.Duration }

func (a *Assumptions) latency() latency {
	millis := func(n float64) time.Duration { return time.Duration(math.Round(n * 1e6)) }
	return latency{millis(a.P50Millis), millis(a.P99Millis)}
}

// inFlight is how many requests heatsink has under way for one read, unless told otherwise.
const inFlight = 256

// slowest returns what the slowest of n requests, sent together, stays below in a share q of all reads, such as 0.99.
// Beyond 256 they are sent in turns.
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
