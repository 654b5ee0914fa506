package partition

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"time"
)

// Set is the partitions of one table or one global index. It is safe for
// concurrent use. Its clock is the latest time that any call has brought: a call
// with an earlier time counts as at the same moment.
type Set struct {
	id       uint64 // sets are locked in this order
	account  *Account
	rules    *rules
	resource string
	owner    any
	index    bool

	mu       sync.Mutex
	whole    bool // collections must not be divided
	capacity Capacity
	ever     Rate // the highest that was ever provisioned
	flows    [directions]flow

	base      time.Time // of the clock: when the set began,
	offset    instant   // which is so long after the start of a minute
	now       instant
	second    int64   // of now
	secondEnd instant // when the next one starts
	due       instant // when finish has something to do

	partitions    []*partition // in the order of their ranges
	lowers        []uint64     // the hashes they start at
	lastPartition uint64
	splits        []Split
	total         int     // of all splits ever
	resize        *resize // nil: none is under way
	random        uint64

	minutes  minutes
	consumed [directions]float64 // in the current second
	load     [directions]float64 // moving average of that
	peak     [directions]float64 // highest load so far
}

// start sets the clock.
func (s *Set) start(now time.Time) {
	s.base = now
	into := time.Duration(now.Unix()%60)*time.Second + time.Duration(now.Nanosecond())
	if into < 0 {
		into += time.Minute
	}
	s.offset = instant(into)
	s.now = s.offset
	s.second = int64(s.now / instant(time.Second))
	s.secondEnd = instant(s.second+1) * instant(time.Second)
	s.minutes.ring = make([]minute, s.rules.HistoryMinutes)
}

// instant returns a moment in nanoseconds since the start of the minute in which
// the set began, so that seconds and minutes are those of the clock on the wall.
// Differences are monotonic if the times are.
func (s *Set) instant(now time.Time) instant {
	return s.offset + instant(min(max(now.Sub(s.base), 0), longest))
}

// time is the inverse of instant.
func (s *Set) time(at instant) time.Time { return s.base.Round(0).Add(time.Duration(at - s.offset)) }

// enter brings the set to the time of a call. The caller holds the mutex.
func (s *Set) enter(now time.Time) {
	if at := s.instant(now); at > s.now {
		s.now = at
	}
	if s.now >= s.secondEnd {
		s.nextSecond()
	}
	if s.now >= s.due {
		s.finish()
	}
}

// peakDecay averages the load over 30 seconds before it counts as an on-demand
// table's peak.
var peakDecay = math.Exp(-1.0 / 30)

// nextSecond closes the current second.
func (s *Set) nextSecond() {
	idle := int64(s.now/instant(time.Second)) - s.second - 1
	s.second += idle + 1
	s.secondEnd = instant(s.second+1) * instant(time.Second)
	for d := range directions {
		s.load[d] = s.load[d]*peakDecay + s.consumed[d]*(1-peakDecay)
		s.peak[d] = max(s.peak[d], s.load[d])
		s.load[d] *= math.Pow(peakDecay, float64(idle))
		s.consumed[d] = 0
	}
	s.minutes.turn(s.second / 60)
	s.growOnDemand()
}

// growOnDemand sees to it that an on-demand table can serve twice its peak: when
// the peak has passed half of what the partitions serve, they are doubled, which
// is done a GrowthPeriod later. So a load that doubles every GrowthPeriod is never
// refused for want of partitions, and a new table, with four partitions, behaves
// as if its previous peak were 2,000 writes and 6,000 reads per second [AWS:
// on-demand-capacity-mode]. What is throttled meanwhile runs into the ceilings of
// partitions: DynamoDB has no other reason for it. The tolerance keeps a peak of
// exactly half, which is measured a little above, from doubling once more.
func (s *Set) growOnDemand() {
	const tolerance = 1.05
	if s.capacity.Mode != OnDemand || s.resize != nil || s.rules.NoSplits || len(s.partitions) >= maxPartitions {
		return
	}
	for d := range directions {
		serves := float64(s.rules.Partition.of(d)) * float64(len(s.partitions))
		if 2*s.peak[d] > tolerance*serves && serves < float64(s.rules.TableQuota.of(d)) {
			s.enlarge(2*len(s.partitions), CauseGrowth, s.now+instant(s.rules.GrowthPeriod))
			return
		}
	}
}

// enlarge has the set get n partitions by a certain time. What is under way
// already is not made smaller by it.
func (s *Set) enlarge(n int, cause SplitCause, due instant) {
	if n <= len(s.partitions) {
		return
	}
	if s.resize != nil {
		n = max(n, s.resize.to)
	}
	s.resize = &resize{to: n, cause: cause, due: due}
	s.due = min(s.due, due)
	if s.due <= s.now {
		s.finish()
	}
}

// divide gives a new set n partitions of equal ranges of hashes.
func (s *Set) divide(n int) {
	list := make([]*partition, n)
	for i := range list {
		// The first hash of part i of n is i × 2^64 / n, rounded up.
		quotient, remainder := bits.Div64(uint64(i), 0, uint64(n))
		if remainder > 0 {
			quotient++
		}
		list[i] = s.newPartition(bound{hash: quotient}, s.now)
	}
	s.setPartitions(list)
}

// divideAt gives a new set partitions with these borders.
func (s *Set) divideAt(borders [][]byte) {
	bounds := []bound{{}}
	for _, place := range borders {
		bounds = append(bounds, boundOf(slices.Clone(place)))
	}
	slices.SortFunc(bounds, bound.compare)
	bounds = slices.CompactFunc(bounds, func(a, b bound) bool { return a.compare(b) == 0 })
	list := make([]*partition, len(bounds))
	for i, b := range bounds {
		list[i] = s.newPartition(b, s.now)
	}
	s.setPartitions(list)
}

// spread distributes data over the partitions by the width of their ranges.
func (s *Set) spread(total int64) {
	if total <= 0 {
		return
	}
	for i, p := range s.partitions {
		p.bytes = int64(float64(total) * s.width(i, bound{}, bound{hash: math.MaxUint64}) / math.Pow(2, 64))
	}
}

// width is how many hashes partition i has in common with those from first to
// last.
func (s *Set) width(i int, first, last bound) float64 {
	lower, upper := max(s.partitions[i].lower.hash, first.hash), last.hash
	if i+1 < len(s.partitions) {
		upper = min(upper, s.partitions[i+1].lower.hash)
	}
	if upper < lower {
		return 0
	}
	return float64(upper - lower)
}

func (s *Set) setPartitions(list []*partition) {
	s.partitions = list
	s.lowers = make([]uint64, len(list))
	for i, p := range list {
		s.lowers[i] = p.lower.hash
	}
}

// find returns the number of the partition that a place is in: the last that
// does not start above it.
func (s *Set) find(place bound) int {
	low, high := 0, len(s.lowers) // the answer is in [low, high)
	for high-low > 1 {
		mid := int(uint(low+high) / 2)
		if hash := s.lowers[mid]; hash > place.hash || hash == place.hash && s.partitions[mid].lower.compare(place) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// chance returns a number in [0, 1): a SplitMix64 generator, which is good enough
// for sampling and needs no memory but its counter.
func (s *Set) chance() float64 {
	s.random += 0x9e3779b97f4a7c15
	x := s.random
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}
