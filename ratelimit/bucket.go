package ratelimit

import (
	"math/bits"
	"time"

	"github.com/heatsink-go/heatsink"
)

// tokenBucket is the generic cell rate algorithm: instead of tokens and when they were counted, an item has one number,
// the time at which the bucket will be full again. Taking a token puts it off by the time that a token takes to come.
// As it is compared with now and only ever grows, tokens need not be refilled, and clocks that differ by a while let
// through what comes in that while, once.
//
// A bucket that is full stays full: the time to put off is then now, not one long past. An update cannot choose between
// the two, so there is one for each case, and the first guess may have to be corrected.
type tokenBucket struct {
	name   string
	window time.Duration
	limit  int // tokens that come in a window
	burst  int // tokens of a full bucket, of all shards
}

const fullAttribute = "full" // when the bucket is full, in Unix nanoseconds

func (b tokenBucket) sortKey(time.Time) string { return b.name }

func (b tokenBucket) lapse(now time.Time) time.Time { return now.Add(b.fill()) }

// fill is how long an empty bucket takes to be full; that of a shard with its share of tokens at its share of the rate
// takes as long, but for rounding.
func (b tokenBucket) fill() time.Duration { return b.interval(1) }

// interval returns how long a token takes to come to a shard: window × burst ÷ (limit × share), rounded up.
func (b tokenBucket) interval(share int) time.Duration {
	high, low := bits.Mul64(uint64(b.window), uint64(b.burst))
	quotient, rest := bits.Div64(high, low, uint64(b.limit)*uint64(share))
	if rest > 0 {
		quotient++
	}
	return time.Duration(quotient)
}

// full returns when an item's bucket is full, in Unix nanoseconds.
func (b tokenBucket) full(item heatsink.Item) (int64, error) {
	if item == nil {
		return 0, nil
	}
	return numberIn(item, fullAttribute)
}

func (b tokenBucket) hint(item heatsink.Item) int64 {
	full, err := b.full(item)
	if err != nil {
		return 0
	}
	return full
}

// count guesses that the bucket is full unless the hint says otherwise. Where others take tokens as well it is less
// full than it was seen: once that made a guess wrong, the bucket is taken not to be full for as long as it takes to
// fill.
func (b tokenBucket) count(q *question) expression {
	now := q.now.UnixNano()
	full := q.hint
	if q.known {
		full = b.hint(q.seen)
		q.hint = full
		if full > now {
			q.hint = now + int64(b.fill())
		}
	}
	interval := b.interval(q.share)
	take := interval * time.Duration(q.n)
	if full <= now {
		return expression{
			update:    "SET #full = :then, #ttl = :ttl",
			condition: "attribute_not_exists(#full) OR #full <= :now",
			names:     map[string]string{"#full": fullAttribute},
			values:    heatsink.Item{":now": number(now), ":then": number(now + int64(take))},

			repeatable: true,
		}
	}
	return expression{
		update:    "SET #full = #full + :take, #ttl = :ttl",
		condition: "#full > :now AND #full <= :most",
		names:     map[string]string{"#full": fullAttribute},
		values: heatsink.Item{
			":now": number(now), ":take": number(int64(take)),
			":most": number(now + int64(interval)*int64(q.share) - int64(take)),
		},
	}
}

func (b tokenBucket) room(item heatsink.Item, share int, now time.Time) (int, error) {
	full, err := b.full(item)
	if err != nil {
		return 0, err
	}
	missing := max(full-now.UnixNano(), 0)
	interval := int64(b.interval(share))
	return int(max((interval*int64(share)-missing)/interval, 0)), nil
}

func (b tokenBucket) free(item heatsink.Item, share, n int, now time.Time) time.Time {
	full, err := b.full(item)
	if err != nil {
		return now
	}
	return time.Unix(0, full-int64(b.interval(share))*int64(share-n))
}
