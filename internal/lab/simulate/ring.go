package simulate

// ring is quantities that are due at ticks to come. The place of tick n is n modulo its length.
type ring struct {
	slots []float64
	next  int64   // the first tick that was not taken yet
	sum   float64 // of all slots
}

// newRing returns a ring for quantities that are due within so many ticks after the last that was taken.
func newRing(ticks int, now int64) *ring { return &ring{slots: make([]float64, ticks+1), next: now} }

// add spreads a quantity evenly over n ticks from first on. What is out of reach is due at the last tick that is not.
func (r *ring) add(quantity float64, first int64, n int) {
	n = max(n, 1)
	r.sum += quantity
	each := quantity / float64(n)
	last := r.next + int64(len(r.slots)) - 1
	for i := range int64(n) {
		tick := min(max(first+i, r.next), last)
		r.slots[tick%int64(len(r.slots))] += each
	}
}

// take returns what is due up to and including a tick.
func (r *ring) take(until int64) float64 {
	due := 0.0
	for ; r.next <= until; r.next++ {
		slot := &r.slots[r.next%int64(len(r.slots))]
		due += *slot
		*slot = 0
		if due >= r.sum { // the rest is zero, but for rounding
			r.next = until + 1
			break
		}
	}
	r.sum -= due
	return due
}
