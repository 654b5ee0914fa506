package gather

import "math"

// missChance is how likely a round of first pages may turn out too small for the limit, so that a second has to follow.
const missChance = 0.05

// pageSize returns how many entries to ask of each of n shards so that, together, they very likely hold the first limit
// entries: a shard's part of them is binomially distributed, Bin(limit, 1/n), and this is the smallest k with
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

// sizing decides how many entries to ask a shard for, and how much memory these may take.
type sizing struct {
	history  *History
	filter   string
	limited  bool
	memory   int
	maxEntry int
	maxPage  int

	want     int // entries still wanted, -1 for all
	returned int
}

func newSizing(c Config) sizing {
	s := sizing{history: c.History, filter: c.Filter, memory: c.Memory, maxEntry: c.MaxEntry, maxPage: c.MaxPage, want: -1}
	if c.Limit > 0 {
		s.limited, s.want = true, c.Limit
	}
	return s
}

// progress is what a shard has done so far, and with how many others it shares the work.
type progress struct {
	begun    bool // some page had entries
	returned int  // entries
	beside   int  // shards that are merged, with this one
	sharing  int  // shards that share the memory, with this one
	skips    int  // entries that the next page may lack because they were returned before
	filtered int  // how many entries the last page was asked for, if all of them were filtered out
}

// page returns how many entries to ask a shard for. All shards together, with what is under way, are likely to fit into
// the memory.
func (s *sizing) page(p progress) int {
	most := s.fitting(p.sharing)
	var entries float64
	switch {
	case s.want < 0:
		entries = float64(most)
	case !p.begun && p.returned == 0:
		entries = float64(pageSize(s.want, p.beside))
	default: // for one shard, a few more than its share will do
		entries = s.share(p)*float64(s.want) + 2
	}
	if s.want >= 0 {
		entries = min(entries, float64(s.want)) + float64(p.skips)
		entries = min(entries/s.history.passing.rate(s.filter), float64(most))
	}
	if p.filtered > 0 { // look further
		entries = max(entries, min(2*float64(p.filtered), maxEntries))
	}
	return max(int(entries), 1)
}

// maxEntries is the most entries that a page is asked for, but for a limit that is larger.
const maxEntries = 1 << 20

// share estimates which part of the next entries is a shard's, from what it had of the last.
func (s *sizing) share(p progress) float64 {
	return float64(p.returned+1) / float64(s.returned+p.beside)
}

// fitting returns how many entries n shards may be asked for at a time without filling the memory.
func (s *sizing) fitting(n int) int {
	return int(min(max(float64(s.memory)/(2*float64(n)*s.history.sizes.estimate().mean), 1), maxEntries))
}

// few returns about how many entries a shard is first asked for as a bet, by reads without a limit.
func (s *sizing) few() int { return max(int(fewBytes/s.history.sizes.estimate().mean), 1) }

const (
	// unseenEntry is how large limited reads take entries to be as long as none has been seen.
	unseenEntry = 64 << 10

	// fewBytes is about how much a shard is first asked for as a bet, by reads without a limit.
	fewBytes = 64 << 10
)

// reservation returns the memory that a page of so many entries may take. What is added in memory is estimated even for
// the worst: no limit of the store's is of any use there.
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

// took takes note of an entry that was returned.
func (s *sizing) took() {
	s.returned++
	if s.want > 0 {
		s.want--
	}
}
