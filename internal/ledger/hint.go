package ledger

import "time"

// ahead is the part of a time bucket after which its writers create the ledger of the next.
const ahead = 0.9

// Hint returns how wide a time bucket begins, from the write width of the bucket before it and the largest rate that the
// fleet had there, in write units per second. That is room for the rate, and half of the width at least, so that a key
// becomes narrower by half in each bucket that needs less. A bucket that was wide enough is followed by none that is wider.
// The width is a power of two, MaxWidth at most.
func (l *Law) Hint(width int, peak float64) int {
	o := l.options
	need := o.Headroom * peak / o.Target
	if calm := peak <= o.High*float64(width); calm {
		need = min(need, float64(width))
	}
	if half := float64(width) / 2; !(need >= half) { // also if the rate is no number
		need = half
	}
	to := 1
	for float64(to) < need && 2*to <= o.MaxWidth {
		to *= 2
	}
	return to
}

// convinced is how many items in a row must be neither of the bucket that is followed nor of the next, until another bucket is
// followed. It is more than a batch has, and too few for a shard to be throttled.
const convinced = 100

// Span is a time bucket: from Start to before End.
type Span struct{ Start, End time.Time }

// Hint is a ledger that is to be created, by a Grow with Growth.Create.
type Hint struct {
	Bucket time.Time // the start of the bucket that it is for
	To     int       // how wide it begins, more than 1
}

// Hints follows one process and one key through their time buckets, and says when to create a ledger ahead. Its times are
// those of items: no clock takes part. Each bucket that is followed gets one hint of a process at most. Without a hint, or if it
// could not be stored, a bucket begins with one shard and grows by the law.
//
// Items whose time is wrong must not lead away from the bucket that all others are in. An item of that bucket or the next is
// believed at once. Another bucket is followed after many items in a row, whether it is a later one or an earlier one.
//
// It needs a lock if several goroutines call it.
type Hints struct {
	law    *Law
	span   Span    // the bucket that is followed; zero: none is
	width  int     // of it
	peak   float64 // of it
	away   int     // items in a row that are neither in it nor in the next
	hinted time.Time
}

// NewHints returns the hints of a key that this process has not written to.
func NewHints(l *Law) *Hints { return &Hints{law: l} }

// Writes takes that an item with the time at is about to be written to a bucket, whose write width the process takes for
// width. It returns what to create first, if anything: the ledger of this bucket on its first write, and the ledger of the
// next from 90 % of this one on. A bucket that begins with one shard needs no ledger.
func (h *Hints) Writes(s Span, at time.Time, width int) (Hint, bool) {
	if h.span == (Span{}) {
		h.follow(s, width)
	}
	first, to := false, 0
	switch gap := s.Start.Sub(h.span.End); {
	case s.Start.Equal(h.span.Start):
	case gap == 0:
		first, to = true, h.law.Hint(h.width, h.peak)
	default: // late, or after a silence, or a wrong time
		if h.away++; h.away < convinced {
			return Hint{}, false
		}
		if gap < 0 {
			h.hinted = time.Time{} // whoever wrote this bucket has seen to its ledger, and nobody to the next
		} else if s.End.After(s.Start) {
			first, to = true, halved(h.width, 1+int(min(gap/s.End.Sub(s.Start), 30)))
		}
	}
	h.away = 0
	if !s.Start.Equal(h.span.Start) {
		h.follow(s, width)
	}
	if first {
		if hint, ok := h.hint(s.Start, to); ok {
			return hint, true
		}
	}
	h.width = max(h.width, width)
	if at.Sub(s.Start) < time.Duration(ahead*float64(s.End.Sub(s.Start))) {
		return Hint{}, false
	}
	return h.hint(s.End, h.law.Hint(h.width, h.peak))
}

// follow makes a bucket the one that is followed.
func (h *Hints) follow(s Span, width int) { h.span, h.width, h.peak = s, width, 0 }

// Rate takes the rate of the fleet that a Decision was made with, in write units per second.
func (h *Hints) Rate(bucket time.Time, rate float64) {
	if bucket.Equal(h.span.Start) {
		h.peak = max(h.peak, rate)
	}
}

// hint returns a hint for a bucket, once.
func (h *Hints) hint(bucket time.Time, to int) (Hint, bool) {
	if !bucket.After(h.hinted) || to < 2 {
		return Hint{}, false
	}
	h.hinted = bucket
	return Hint{Bucket: bucket, To: to}, true
}

// halved returns a power of two that is at least the width after so many halvings.
func halved(width, times int) int {
	to := 1
	for to<<times < width && to < width {
		to *= 2
	}
	return to
}
