package main

import (
	"context"
	"math"
	"time"
)

// refresh is how often a terminal is shown how the second goes.
const refresh = 100 * time.Millisecond

// watch reads the figures every second, and shows them, until the load's time is over or ctx ends.
func (w *writing) watch(ctx context.Context, l load, show *screen, g *growth) (result written) {
	start, end := w.from.Add(-l.runIn), w.from.Add(l.measured)
	last := reading{at: start}
	measured := last
	showHeading(show)
	for last.at.Before(end) {
		now, ok := w.second(ctx, start, last, nextSecond(last.at, end), show)
		if !ok {
			return written{}
		}
		r, note := now.since(last), ""
		if last.at.Before(w.from) && now.at.Before(end) { // a late first look is better than none
			measured = now
			note = "not counted"
		}
		if g != nil {
			r.Width = g.show(show)
			note = shardCount(r.Width)
		}
		result.seconds = append(result.seconds, r)
		show.say("%s", r.line(show, seconds(start, now.at), note))
		last = now
	}
	result.measured = last.since(measured)
	return result
}

// nextSecond returns a second later, or the end if that is near. Where the machine does not let us look in time, the
// next look is late, and not one too many.
func nextSecond(last, end time.Time) time.Time {
	next := last.Add(time.Second)
	if next.Add(time.Second / 2).After(end) {
		return end
	}
	return next
}

// second waits for the next reading, and shows a terminal how things go until then.
func (w *writing) second(ctx context.Context, start time.Time, last reading, next time.Time, show *screen) (reading, bool) {
	for {
		at := next
		if soon := time.Now().Add(refresh); show.terminal && soon.Before(next) {
			at = soon
		}
		if !sleepUntil(ctx, at) {
			return reading{}, false
		}
		now := w.reading(time.Now())
		if !now.at.Before(next) {
			return now, true
		}
		show.live(now.since(last).line(show, seconds(start, next), ""))
	}
}

func seconds(from, to time.Time) int { return int(math.Round(to.Sub(from).Seconds())) }
