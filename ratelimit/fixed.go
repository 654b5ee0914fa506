package ratelimit

import (
	"time"

	"github.com/heatsink-go/heatsink"
)

// fixedWindow counts in an item for each window, whose sort key is when the window began. A process whose clock is
// wrong counts in another window, and keeps that one's limit.
type fixedWindow struct {
	name   string
	window time.Duration
}

const countAttribute = "n"

// windowText is the one format of times in keys: in UTC and of one length, so that their order is the order of time.
const windowText = "2006-01-02T15:04:05.000Z"

// start returns when the window of a time began. Truncate counts from a Monday at midnight in UTC.
func (f fixedWindow) start(now time.Time) time.Time { return now.UTC().Truncate(f.window) }

func (f fixedWindow) lapse(now time.Time) time.Time { return f.start(now).Add(f.window) }

func (f fixedWindow) sortKey(now time.Time) string {
	return f.name + "#" + f.start(now).Format(windowText)
}

// count needs not know the item: n + cost ≤ share is n ≤ share − cost.
func (f fixedWindow) count(q *question) expression {
	return expression{
		update:    "SET #n = if_not_exists(#n, :none) + :cost, #ttl = :ttl",
		condition: "attribute_not_exists(#n) OR #n <= :most",
		names:     map[string]string{"#n": countAttribute},
		values:    heatsink.Item{":none": number(0), ":cost": number(q.n), ":most": number(q.share - q.n)},
	}
}

func (f fixedWindow) room(item heatsink.Item, share int, _ time.Time) (int, error) {
	if item == nil {
		return share, nil
	}
	n, err := numberIn(item, countAttribute)
	return max(share-int(n), 0), err
}

func (f fixedWindow) free(_ heatsink.Item, _, _ int, now time.Time) time.Time { return f.lapse(now) }

func (f fixedWindow) hint(heatsink.Item) int64 { return 0 }
