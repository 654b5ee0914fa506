package gather

import (
	"sync"

	"github.com/cespare/xxhash/v2"
)

// History holds measurements of reads: the sizes of entries, the fraction that passes a filter, and the latency of
// requests. Reads that share a History request better page sizes. The zero History is ready for use, also concurrently.
type History struct {
	sizes     sizes
	passing   passRates
	yields    passRates
	latencies latencies
}

// MeanSize returns the approximate mean memory of an entry, in bytes. It returns false if no entry was read yet.
func (h *History) MeanSize() (float64, bool) {
	seen := h.sizes.estimate()
	return seen.mean, seen.known
}

// Yield returns the share of different sort values that reads with a filter have counted, at most 1. It is the least of recent reads, so
// that most reads get enough with their first requests.
func (h *History) Yield(filter string) float64 { return h.yields.rate(filter) }

// Yielded records how many different sort values a read has met, and how many of them it has counted.
func (h *History) Yielded(filter string, met, counted int) { h.yields.sawLeast(filter, met, counted) }

// estimate is the estimated size of entries, in bytes, from recent pages.
type estimate struct {
	known   bool    // some entries were read
	mean    float64 // of an entry
	largest float64 // entry
	extra   float64 // the overhead of an entry, on the page where it was largest
}

// firstEstimate applies until an entry was read.
var firstEstimate = estimate{mean: 4096, largest: 4096, extra: 512}

// sizes estimates how large entries are.
type sizes struct {
	mu   sync.Mutex
	seen estimate
}

func (s *sizes) estimate() estimate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen.known {
		return firstEstimate
	}
	return s.seen
}

// saw records a page. The mean follows recent pages. The upper bounds rise at once and fall slowly.
func (s *sizes) saw(page Weight) {
	if page.Entries == 0 {
		return
	}
	n := float64(page.Entries)
	now := estimate{
		known: true, mean: float64(page.Bytes+page.Extra) / n, extra: float64(page.Extra) / n,
		largest: float64(page.Largest),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.seen; old.known {
		now.mean = old.mean + (now.mean-old.mean)/8
		now.largest = max(now.largest, old.largest+(now.largest-old.largest)/64)
		now.extra = max(now.extra, old.extra+(now.extra-old.extra)/64)
	}
	s.seen = now
}

// passRates estimates the fraction of entries that passes a filter, for recently used filters. A fetch asks for a number
// of entries before the filter.
type passRates struct {
	mu    sync.Mutex
	rates [64]passRate // by hash
}

type passRate struct {
	filter string
	rate   float64
}

// leastRate is a lower bound, so that a filter which nothing passes does not request everything at once.
const leastRate = 1.0 / 256

func (p *passRates) slot(filter string) *passRate {
	return &p.rates[xxhash.Sum64String(filter)%uint64(len(p.rates))]
}

// rate returns the fraction of entries that passes, at most 1.
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

// saw records a page.
func (p *passRates) saw(filter string, scanned, passed int) {
	if filter == "" || scanned == 0 {
		return
	}
	p.note(filter, scanned, passed, func(old, seen float64) float64 { return old + (seen-old)/4 })
}

// sawLeast records a read. The rate falls at once and rises slowly.
func (p *passRates) sawLeast(filter string, scanned, passed int) {
	if scanned < leastSample { // a few say little
		return
	}
	p.note(filter, scanned, passed, func(old, seen float64) float64 { return min(seen, old+(seen-old)/64) })
}

// leastSample is the number of entries that sawLeast needs.
const leastSample = 8

// note changes the rate of a filter by what was seen.
func (p *passRates) note(filter string, scanned, passed int, change func(old, seen float64) float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := min(max(float64(passed)/float64(scanned), leastRate), 1)
	s := p.slot(filter)
	if s.filter != filter {
		*s = passRate{filter, seen}
		return
	}
	s.rate = change(s.rate, seen)
}
