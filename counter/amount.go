package counter

import "math"

// amount is what a number of Adds come to. What goes up and what goes down are kept apart, because each of the two only
// ever grows: that is what lets a reader say between which values a counter was.
type amount struct {
	up, down int64
	adds     int64 // how many Adds
}

// amountOf returns the amount of one Add, and false if its negative does not fit.
func amountOf(delta int64) (amount, bool) {
	if delta >= 0 {
		return amount{up: delta, adds: 1}, true
	}
	return amount{down: -delta, adds: 1}, delta != math.MinInt64
}

// plus returns a + b, and false if that does not fit.
func (a amount) plus(b amount) (amount, bool) {
	sum := amount{a.up + b.up, a.down + b.down, a.adds + b.adds}
	fits := fits(a.up, b.up, sum.up) && fits(a.down, b.down, sum.down) && fits(a.adds, b.adds, sum.adds)
	return sum, fits
}

// fits reports whether sum is really a + b.
func fits(a, b, sum int64) bool { return (sum > a) == (b > 0) }

func (a amount) minus(b amount) amount { return amount{a.up - b.up, a.down - b.down, a.adds - b.adds} }

// value is what the amount adds to a counter.
func (a amount) value() int64 { return a.up - a.down }

// level is how much is known in advance about the Adds of a counter: the less, the more a reader has to do. It is
// stored with the counter and only rises.
type level int

const (
	ones   level = iota // every Add is of 1
	grows               // every Add is of 1 or more
	signed              // there are negative ones
)

// level returns the level that a counter must have for an Add of delta.
func levelOf(delta int64) level {
	switch {
	case delta < 0:
		return signed
	case delta > 1:
		return grows
	}
	return ones
}
