package counter

import (
	"math/rand/v2"
	"time"
)

// enough is how many Adds make a flush worth its write unit: with more waiting there is no point in waiting for others.
const enough = 100

// pace says when a counter is flushed next. The time between the starts of two flushes is such that about enough Adds
// gather, but never more than the interval that Adds may wait for, or less than minInterval. With each request that
// fails it doubles, up to maxInterval, and with each that succeeds it comes back by a twentieth: writers that are too
// many for their partition find the pace at which one request in fifteen is throttled.
//
// What comes after a pause is flushed at once: there is nobody to wait for.
type pace struct {
	interval time.Duration // the longest, when all is well
	spacing  time.Duration
	next     time.Time // not before
}

func newPace(interval time.Duration) pace { return pace{interval: interval, spacing: interval} }

// due returns how long to wait from now.
func (p *pace) due(now time.Time) time.Duration {
	return min(max(0, p.next.Sub(now)), p.spacing) // should a clock have been set back
}

// started takes it that a flush starts.
func (p *pace) started(now time.Time) { p.next = now.Add(p.spacing) }

// succeeded takes it that a flush has stored so many Adds.
func (p *pace) succeeded(adds int64) {
	if p.spacing > p.interval {
		p.spacing = max(p.interval, p.spacing*19/20)
		return
	}
	wanted := p.spacing * enough / time.Duration(max(1, min(adds, 1e6)))
	p.spacing = (p.spacing + min(max(wanted, minInterval), p.interval)) / 2
}

// failed takes it that a request failed. The next one comes after at least half the new time, and not when everybody
// else's does.
func (p *pace) failed(now time.Time) {
	p.spacing = min(2*p.spacing, maxInterval)
	p.next = now.Add(p.spacing/2 + rand.N(p.spacing/2))
}
