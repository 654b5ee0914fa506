package observed

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/judge"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan"
)

// wholeKey is a key of a flow as programs know it: with all of its shards, if it has some.
type wholeKey struct {
	heat.KeyHeat
	sustained float64 // of all shards
	fullest   float64 // of sustained, in one shard; 0 without shards
	held      bool    // a shard is throttled at what its partition serves
	stored    []string
	shards    int
	format    layout.Format // of the shards
	bare      bool          // the bare key is one of them
	widths    bool          // other keys may have another number of shards
}

// manyItems stands for more items than one.
const manyItems = 2

// wholeKeys returns the keys of a flow, with shards folded into the key that they are of.
func wholeKeys(report *heat.Report, r *heat.ResourceReport, d heat.Direction) []wholeKey {
	f := r.Flow(d)
	var keys []wholeKey
	places := make(map[string]int)
	for _, l := range f.Folded() {
		if l.Shards < 2 {
			continue
		}
		k := wholeKey{shards: l.Shards, bare: l.Bare, sustained: max(l.RateLow, l.Busy), fullest: l.HottestRate, KeyHeat: heat.KeyHeat{
			Key: l.Key, Units: l.Units, RateLow: l.RateLow, Busy: l.Busy, Second: l.Second, Refused: l.Refused,
			Requests: l.Requests, Throttled: l.Throttled, Reason: l.Reason,
		}}
		k.sustained = atOnce(k.sustained, l.RateLow, f)
		k.told(f, l.Fullest)
		places[l.Key] = len(keys)
		keys = append(keys, k)
	}
	var own []wholeKey
	listed := make([]float64, len(keys))
	logicalOf := f.Logicals()
	for i := range f.Keys {
		k := &f.Keys[i]
		logical, shard := logicalOf(k.Key)
		at, known := places[logical]
		if !shard || !known {
			one := wholeKey{KeyHeat: *k, sustained: report.Sustained(k), stored: []string{k.Key}}
			if shard {
				one.alone(f, logical)
			}
			own = append(own, one)
			continue
		}
		whole := &keys[at]
		whole.stored = append(whole.stored, k.Key)
		whole.fullest = max(whole.fullest, report.Sustained(k))
		whole.held = whole.held || held(report, k, report.Limit(d))
		if k.Items == 0 { // not known, so it is not known to be one
			whole.Items = manyItems
		}
		whole.Items = max(whole.Items, k.Items)
		listed[at] += report.Sustained(k)
		whole.sustained = max(whole.sustained, atOnce(listed[at], whole.RateLow, f))
	}
	return append(keys, own...)
}

// alone makes a key that no other shard was seen of one with shards, if it ends like a shard of the logical key: a plan for it is
// one for that key. A bare key is a shard only where others of it were seen.
func (k *wholeKey) alone(f *heat.Flow, logical string) {
	stored := k.Key
	if number, ok := shardNumber(f, stored, logical); ok {
		k.Key, k.shards, k.fullest = logical, number+1, k.sustained
		k.told(f, stored)
	}
}

// shardNumber returns the number, from 0, of the shard of a logical key that a key ends in. The layouts that the source was told
// come first.
func shardNumber(f *heat.Flow, stored, logical string) (number int, ok bool) {
	if logical == stored {
		return 0, false
	}
	for _, l := range append(layoutsOf(f), selfTold()...) {
		whole, digits, ok := l.Layout.CutShard([]byte(stored))
		if !ok || string(whole) != logical {
			continue
		}
		if n, err := strconv.Atoi(string(digits)); err == nil && n >= l.Layout.Format.First {
			return n - l.Layout.Format.First, true
		}
	}
	return 0, false
}

// selfTold are the layouts of keys that end in #SHARD_n or #SHARD#n, whoever stored them.
func selfTold() []heat.Layout {
	return []heat.Layout{{Widths: true}, {Widths: true, Layout: layout.Layout{Format: layout.SharpNumber()}}}
}

// held reports whether a key is throttled at what its partition serves, rather than because of others on it. What it was
// throttled at long ago says nothing of now.
func held(report *heat.Report, k *heat.KeyHeat, limit float64) bool {
	rate := max(report.Sustained(k), k.Second)
	return k.Throttled > judge.FewThrottles && byKeyRange(k) && rate >= judge.Beside*limit
}

// byKeyRange reports whether the limit that throttled a key is that of a partition.
func byKeyRange(k *heat.KeyHeat) bool {
	return strings.HasSuffix(k.Reason, "KeyRangeThroughputExceeded")
}

// atOnce returns the demand for all shards of a key at one time: their peaks may be of different times. The recent demand is of
// one time. The peaks together are no more than the busiest second of the flow, where that is known.
func atOnce(peaks, recent float64, f *heat.Flow) float64 {
	if f.Peak > 0 {
		peaks = min(peaks, f.Peak)
	}
	return max(peaks, recent)
}

// told fills in what is known of the layout that the shards of a key have, one of which is the fullest.
func (k *wholeKey) told(f *heat.Flow, fullest string) {
	for _, l := range append(layoutsOf(f), selfTold()...) {
		whole, _, ok := l.Layout.CutShard([]byte(fullest))
		if !ok || string(whole) != k.Key {
			continue
		}
		k.format = l.Layout.Format
		k.bare = k.bare || k.format.BareZero
		k.format.BareZero = false // that is the plan's to say
		if told := l.Layout.Shards; told > 0 && l.Widths {
			k.widths = true
		} else {
			k.shards = max(k.shards, told)
		}
		return
	}
}

// layoutsOf returns the layouts that the source was told.
func layoutsOf(f *heat.Flow) []heat.Layout {
	var layouts []heat.Layout
	for i := range f.Sharded {
		layouts = append(layouts, f.Sharded[i].Layout)
	}
	return layouts
}

// bucketed returns the key without the time bucket that it ends in, if that is how heatsink spells one.
func (k *HotKey) bucketed() plan.KeyRate {
	rate := k.KeyRate
	for _, b := range buckets {
		l := layout.Layout{Bucket: b, Format: rate.Format}
		if key, ok := l.CutBucket([]byte(rate.Key)); ok && len(key) > 0 {
			rate.Key, rate.Bucket, rate.Latest = string(key), b, k.of.latest(string(key), l)
			break
		}
	}
	return rate
}

// latest returns the start of the newest bucket of a key that was seen.
func (o *observation) latest(key string, l layout.Layout) (newest time.Time) {
	for i := range o.rates {
		if text, ok := strings.CutPrefix(o.rates[i].Key, key); ok {
			if at, err := l.Bucket.ParseText(strings.TrimPrefix(text, cmp.Or(l.Format.BucketPrefix, "#"))); err == nil && at.After(newest) {
				newest = at
			}
		}
	}
	return newest
}

var buckets = [...]layout.Bucket{layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year}

// onePerBucket leaves the first of the keys that differ in their time bucket only: a plan is for all buckets.
func onePerBucket(keys []HotKey) []HotKey {
	type about struct {
		heat.Resource
		key    string
		bucket layout.Bucket
	}
	seen := make(map[about]bool)
	return slices.DeleteFunc(keys, func(k HotKey) bool {
		rate := k.bucketed()
		if rate.Bucket == layout.NoBucket {
			return false
		}
		one := about{k.Resource(), rate.Key, rate.Bucket}
		dropped := seen[one]
		seen[one] = true
		return dropped
	})
}
