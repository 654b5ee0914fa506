package heat

import "time"

// Durations counts calls by their duration as the caller saw it, with retries and their waits: the histogram that Latency
// has the percentiles of. It counts since the source began, so that histograms of several processes can be added.
type Durations struct {
	Count int64         `json:"count"`
	Sum   time.Duration `json:"sum"`

	// Buckets are the calls that took longer than the bound before, and at most the bound of DurationBounds. Calls that
	// took longer than the last bound are only in Count.
	Buckets [len(durationBounds)]int64 `json:"buckets"`
}

// durationBounds reach from a fast read to a call that was retried for a minute.
var durationBounds = [...]time.Duration{
	500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// DurationBounds returns the upper bounds of Durations.Buckets, ascending.
func DurationBounds() [len(durationBounds)]time.Duration { return durationBounds }

// add counts a call.
func (d *Durations) add(took time.Duration) {
	took = max(0, took)
	d.Count++
	d.Sum += took
	for i, bound := range durationBounds {
		if took <= bound {
			d.Buckets[i]++
			return
		}
	}
}
