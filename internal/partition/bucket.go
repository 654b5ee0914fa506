package partition

import (
	"math"
	"math/bits"
	"time"
)

// amount is a number of capacity units in billionths. Refilling for d
// nanoseconds at r units per second adds exactly r × d of it: arithmetic on
// amounts is exact, and so are long-run rates.
type amount int64

const (
	unit      amount = 1e9
	maxAmount amount = 1 << 61 // 2.3 billion units; twice that still fits
	maxUnits         = 1e9     // the most that one request is charged
)

// amountOf converts capacity units. What is not a positive number costs nothing.
func amountOf(units float64) amount {
	if !(units > 0) {
		return 0
	}
	return amount(math.Round(min(units, maxUnits) * float64(unit)))
}

func (a amount) units() float64 { return float64(a) / float64(unit) }

// times returns r × d, at most maxAmount. Negative factors count as zero.
func times(unitsPerSecond int64, d time.Duration) amount {
	if unitsPerSecond <= 0 || d <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(unitsPerSecond), uint64(d))
	if high != 0 || low > uint64(maxAmount) {
		return maxAmount
	}
	return amount(low)
}

// instant is a moment on a set's own clock, in nanoseconds: see Set.instant.
type instant int64

// bucket is a token bucket with debt. It fills at rate, holds at most limit, and
// lets a request through if it holds anything at all; what the request costs
// beyond that is owed, and nothing passes until the debt is paid. DynamoDB cannot
// ask for the full price in advance either: what a Query costs is known when it
// has been read, and a 400 KB item may be written to a table of one unit.
//
// Over any time t, the requests let through cost
//
//	at most   rate × t + limit + the cost of the last one,
//	at least  rate × t, if there was always one waiting.
//
// So the long-run rate under overload is exactly rate, whatever requests cost.
// Conversely, a load that never sends more than rate × t + limit within any t is
// never refused.
//
// The zero bucket has no limit: it refuses nothing.
type bucket struct {
	rate  int64 // units per second; zero: no limit
	limit amount
	level amount // negative: owed
	at    instant
	step  instant // refills happen at multiples of it; zero: all the time
	gate  int     // its number during Pour
}

// newBucket returns a bucket that holds what flows in during initially.
func newBucket(rate int64, hold, initially time.Duration, at instant) bucket {
	if rate <= 0 {
		return bucket{}
	}
	b := bucket{rate: rate, limit: max(times(rate, hold), 1), at: at}
	b.level = min(b.limit, times(rate, initially))
	return b
}

// resize changes rate and limit. What the bucket holds or owes stays, as far as
// it has room.
func (b *bucket) resize(rate int64, hold time.Duration, at instant) {
	b.refill(at)
	b.rate, b.limit = rate, max(times(rate, hold), 1)
	b.level = min(b.level, b.limit)
}

// refill lets in what has flowed since the last time. A clock that goes
// backwards adds nothing and takes nothing.
func (b *bucket) refill(at instant) {
	if b.step > 0 {
		at -= at % b.step
	}
	if at <= b.at {
		return
	}
	high, low := bits.Mul64(uint64(at-b.at), uint64(b.rate))
	b.at = at
	if missing := uint64(b.limit - b.level); high != 0 || low >= missing {
		b.level = b.limit
	} else {
		b.level += amount(low)
	}
}

// refuses reports whether nothing may pass at the moment.
func (b *bucket) refuses(at instant) bool {
	if b.rate == 0 {
		return false
	}
	b.refill(at)
	return b.level <= 0
}

// charge takes what a request costs that passes.
func (b *bucket) charge(cost amount, at instant) {
	if b.rate == 0 {
		return
	}
	b.refill(at)
	b.level = max(b.level-cost, -maxAmount)
}
