package gather

import "math"

// missChance is the accepted probability that the first pages are too small for the limit, so that a second round is
// needed.
const missChance = 0.05

// rareChance is the same for shards that Source.Among tells apart.
const rareChance = 0.001

// pageSize returns how many entries to request from each of n shards, so that together they very likely hold the first
// limit entries. The number of these in one shard is binomially distributed, Bin(limit, 1/n). pageSize is the smallest k
// with
//
//	n × P[Bin(limit, 1/n) > k] ≤ chance
//
// Requesting the whole limit from each shard would be safe as well, but would read n times as much.
func pageSize(limit, n int, chance float64) int {
	if n <= 1 || limit <= 1 {
		return max(limit, 1)
	}
	p := 1 / float64(n)
	mean := float64(limit) * p
	if limit > 1<<20 { // for so large a limit, Chernoff's bound is close enough and needs no sum
		return int(mean + math.Sqrt(2*mean*math.Log(float64(n)/chance)) + 1)
	}

	// Sum the tail from a point where it is negligible, more than ten standard deviations above the mean.
	top := min(limit, int(mean+10*math.Sqrt(mean)+20))
	all, _ := math.Lgamma(float64(limit + 1))
	tail := 0.0
	for k := top; k > 0; k-- {
		in, _ := math.Lgamma(float64(k + 1))
		out, _ := math.Lgamma(float64(limit - k + 1))
		tail += math.Exp(all - in - out + float64(k)*math.Log(p) + float64(limit-k)*math.Log1p(-p))
		if float64(n)*tail > chance {
			return k
		}
	}
	return 1
}

// sizing determines how many entries to request from a shard, and how much memory they may take.
type sizing struct {
	history  *History
	filter   string
	limited  bool
	yield    float64
	memory   int
	maxEntry int
	maxPage  int

	want     int // entries still wanted; -1 means all
	returned int
}

func newSizing(c Config) sizing {
	s := sizing{history: c.History, filter: c.Filter, yield: c.Yield, memory: c.Memory, maxEntry: c.MaxEntry, maxPage: c.MaxPage, want: -1}
	if c.Limit > 0 {
		s.limited, s.want = true, c.Limit
	}
	return s
}

// progress is the state of a shard, and the number of shards that it is read with.
type progress struct {
	begun    bool // at least one page had entries
	returned int  // the number of returned entries
	beside   int  // the number of shards that are merged, including this one
	among    int  // see Source.Among
	sharing  int  // the number of shards that share the memory, including this one
	skips    int  // the number of entries that the next page may lack because they were returned before
	filtered int  // the size of the last request if the filter dropped all of its entries, or 0
}

// page returns how many entries to request from a shard. All shards together, with the requests in flight, are likely to
// fit into the memory.
func (s *sizing) page(p progress) int {
	most := s.fitting(p.sharing)
	var entries float64
	switch {
	case s.want < 0:
		entries = float64(most)
	case p.among > 0:
		return s.pageAmong(p, most)
	case !p.begun && p.returned == 0:
		entries = float64(pageSize(s.want, p.beside, missChance))
	default: // one shard needs little more than its share
		entries = s.share(p)*float64(s.want) + 2
	}
	if s.want >= 0 {
		entries = min(entries, float64(s.want)) + float64(p.skips)
		entries = min(entries/s.history.passing.rate(s.filter), float64(most))
	}
	if p.filtered > 0 { // request more after an empty page
		entries = max(entries, min(2*float64(p.filtered), maxEntries))
	}
	return max(int(entries), 1)
}

// pageAmong is page for a shard of a group that may hold everything. Some of its entries do not count: then the first pages have more, by
// three standard deviations.
func (s *sizing) pageAmong(p progress, most int) int {
	want := float64(s.want) / s.yield
	want += 3 * math.Sqrt(want*(1-s.yield))
	entries := s.share(p)*want + 2 // as page has it
	if !p.begun && p.returned == 0 {
		entries = float64(pageSize(int(min(want, maxEntries)), p.among, rareChance))
	}
	// One more is left when the last is returned: whoever asks for another entry with the same sort value waits for a shard that has run dry.
	entries = min(min(entries, want)+1+float64(p.skips), float64(most))
	if p.filtered > 0 {
		entries = max(entries, min(2*float64(p.filtered), maxEntries))
	}
	return max(int(entries), 1)
}

// maxEntries is the maximum number of entries in a request, unless the limit is larger.
const maxEntries = 1 << 20

// share estimates the fraction of the next entries that comes from a shard, from its part of the returned ones.
func (s *sizing) share(p progress) float64 {
	return float64(p.returned+1) / float64(s.returned+p.beside)
}

// fitting returns how many entries n shards may request at a time without filling the memory.
func (s *sizing) fitting(n int) int {
	return int(min(max(float64(s.memory)/(2*float64(n)*s.history.sizes.estimate().mean), 1), maxEntries))
}

// few returns the approximate number of entries in the first request of a read without a limit, if that request is a bet.
func (s *sizing) few() int { return max(int(fewBytes/s.history.sizes.estimate().mean), 1) }

const (
	// unseenEntry is the assumed size of an entry in limited reads until one was read.
	unseenEntry = 64 << 10

	// fewBytes is the approximate size of the first request of a read without a limit, if that request is a bet.
	fewBytes = 64 << 10
)

// reservation returns the memory that a page of so many entries may take. The overhead in memory is an estimate even in
// the worst case, because the store does not limit it.
func (s *sizing) reservation(entries int) reservation {
	seen, n := s.history.sizes.estimate(), float64(entries)
	worst := min(n*float64(s.maxEntry), float64(s.maxPage)) + min(n*seen.extra, float64(s.memory)/2)
	likely := worst
	switch {
	case seen.known:
		likely = 1.5*n*s.history.passing.rate(s.filter)*seen.mean + seen.largest
	case s.limited:
		likely = n * unseenEntry
	}
	return reservation{likely: int(min(likely, worst)), worst: int(worst)}
}

// took records that an entry was returned.
func (s *sizing) took() {
	s.returned++
	if s.want > 0 {
		s.want--
	}
}

// untake takes back the last took.
func (s *sizing) untake() {
	s.returned--
	if s.limited {
		s.want++
	}
}
