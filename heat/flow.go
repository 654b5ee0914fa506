package heat

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// flow counts the traffic of a table or index in one direction, in memory of fixed size.
type flow struct {
	mu       sync.Mutex
	decay    time.Duration
	first    int64 // when the first touch was, or the first after a pause
	last     int64 // when the last touch was
	resumed  bool  // first is after a pause
	span     span
	counts   Flow // totals only
	reasons  map[string]int64
	latency  *hdrhistogram.Histogram // microseconds
	trend    trend
	keys     *sketch.Heavy[keyCount]
	distinct sketch.Distinct
	patterns *patternTable
	shards   *shardBook // nil if no layout is told
	peaks    *peaks     // nil for a source that goes on for ever
}

// keyCount is what is kept beside a key of the sketch, from when the sketch took it up.
type keyCount struct {
	units     float64
	consumed  decaying
	busiest   float64 // the highest rate of what was consumed
	refused   decaying
	wanted    decaying // what was refused because of the key
	busy      busy
	moments   moments
	lately    decaying // what was refused in the last seconds
	estimated bool     // some of wanted is by the mean of what was served
	seconds   seconds
	requests  int64
	throttled int64
	moving    int64  // of these, those that may be because of another key
	reason    string // the reason that outweighs the others, by Boyer and Moore's vote
	votes     int64
	items     sketch.Few
	pattern   int32  // its number plus one; 0: not looked at yet
	partition uint64 // that holds the key; 0: not known
}

// soonGone is up to how many requests a key is not looked at that took another's place in the sketch: most of these are
// about to lose it again.
const soonGone = 4

// touch is one key that an attempt was about: the only one, or one of a batch or a transaction.
type touch struct {
	key   []byte // nil if it is not known
	hash  uint64 // of key
	item  uint64 // a hash of the sort key; 0 if it is not known
	units float64

	wanted    float64 // units that were not served because of the key
	settled   float64 // units that an earlier attempt may have counted as wanted: this one repeats it, and is served
	unsized   bool    // wanted and settled are the least of a request whose size is not known
	attempts  int64   // made for it, retries included
	retries   int64   // of these, those that repeated one
	throttled int64   // of these, refused
	failed    int64   // of these, failed otherwise
	moving    bool    // an entry of an index may come from another key
	reason    string
	partition uint64 // that holds the key; 0: not known
}

// busy remembers the highest rate for about a minute.
type busy struct {
	rate float64
	at   int64
}

// busyKept is how long a rush counts that has ended.
const busyKept = int64(time.Minute)

func (b *busy) note(now int64, rate float64) {
	if rate >= b.rate || now-b.at > busyKept {
		*b = busy{rate, now}
	}
}

func (b *busy) lately(now int64) float64 {
	if now-b.at > busyKept {
		return 0
	}
	return b.rate
}

const (
	// The least and the most that latencies are told apart at, in microseconds, and how many digits of them are kept.
	minLatency, maxLatency, latencyDigits = 1, 120_000_000, 2

	// mostReasons bounds the texts that a server may give as reasons; DynamoDB has 16.
	mostReasons = 64
)

func newFlow(o *Options) *flow {
	f := &flow{
		decay:    o.Decay,
		reasons:  make(map[string]int64),
		latency:  hdrhistogram.New(minLatency, maxLatency, latencyDigits),
		trend:    newTrend(),
		keys:     sketch.NewHeavy[keyCount](o.Entries, o.Decay),
		distinct: sketch.NewDistinct(12), // 4 KB, 1.6 %
		patterns: newPatternTable(),
	}
	if o.peaks {
		f.peaks = &peaks{}
	}
	return f
}

// add counts a touch. redact may be nil.
func (f *flow) add(now int64, t *touch, redact func(dst, key []byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addLocked(now, t, redact)
}

// addTimed is add for a call that took so long as the caller saw it, retries and their waits included.
func (f *flow) addTimed(now int64, t *touch, redact func(dst, key []byte) []byte, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addLocked(now, t, redact)
	f.counts.Durations.add(took)
	_ = f.latency.RecordValue(min(max(took.Microseconds(), minLatency), maxLatency)) // within its bounds: no error
}

func (f *flow) addLocked(now int64, t *touch, redact func(dst, key []byte) []byte) {
	switch {
	case f.first == 0 || now < f.first:
		f.first, f.resumed = now, false
	case now-f.last > pause*int64(f.decay):
		f.first, f.resumed = now, true
	}
	f.last = max(f.last, now)
	f.counts.Units += t.units
	f.counts.Requests += t.attempts
	f.counts.Retries += t.retries
	f.counts.Throttled += t.throttled
	f.counts.Errors += t.failed
	f.trend.add(now, t.units, t.throttled)
	if t.throttled > 0 {
		f.count(t.reason, t.throttled)
	}
	if t.key != nil {
		f.addKey(now, t, redact)
	}
}

func (f *flow) count(reason string, n int64) {
	if _, known := f.reasons[reason]; !known && len(f.reasons) >= mostReasons {
		reason = ""
	}
	f.reasons[reason] += n
}

// addKey counts a touch of a key by what it wanted: a key that is always refused is not cold.
func (f *flow) addKey(now int64, t *touch, redact func(dst, key []byte) []byte) {
	f.distinct.Add(t.hash)
	if f.shards != nil {
		refused := min(t.attempts, t.throttled+t.failed)
		f.shards.add(t.key, shardTouch{count: t.attempts - refused, refused: refused, item: t.item}, redact)
	}
	keep := func(dst []byte) []byte {
		if redact != nil {
			return redact(dst, t.key)
		}
		return append(dst, t.key...)
	}
	estimated := f.estimate(t)
	settled := f.settled(now, t)
	k := f.keys.Add(now, t.hash, t.units+t.wanted-settled, keep)
	if k == nil {
		f.patterns.pass(t.key, t.hash, t.units, redact != nil)
		return
	}
	if k.pattern == 0 && (k.requests >= soonGone || !f.keys.Full()) {
		k.pattern = 1 + f.patterns.take(t.key, t.hash, k.units, redact != nil)
	}
	if now-k.consumed.last >= grain { // before what comes now: many at the same moment are no rate
		k.busy.note(now, (k.consumed.at(now, f.decay)+k.wanted.at(now, f.decay))/f.longWindow(now))
	}
	k.moments.pass(now, func(at int64) float64 { return f.demand(k, at) })
	k.estimated = k.estimated || estimated
	k.units += t.units
	k.consumed.add(now, t.units, f.decay)
	k.busiest = max(k.busiest, k.consumed.sum/f.longWindow(now))
	if change := t.wanted - settled; change != 0 {
		k.wanted.add(now, change, f.decay)
	}
	if t.partition != 0 {
		k.partition = t.partition
	}
	k.seconds.add(now, t.units)
	if t.throttled > 0 {
		k.refused.add(now, float64(t.throttled), f.decay)
		k.lately.add(now, float64(t.throttled), latelyDecay)
	}
	k.requests += t.attempts
	k.throttled += t.throttled
	if t.moving {
		k.moving += t.throttled
	}
	if f.peaks != nil {
		f.peaks.note(t.hash, k, func() string { return sketch.Cut(t.hash, keep) })
	}
	if k.pattern > 0 {
		f.patterns.count(k.pattern-1, t.units)
	} else {
		f.patterns.pass(t.key, t.hash, t.units, redact != nil)
	}
	if t.item != 0 {
		k.items.Add(t.item)
	}
	switch {
	case t.throttled == 0:
	case k.reason == t.reason:
		k.votes += t.throttled
	case k.votes > t.throttled:
		k.votes -= t.throttled
	default:
		k.reason, k.votes = t.reason, t.throttled-k.votes
	}
}

// latelyDecay is that of throttles which are to tell whether they have ended.
const latelyDecay = 2 * time.Second

// estimate counts a request whose size is not known as the mean of the key's own served ones, where there are any. It reports
// whether a throttled one is counted so.
func (f *flow) estimate(t *touch) bool {
	if !t.unsized || t.wanted == 0 && t.settled == 0 {
		return false
	}
	k := f.keys.Extra(t.hash)
	if k == nil || k.requests <= k.throttled || k.units == 0 {
		return false
	}
	mean := k.units / float64(k.requests-k.throttled)
	if t.wanted == 0 {
		t.settled = max(t.settled, mean)
		return false
	}
	t.wanted = max(t.wanted, mean)
	return true
}

// demand returns the units a second that a key wanted at a time, which is not before the last touch of it by much.
func (f *flow) demand(k *keyCount, at int64) float64 {
	return (k.consumed.at(at, f.decay) + k.wanted.at(at, f.decay)) / max(f.window(at), f.decay.Seconds()/2)
}

// settled returns what of a repeated request is in the demand for its key already: what was refused of it, if that is still
// counted. A collection may repeat a request on another shard, so that it is not known of which key an attempt was before.
func (f *flow) settled(now int64, t *touch) float64 {
	if t.settled == 0 {
		return 0
	}
	k := f.keys.Extra(t.hash)
	if k == nil {
		return 0
	}
	return max(0, min(t.settled, t.units, k.wanted.at(now, f.decay)))
}

// report returns the flow as of now, with so many keys.
func (f *flow) report(now int64, top int, d Direction) (Flow, []Pattern) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.counts
	r.Peak = f.trend.peak(now)
	r.Trend = f.trend.points(now)
	r.Latency = f.latencies()
	r.Throttles = throttleCounts(f.reasons)
	r.Distinct = Distinct{Keys: f.distinct.Count(), Error: f.distinct.Error()}
	if !f.keys.Full() {
		r.Distinct = Distinct{Keys: int64(f.keys.Len())}
	}
	total, window := f.keys.Total(now), f.window(now)
	learnt := f.patterns.report(d, !f.keys.Full(), 0)
	for _, k := range f.keys.Top(now, top) {
		r.Keys = append(r.Keys, KeyHeat{
			Key: k.Text, Units: k.Extra.units, Low: k.Extra.units,
			Rate: k.High / window, RateLow: k.Low / window, Share: share(k.Low, total),
			Consumed: k.Extra.consumed.at(now, f.decay) / window, Busiest: k.Extra.busiest, Second: k.Extra.seconds.last(now),
			Refused: k.Extra.refused.at(now, f.decay) / window,
			Lately:  k.Extra.lately.at(now, latelyDecay) / latelyDecay.Seconds(), Estimated: k.Extra.estimated,
			Requests: k.Extra.requests, Throttled: k.Extra.throttled, Reason: k.Extra.reason, Moving: k.Extra.moving, Items: k.Extra.items.Count(),
			Shape: learnt.of(k.Extra.pattern - 1), Busy: k.Extra.busy.lately(now), Partition: partitionName(k.Extra.partition),
		})
	}
	r.Keys = f.peaks.add(r.Keys, learnt)
	r.Sharded = f.shards.report(0)
	r.Logical = f.logical(now, total, window)
	return r, learnt.patterns
}

func partitionName(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}

// window returns over how many seconds decayed sums are rates: the decay once the flow is much older than that, less
// before, as what came before the first touch is missing in them.
//
//	∫ e^(-t/decay) dt from 0 to age  =  decay × (1 - e^(-age/decay))
//
// After a pause it begins anew, at half the decay: some of what came before the pause is still in the sums.
func (f *flow) window(now int64) float64 {
	age := max(time.Duration(now-f.first), time.Second)
	window := -f.decay.Seconds() * math.Expm1(-age.Seconds()/f.decay.Seconds())
	if f.resumed {
		return max(window, f.decay.Seconds()/2)
	}
	return window
}

// pause is how many decays without a touch are a pause: less than a hundredth of a sum is left after it.
const pause = 5

// span is a window and until when it is good enough.
type span struct {
	seconds float64
	until   int64
}

// longWindow is window for rates that are remembered: a second of heat in the beginning must not look like ten. It is
// worked out again every tenth of a second.
func (f *flow) longWindow(now int64) float64 {
	if now >= f.span.until {
		f.span = span{max(f.window(now), f.decay.Seconds()/2), now + int64(time.Second/10)}
	}
	return f.span.seconds
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(1, part/whole)
}

func (f *flow) latencies() Latency {
	at := func(percentile float64) time.Duration {
		return time.Duration(f.latency.ValueAtPercentile(percentile)) * time.Microsecond
	}
	if f.latency.TotalCount() == 0 {
		return Latency{}
	}
	return Latency{P50: at(50), P99: at(99), P999: at(99.9), Max: time.Duration(f.latency.Max()) * time.Microsecond}
}

// throttleCounts returns reasons by falling count; those of the same count by name.
func throttleCounts(reasons map[string]int64) []ThrottleCount {
	var counts []ThrottleCount
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		counts = append(counts, ThrottleCount{reason, reasons[reason]})
	}
	slices.SortStableFunc(counts, func(a, b ThrottleCount) int { return int(b.Count - a.Count) })
	return counts
}
