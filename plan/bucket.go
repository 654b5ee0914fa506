package plan

import (
	"math"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// buckets are the buckets of a layout, the shortest first.
var buckets = [...]struct {
	bucket layout.Bucket
	length time.Duration
	days   float64 // of the longest
}{
	{layout.Hour, time.Hour, 1.0 / 24},
	{layout.Day, day, 1},
	{layout.Week, 7 * day, 7},
	{layout.Month, 30 * day, 31},
	{layout.Year, 365 * day, 366},
}

const (
	day = 24 * time.Hour

	// A bucket should hold enough items to be worth a query, and not so many that it does not help.
	itemsPerBucket = 2_000

	// A read should touch a handful of buckets: a week of days, for instance.
	bucketsPerRead = 8
)

// chooseBucket returns the bucket for so many items a day and reads of so long a window: the longest with no more than
// 2,000 items, or a longer one if a read would touch more than eight.
//
// 10 to 50 items a day make months, and a quarter is read with three queries, not ninety. A log of 1,000 entries a day
// makes days. Without a window a bucket helps no read.
func chooseBucket(itemsPerDay float64, window time.Duration) layout.Bucket {
	if window <= 0 {
		return layout.NoBucket
	}
	i := 0
	for i+1 < len(buckets) && itemsPerDay*buckets[i+1].days <= itemsPerBucket {
		i++
	}
	for i+1 < len(buckets) {
		if _, most := touched(buckets[i].bucket, window); most <= bucketsPerRead {
			break
		}
		i++
	}
	return buckets[i].bucket
}

// touched returns how many buckets a read of a window touches: the least, if the window starts with a bucket, and the
// most.
func touched(b layout.Bucket, window time.Duration) (least, most int) {
	for _, known := range buckets {
		if known.bucket == b {
			least = max(int(math.Ceil(float64(window)/float64(known.length))), 1)
			return least, least + 1
		}
	}
	return 1, 1
}
