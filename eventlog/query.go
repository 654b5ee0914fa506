package eventlog

import (
	"fmt"
	"math"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// Query selects the events to read. Only Log is required.
type Query struct {
	// Log is the name of the log.
	Log string

	// From and To limit the time to [From, To). Default for From: Options.Begin, or the start of the Retention. Default
	// for To: now plus Options.Settle, because clocks may be ahead.
	From, To time.Time

	// Newest returns the newest events first.
	Newest bool

	// Limit is the largest number of events to return. Default: all. Page requires it.
	Limit int

	// Consistent makes reads strongly consistent, at twice the price. They then include all events that were
	// acknowledged before.
	Consistent bool

	// Prefetch is the number of buckets that are read in parallel with the current one, whether they are needed or not.
	// With 6, reading seven days takes as long as reading one. Default: the next bucket, once it is certainly needed,
	// and more after buckets with few events.
	Prefetch int

	// MaxRequests is the largest number of Query requests of this read, as in heatsink.Query. Without a Limit, a read
	// that needs more is refused before it starts. With a Limit, the read ends when it needs more. The error wraps
	// heatsink.ErrTooManyRequests. With Options.Index, the read uses the index instead. Default: 10,000. Negative: no
	// limit.
	MaxRequests int

	// Index reads Options.Index instead of the shards.
	Index bool
}

// stretch is a part of a log that is being read: the events with sort keys from lo on and before hi.
type stretch struct {
	Query
	from, to time.Time // where lo and hi are; from may be the zero time
	lo, hi   string

	left   int    // how many are still wanted, if there is a Limit
	passed string // the sort key of the event that was returned last; "" if none was
}

// stretch works out which part of a log a query is about.
func (c *core) stretch(q Query, now time.Time) (*stretch, error) {
	wrong := func(format string, args ...any) (*stretch, error) {
		return nil, fmt.Errorf("%w: log %q: "+format, append([]any{ErrQuery, q.Log}, args...)...)
	}
	from, to := q.From, q.To
	if from.IsZero() {
		from = c.options.Begin
	}
	if to.IsZero() {
		to = now.Add(c.options.Settle)
	}
	if oldest := c.oldest(now); from.Before(oldest) {
		from = oldest
	}
	switch {
	case q.Log == "":
		return wrong("it has no name")
	case q.Limit < 0:
		return wrong("Limit is negative: %d", q.Limit)
	case q.Prefetch < 0:
		return wrong("Prefetch is negative: %d", q.Prefetch)
	case !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From):
		return wrong("To, %v, is before From, %v", q.To, q.From)
	case from.IsZero() && c.options.Bucket != layout.NoBucket:
		return wrong("From is not set, and neither Options.Begin nor the Retention say when a log in buckets begins")
	case q.Index && c.index == nil:
		return wrong("Index is set, but Options have none")
	case q.Index && q.Consistent:
		return wrong("Index and Consistent are set, but indexes have no consistent reads")
	}
	for _, at := range []time.Time{from, to} {
		if err := checkTime(at); err != nil && !at.IsZero() {
			return wrong("%w", err)
		}
	}
	s := &stretch{Query: q, to: c.stamps.ceil(to), left: min(q.Limit, maxLimit)}
	if !from.IsZero() {
		s.from = c.stamps.ceil(from)
	}
	s.lo, s.hi = c.stamps.bound(s.from), c.stamps.bound(s.to)
	return s, nil
}

// maxLimit is more events than anybody reads, and leaves room for adding to it.
const maxLimit = math.MaxInt / 4

// bounds returns the first and the last sort key that are left to read, and false if there is none. The event that was
// returned last is among them, as conditions on keys are of closed ranges.
func (s *stretch) bounds() (lo, hi string, ok bool) {
	if s.lo >= s.hi {
		return "", "", false
	}
	lo, hi = s.lo, before(s.hi)
	switch {
	case s.passed == "":
	case s.Newest:
		hi = min(hi, s.passed)
	default:
		lo = max(lo, s.passed)
	}
	return lo, hi, lo <= hi
}

// query returns what to ask a collection of the log's own keys for, and false if there is nothing.
func (c *core) query(s *stretch, limit int) (heatsink.Query, bool) {
	lo, hi, ok := s.bounds()
	if !ok {
		return heatsink.Query{}, false
	}
	q := heatsink.Query{
		Key: s.Log, Sort: heatsink.Between(lo, hi),
		Reverse: s.Newest, Limit: limit, Consistent: s.Consistent, Prefetch: s.Prefetch, MaxRequests: s.MaxRequests,
	}
	if b := c.options.Bucket; b != layout.NoBucket { // whole buckets: the sort keys are exact
		from, to := s.from, s.to
		if at, _, err := c.stamps.parse(s.passed); err == nil && s.Newest {
			to = minTime(to, at.Add(1))
		} else if err == nil {
			from = maxTime(from, at)
		}
		q.From, q.To = b.Start(from), b.Next(to.Add(-1))
	}
	return q, true
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func maxTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// own returns the collection of the log's own keys that has a stretch: with the older layouts if it reaches back to
// them.
func (c *core) own(s *stretch) *items {
	if c.reachesOlder(s) {
		return c.along
	}
	return c.shards
}

func (c *core) reachesOlder(s *stretch) bool {
	until := c.options.OlderUntil
	return c.along != nil && (until.IsZero() || s.from.Before(until))
}
