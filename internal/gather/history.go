package gather

import (
	"sync"

	"github.com/cespare/xxhash/v2"
)

// History is what reads have seen: how large entries are, which part of them passes a filter, and how long requests take.
// Reads that share one know better how much to ask for. The zero History is ready, and may be used concurrently.
type History struct {
	sizes     sizes
	passing   passRates
	latencies latencies
}

// MeanSize returns about how many bytes of memory an entry takes, false if none has been seen.
func (h *History) MeanSize() (float64, bool) {
	seen := h.sizes.estimate()
	return seen.mean, seen.known
}

// estimate is how large entries are, in bytes, going by the last pages.
type estimate struct {
	known   bool    // there were some
	mean    float64 // of their weights
	largest float64 // of their weights
	extra   float64 // of an entry's weight, on the page where it was the most
}

// firstEstimate holds until something has been read.
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

// saw takes note of a page. The mean follows the last few pages. The upper bounds jump up at once and come down slowly.
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

// passRates estimates which part of the entries passes a filter, for the filters used last: a fetch is asked for a number
// of entries before the filter.
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

// rate returns the part of entries that pass, at most 1.
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
