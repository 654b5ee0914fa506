package heatsink

import (
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// missChance is how likely a round of first pages may turn out too small for the limit, so that a second has to follow.
const missChance = 0.05

// pageSize returns how many items to ask of each of n shards so that, together, they very likely hold the first limit
// items: a shard's part of them is binomially distributed, Bin(limit, 1/n), and this is the smallest k with
//
//	n × P[Bin(limit, 1/n) > k] ≤ missChance
//
// Asking each for the whole limit would be safe as well, and read n times too much.
func pageSize(limit, n int) int {
	if n <= 1 || limit <= 1 {
		return max(limit, 1)
	}
	p := 1 / float64(n)
	mean := float64(limit) * p
	if limit > 1<<20 { // whoever asks for so many may get a few more: Chernoff's bound needs no sum
		return int(mean + math.Sqrt(2*mean*math.Log(float64(n)/missChance)) + 1)
	}

	// Sum the tail up from where it no longer matters. Ten standard deviations and a bit are beyond that.
	top := min(limit, int(mean+10*math.Sqrt(mean)+20))
	all, _ := math.Lgamma(float64(limit + 1))
	tail := 0.0
	for k := top; k > 0; k-- {
		in, _ := math.Lgamma(float64(k + 1))
		out, _ := math.Lgamma(float64(limit - k + 1))
		tail += math.Exp(all - in - out + float64(k)*math.Log(p) + float64(limit-k)*math.Log1p(-p))
		if float64(n)*tail > missChance {
			return k
		}
	}
	return 1
}

// passRates estimates which part of the items passes a filter, for the filters used lately: DynamoDB's Limit counts items
// before the filter.
type passRates struct {
	mu    sync.Mutex
	rates [64]passRate // by hash
}

type passRate struct {
	filter string
	rate   float64
}

// leastRate keeps a filter that nothing has passed from asking for everything at once.
const leastRate = 1.0 / 256

func (p *passRates) slot(filter string) *passRate {
	return &p.rates[xxhash.Sum64String(filter)%uint64(len(p.rates))]
}

// rate returns the part of items that pass, at most 1.
func (p *passRates) rate(filter string) float64 {
	if filter == "" {
		return 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.slot(filter); s.filter == filter {
		return s.rate
	}
	return 1
}

// saw takes note of a page.
func (p *passRates) saw(filter string, scanned, passed int) {
	if filter == "" || scanned == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := min(max(float64(passed)/float64(scanned), leastRate), 1)
	s := p.slot(filter)
	if s.filter != filter {
		*s = passRate{filter, seen}
		return
	}
	s.rate += (seen - s.rate) / 4
}
