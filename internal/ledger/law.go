package ledger

import (
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// rising is by how much a rate exceeds the one before it if the load is still on its way up.
const rising = 1.25

// smoothing is how many reports a share is smoothed over, and how many there must be.
const smoothing = 4

// Throttle is why DynamoDB has throttled a write.
type Throttle uint8

// The reasons, by the ends of their names in DynamoDB. Only the first is about how a key is spread.
const (
	KeyRange Throttle = iota // TableWriteKeyRangeThroughputExceeded: the partition of a shard is too hot
	IndexKey                 // IndexWriteKeyRangeThroughputExceeded: a partition of an index is
	Table                    // …ProvisionedThroughputExceeded, …MaxOnDemandThroughputExceeded: the table's own limit
	Account                  // …AccountLimitExceeded
	Other                    // anything else
	throttles
)

var throttleNames = [...]string{"key range", "index key range", "table", "account", "other"}

// String returns the reason in lower case.
func (t Throttle) String() string {
	if int(t) < len(throttleNames) {
		return throttleNames[t]
	}
	return fmt.Sprintf("Throttle(%d)", uint8(t))
}

// Sample is what a process has seen of a key: write units of operations. An operation counts once, however often it is
// tried: under the reason of its first throttle, or as Taken if there was none.
type Sample struct {
	Taken     float64
	Throttled [throttles]float64
}

func (s *Sample) add(other Sample) {
	s.Taken += other.Taken
	for i, units := range other.Throttled {
		s.Throttled[i] += units
	}
}

func (s *Sample) offered() float64 {
	sum := s.Taken
	for _, units := range s.Throttled {
		sum += units
	}
	return sum
}

// Totals is what the accumulator of a key has: the units that all processes have reported since it exists.
type Totals struct {
	Offered  float64 // taken or throttled, whatever the reason
	KeyRange float64 // of these, throttled because of their key range
	Spare    bool    // it is the second accumulator, which takes what the first cannot
}

// Reason is why the law has decided as it has.
type Reason string

// The reasons. Grow is the only one with which a key grows.
const (
	Grows      Reason = "grow"          // the key is too narrow
	Calm       Reason = "calm"          // the key is wide enough
	NoRate     Reason = "no rate"       // this is the first report for a while; the next has a rate
	Hysteresis Reason = "hysteresis"    // too few reports in a row agree that it must grow, that growth is futile, or that this is over
	Cooldown   Reason = "cooldown"      // the key has just grown
	Futility   Reason = "futility"      // it is throttled, and its shards are too cold for growth to help
	Budget     Reason = "budget"        // this process has grown enough keys in the last minute
	AtMaximum  Reason = "at maximum"    // it has the largest width that is allowed
	FrozenHold Reason = "frozen"        // the key, or the collection
	NotKey     Reason = "not key range" // it is throttled, but not because of its shards
	Unstored   Reason = "not stored"    // it should grow, and its ledger could not be written
	DryRun     Reason = "dry run"       // it would grow
)

// Decision is what the law has decided about a key.
type Decision struct {
	Key    string
	Reason Reason
	To     int // the width to grow to, with Grows and DryRun; else the present one
	Width  int // the present one

	Rate      float64 // of the fleet, in write units per second, as offered
	Throttled float64 // the share of it that was throttled because of the key range
	Text      string  // the decision in a sentence, with what to do if anything is
}

// Law decides when keys grow. It is one process's, for one collection, and needs a lock if several goroutines call it.
//
// A process calls Observe for what it sends, and Due now and then, at least once a second for each key. What Due returns
// goes to the key's accumulator, in one UpdateItem that adds and returns the new totals. Decide takes these. So a process
// learns the rate of the whole fleet without knowing of the others, and no two clocks are compared. A report that is lost
// or added twice blurs one rate.
type Law struct {
	options LawOptions
	keys    map[string]*watch
	grown   []time.Time // when this process grew keys, in the last minute
	swept   time.Time   // when keys were last forgotten
}

// watch is what the law knows of a key.
type watch struct {
	pending Sample
	since   time.Time // when pending began
	first   bool      // nothing was reported yet
	alerts  int       // reports that were sent early
	others  [throttles]float64

	counts     [2]reading // of the first accumulator and of the spare one
	last       time.Time  // when the newest of them was
	generation int64
	seen       bool // generation is known
	changed    time.Time
	failed     time.Time // when the last growth failed; zero: it did not
	undo       func()    // takes back what the last decision to grow did to this watch; nil if there is nothing to take back

	rate      float64 // of the last report, 0 if there is none
	hot       int     // reports in a row with a rate above High
	throttled int     // reports in a row that were throttled although growth would help
	cold      int     // reports in a row that were throttled where growth would not help
	limited   int     // reports in a row that were throttled, in either way
	calm      int     // reports in a row with neither
	futile    bool    // growth was found futile, and no other decision has taken its place
	share     float64 // of throttled units, smoothed over about 20 s; 0 while the key cools
	smoothed  int     // reports that are in it
}

// begin forgets what the last reports agree on.
func (w *watch) begin() { w.hot, w.throttled, w.cold, w.limited, w.calm = 0, 0, 0, 0, 0 }

// futileBelow returns the rate of a throttled shard below which growth is futile. It takes more to leave that state than to
// enter it, so that a key near the limit stays in one.
func (w *watch) futileBelow(o *LawOptions) float64 {
	if w.futile {
		return min(rising*o.Futile, o.High)
	}
	return o.Futile
}

// reading is what an accumulator had.
type reading struct {
	totals Totals
	at     time.Time // zero: it was not read yet
}

// NewLaw returns a law. The error wraps ErrLaw.
func NewLaw(o LawOptions) (*Law, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Law{options: o, keys: map[string]*watch{}}, nil
}

// Watched returns how many keys are watched.
func (l *Law) Watched() int { return len(l.keys) }

// Observe takes what was seen of a key since the last call. It returns false if so many keys are watched that this one
// has to wait.
func (l *Law) Observe(key string, s Sample, now time.Time) bool {
	w := l.keys[key]
	if w == nil {
		if len(l.keys) >= l.options.MaxKeys {
			l.forget(now)
		}
		if len(l.keys) >= l.options.MaxKeys {
			return false
		}
		w = &watch{since: now, first: true}
		l.keys[key] = w
	}
	w.pending.add(s)
	return true
}

// forget drops keys that nobody has asked about for a while. It looks once a second: each key beyond MaxKeys calls it.
func (l *Law) forget(now time.Time) {
	if since := now.Sub(l.swept); since >= 0 && since < time.Second {
		return
	}
	l.swept = now
	for key, w := range l.keys {
		if now.Sub(w.since) > 4*l.options.Tick {
			delete(l.keys, key)
		}
	}
}

// Due returns what to add to the key's accumulator, and false if there is nothing to report now. A key that is cold is
// not reported, and forgotten.
func (l *Law) Due(key string, now time.Time) (Totals, bool) {
	w := l.keys[key]
	if w == nil {
		return Totals{}, false
	}
	wait := l.options.Tick
	if w.first {
		wait = l.options.Phase
	}
	limited := w.pending.Throttled[KeyRange] > 0
	early := limited && w.alerts < l.options.Alerts
	if early {
		wait = min(wait, l.options.Alert)
	}
	elapsed := now.Sub(w.since)
	if elapsed < wait {
		if elapsed < 0 {
			w.since = now // the clock went back
		}
		return Totals{}, false
	}
	s := w.pending
	w.pending, w.since, w.first = Sample{}, now, false
	offered := s.offered()
	if offered == s.Taken && offered < l.options.Report*elapsed.Seconds() {
		delete(l.keys, key)
		return Totals{}, false
	}
	if early {
		w.alerts++
	} else if !limited {
		w.alerts = 0
	}
	w.others = s.Throttled
	return Totals{Offered: offered, KeyRange: s.Throttled[KeyRange]}, true
}

// Unreported takes back what Due has returned, if the accumulator certainly did not get it: it may be on the very partition that
// is too hot. The next report has it, and comes as early as this one did. Without this, a rate would be measured too low exactly
// when it is too high.
func (l *Law) Unreported(key string, t Totals) {
	w := l.keys[key]
	if w == nil {
		return
	}
	w.pending.Taken += t.Offered - t.KeyRange
	w.pending.Throttled[KeyRange] += t.KeyRange
	w.alerts = max(0, w.alerts-1)
}

// Decide takes what the accumulator has after a report of Due, and the newest record that the process knows. A decision
// to grow counts as a growth, for the cooldown and the budget; see Failed.
func (l *Law) Decide(key string, t Totals, r Record, now time.Time) Decision {
	d := Decision{Key: key, Width: r.Write, To: r.Write}
	w := l.keys[key]
	if w == nil {
		return d.because(NoRate, "it is not watched")
	}
	if w.seen && r.Generation != w.generation {
		w.begin()
		w.changed, w.alerts, w.futile = now, 0, false
		w.undo = nil // somebody has grown the key, whatever became of this process's growth
	}
	w.generation, w.seen = r.Generation, true

	count := &w.counts[0]
	if t.Spare {
		count = &w.counts[1]
	}
	before, last := *count, w.last
	*count, w.last = reading{t, now}, now
	fell := t.Offered < before.totals.Offered || t.KeyRange < before.totals.KeyRange
	if fell || !l.recent(last, now) {
		w.begin()
		w.rate = 0
	}
	if fell || !l.recent(before.at, now) {
		return d.because(NoRate, "this is the first report for a while")
	}
	offered := t.Offered - before.totals.Offered
	d.Rate = offered / now.Sub(before.at).Seconds()
	if offered > 0 {
		d.Throttled = (t.KeyRange - before.totals.KeyRange) / offered
	}
	return l.judge(w, d, r, now)
}

// recent reports whether a reading is young enough for a rate.
func (l *Law) recent(at, now time.Time) bool {
	return !at.IsZero() && now.After(at) && now.Sub(at) <= 4*l.options.Tick
}

// judge applies the rules to a rate.
func (l *Law) judge(w *watch, d Decision, r Record, now time.Time) Decision {
	o := &l.options
	perShard := d.Rate / float64(r.Write)
	over, below := perShard > o.High, w.futileBelow(o)
	cooling := !w.changed.IsZero() && now.Sub(w.changed) < o.Cooldown && now.Sub(w.changed) >= 0
	limited := d.Throttled > o.Throttled || w.smooth(d.Throttled, cooling) > o.Uneasy && perShard >= below
	cold := limited && perShard < below
	w.hot = count(w.hot, over)
	w.throttled = count(w.throttled, limited && !cold)
	w.cold = count(w.cold, cold && !cooling)
	w.limited = count(w.limited, limited && !cooling)
	w.calm = count(w.calm, !over && !limited)
	agree := max(w.hot, w.throttled)
	ready := agree >= o.Reports && d.Rate <= rising*w.rate || agree >= 2*o.Reports
	w.rate = d.Rate

	switch {
	case w.futile && w.calm > 0 && w.calm < o.Reports:
		return d.because(Hysteresis, fmt.Sprintf("it is wide enough in %s, and %d must agree", figure.Count(w.calm, "report"), o.Reports))
	case w.calm > 0:
		w.futile = false
		if reason, units := w.mostOther(); units > 0 {
			return d.because(NotKey, fmt.Sprintf("it is throttled because of the %s limit, which more shards do not raise", reason))
		}
		return d.because(Calm, "it is wide enough")
	case cold && cooling:
		return d.because(Cooldown, fmt.Sprintf("it has grown %v ago, and the throttles may be of before", now.Sub(w.changed)))
	case cold && !w.futile && w.cold < o.Reports && w.limited < 2*o.Reports:
		return d.because(Hysteresis, fmt.Sprintf("its shards are throttled and cold in %s, and %d must agree", figure.Count(w.cold, "report"), o.Reports))
	case cold:
		w.futile = true
		return d.because(Futility, fmt.Sprintf("%.1f %% is throttled at only %.0f units per second and shard: the table has too few partitions; raise its warm throughput", 100*d.Throttled, perShard))
	case r.Frozen || o.Frozen:
		return d.because(FrozenHold, "it is too hot, and its width is frozen")
	case r.Write >= o.MaxWidth:
		return d.because(AtMaximum, fmt.Sprintf("it is too hot, and %d shards are the most that MaxWidth allows", o.MaxWidth))
	case !ready:
		return d.because(Hysteresis, fmt.Sprintf("it is too hot in %d reports, and %d must agree on how much", agree, o.Reports))
	case cooling:
		return d.because(Cooldown, fmt.Sprintf("it has grown %v ago", now.Sub(w.changed)))
	case !w.failed.IsZero() && now.Sub(w.failed) >= 0 && now.Sub(w.failed) < o.Tick:
		return d.because(Cooldown, fmt.Sprintf("its growth has failed %v ago", now.Sub(w.failed)))
	case l.spent(now) >= o.PerMinute:
		return d.because(Budget, fmt.Sprintf("this process has made %d growths in the last minute", o.PerMinute))
	}
	d.To = l.width(d.Rate, r.Write, over)
	changed, hot, limits := w.changed, w.hot, w.throttled
	w.undo = func() {
		w.changed, w.hot, w.throttled, w.failed = changed, hot, limits, now
		if i := slices.Index(l.grown, now); i >= 0 {
			l.grown = slices.Delete(l.grown, i, i+1)
		}
	}
	w.begin()
	w.changed, w.alerts, w.futile = now, 0, false
	if o.DryRun {
		return d.because(DryRun, fmt.Sprintf("it would grow to %d shards", d.To))
	}
	l.grown = append(l.grown, now)
	return d.because(Grows, fmt.Sprintf("it grows to %d shards", d.To))
}

// Failed says that the growth which Decide asked for was certainly not stored, or that nobody knows. It starts no cooldown
// then, the budget does not count it, and the reports that agreed on it still do. A report that agrees asks for it again, once
// a Tick at most.
func (l *Law) Failed(key string) {
	if w := l.keys[key]; w != nil && w.undo != nil {
		w.undo()
		w.undo = nil
	}
}

// width returns how wide a key is to be, a power of two unless MaxWidth is none.
func (l *Law) width(rate float64, width int, over bool) int {
	to := 2 * width
	if over {
		for need := l.options.Headroom * rate / l.options.Target; float64(to) < need && to < layout.MaxShards; {
			to *= 2
		}
	}
	return min(to, l.options.MaxWidth)
}

// spent returns how many keys this process has grown in the last minute. A growth of a time to come is of before the clock went
// back, and no longer counts.
func (l *Law) spent(now time.Time) int {
	kept := l.grown[:0]
	for _, at := range l.grown {
		if since := now.Sub(at); since >= 0 && since < time.Minute {
			kept = append(kept, at)
		}
	}
	l.grown = kept
	return len(kept)
}

// smooth returns the share of throttled units of the last reports. It is 0 while the key cools, whose throttles may be of before,
// and until there are enough reports.
func (w *watch) smooth(throttled float64, cooling bool) float64 {
	if cooling {
		w.share, w.smoothed = 0, 0
		return 0
	}
	w.smoothed++
	w.share += (throttled - w.share) / float64(min(w.smoothed, smoothing))
	if w.smoothed < smoothing {
		return 0
	}
	return w.share
}

// mostOther returns the reason of most throttles that are not about the key range, in the last report.
func (w *watch) mostOther() (reason Throttle, units float64) {
	for i := IndexKey; i < throttles; i++ {
		if w.others[i] > units {
			reason, units = i, w.others[i]
		}
	}
	return reason, units
}

func count(n int, more bool) int {
	if more {
		return n + 1
	}
	return 0
}

// Held returns the decision to grow as one that a freeze of the collection prevents. Call Failed with it.
func (d Decision) Held(freeze string) Decision {
	d.To = d.Width
	return d.because(FrozenHold, "it is too hot, and the collection is "+freeze)
}

// NotStored returns the decision to grow as one that could not be carried out. Call Failed with it.
func (d Decision) NotStored(err error) Decision {
	d.To = d.Width
	return d.because(Unstored, fmt.Sprintf("it is too hot, and its growth could not be stored: %v", err))
}

func (d Decision) because(r Reason, text string) Decision {
	d.Reason = r
	d.Text = fmt.Sprintf("key %q with %s, %.0f units per second, %.1f %% throttled: %s", d.Key, figure.Count(d.Width, "shard"), d.Rate, 100*d.Throttled, text)
	return d
}
