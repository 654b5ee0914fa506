package plan

import (
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/judge"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// Strategy is what to do about a key.
type Strategy string

// The strategies.
const (
	Leave          Strategy = "leave"           // keep the key as it is: one request for a read
	Random         Strategy = "random"          // a random shard for every write
	Calculated     Strategy = "calculated"      // a shard from a hash of the item's id: one request finds it
	Bucketed       Strategy = "bucket"          // a key for every hour, day or month: shorter lists, no more throughput
	BucketedShards Strategy = "bucket-shards"   // shards in every bucket
	ShardedIndex   Strategy = "sharded-index"   // items under their own id, listed by an index with a sharded key
	Counter        Strategy = "sharded-counter" // one item in each shard: a write adds to one at random, a read sums all
	Cached         Strategy = "cache"           // reads are served from memory for a moment
	Replicated     Strategy = "replicate"       // copies of the item: a read asks one of them
)

// Spreads reports whether the strategy spreads a key's writes over several keys at the same time.
func (s Strategy) Spreads() bool {
	return s == Random || s == Calculated || s == BucketedShards || s == ShardedIndex || s == Counter
}

// Choice is how writers choose among the shards of a key: Uniform or Aware.
type Choice = bins.Choice

// The choices.
const (
	Uniform = bins.Uniform // the item decides, or the writer draws: throttled shards are not avoided
	Aware   = bins.Aware   // avoids recently throttled shards, as heatsink's random layouts do
)

// choice returns how writers of the strategy choose among shards. Where the item decides, a writer cannot avoid throttled
// shards.
func (s Strategy) choice() Choice {
	if s == Random || s == BucketedShards {
		return bins.Aware
	}
	return bins.Uniform
}

// ranked is an element of a plan's Ranking.
type ranked = struct {
	Strategy Strategy `json:"strategy"`
	List     int      `json:"list"`
	Point    int      `json:"point"`
}

// rankStrategies orders strategies by the requests of a read: aligned buckets, then calculated shards, then random ones,
// all of which a read has to ask.
func rankStrategies(shards, buckets int) []ranked {
	shards, buckets = max(shards, 1), max(buckets, 1)
	ranking := []ranked{
		{Bucketed, buckets, 1},
		{Calculated, shards, 1},
		{Random, shards, shards},
		{BucketedShards, times(shards, buckets), shards},
	}
	slices.SortStableFunc(ranking, func(a, b ranked) int {
		if a.List != b.List {
			return a.List - b.List
		}
		return a.Point - b.Point
	})
	return ranking
}

// choose returns the strategy for a load and the reasons for it.
func (w *Workload) choose(l Load) (Strategy, []string) {
	switch {
	case w.Atomic && l.tooHot():
		return Leave, []string{
			"items that must stay consistent with each other cannot be sharded: shards are read one by one, not in one " +
				"snapshot",
			"the load still exceeds one key's limit: divide the items among keys that are each consistent on their own, " +
				"or use a store with such transactions",
		}
	case w.adaptive && !(l.HotReads || l.ReadsThrottled):
		return Leave, w.whyGrows()
	case l.HotWrites:
		return w.chooseShards(l)
	case l.HotReads, l.ReadsThrottled && !l.Throttled:
		return w.chooseForReads(l)
	case l.Throttled:
		return w.chooseShards(l)
	case w.enough && w.enoughReads:
		return Leave, []string{w.enoughBecause(l)}
	case w.Unpredictable:
		return w.chooseForAny()
	case w.Read.Pattern == Times:
		return Bucketed, []string{
			"reads ask for a time range: buckets limit a read to that range",
			"the load fits in one partition, so there is nothing to spread; a bucket alone would not spread it",
		}
	}
	return Leave, w.whyLeave(l)
}

// chooseShards is choose for keys whose writes are too many.
func (w *Workload) chooseShards(l Load) (Strategy, []string) {
	why := w.hotBecause(l)
	if w.uneven {
		why = w.whyUneven(l)
	}
	switch {
	case w.limiter:
		return Random, append(why, "it is a key of package ratelimit, whose items have a part of the limit each: a check writes to one of them, "+
			"and Options.Lease takes several permits with one write")
	case w.Read.Pattern == Mostly && !w.manyItems:
		return Leave, w.whyOneItem(why, l)
	case w.Read.Pattern == Counters:
		return Counter, append(why, w.whyCounter(l))
	case w.Table.Index:
		return ShardedIndex, append(why,
			"it is the key of an index: when the index is throttled, DynamoDB refuses the table's writes too",
			"the shard is calculated, so that an update finds the item's index entry again")
	case w.Bucket != layout.NoBucket:
		return BucketedShards, append(why, fmt.Sprintf("its keys have a bucket by %s already, and all current writes go to one of "+
			"them: the shards are in every bucket", w.Bucket))
	case w.Read.Pattern == Times:
		return BucketedShards, append(why,
			"reads ask for a time range: buckets limit a read to that range",
			"a bucket alone would not help: all current writes go to one bucket")
	case w.Read.Pattern == Points:
		return Calculated, append(why, "items are read by id: one request finds a calculated shard, while a random "+
			"shard takes a request to every shard")
	case w.Unpredictable:
		return BucketedShards, append(why, "nobody can foresee which key becomes hot: every key gets shards, in buckets "+
			"that limit its size")
	}
	if w.Read.Pattern == Mostly {
		return Random, append(why, "its writes are for many items, so that a random shard spreads them; where one item is read most, copies of it (package replica) "+
			"or a cache (package cache) serve its reads")
	}
	return Random, append(why, "items are written once and read as a list: a random shard spreads writes most evenly "+
		"and can avoid throttled shards")
}

// whyUneven says why a key gets no more shards although one of them is too hot.
func (w *Workload) whyUneven(l Load) []string {
	return []string{
		fmt.Sprintf("the fullest of its %s takes more than a partition serves; a fair share is %s units a second, which one serves",
			figure.Count(w.Shards, "shard"), grouped(float64(l.WriteUnits)/float64(w.Shards))),
		"the hash does not spread the ids, as layout.Product does not spread ids like order-00001; or some writers have fewer shards: " +
			"give all the same number; or one id has most of the load, and that only package counter or fewer writes reduce",
	}
}

// whyCounter says why a number is counted with package counter, and what that writes.
func (w *Workload) whyCounter(l Load) string {
	return fmt.Sprintf("every write adds to one number, so the number is sharded: package counter combines what a process adds, so that "+
		"%s write at most %s units a second in all, and a read sums all shards", w.processes(), grouped(w.written(l, Counter)))
}

// enoughBecause says that the shards of a key take its load.
func (w *Workload) enoughBecause(l Load) string {
	n := float64(w.Shards)
	return fmt.Sprintf("each of its %s takes about %s write and %s read units a second, and one partition takes %s and %s",
		figure.Count(w.Shards, "shard"), grouped(float64(l.WriteUnits)/n), grouped(l.ReadUnits/n), grouped(l.PartitionWrites), grouped(l.PartitionReads))
}

// whyGrows says why a key of an adaptive collection gets no fixed shards.
func (w *Workload) whyGrows() []string {
	has := "its collection"
	if w.Shards > 1 {
		has = fmt.Sprintf("it has %s, and its collection", figure.Count(w.Shards, "shard"))
	}
	return []string{has + " seems to be adaptive (Options.Adaptive): such a key grows by itself, and fixed shards would hide its items"}
}

// whyOneItem says why shards do not help an item that is written too often, and what does.
func (w *Workload) whyOneItem(hot []string, l Load) []string {
	one := "with this pattern, its writes change one item, and every write of an item goes to the same shard"
	if w.oneItem {
		one = "its writes change one item, and every write of an item goes to the same shard"
	}
	why := append([]string{one}, hot...)
	if l.HotReads {
		why = append(why, "a cache (package cache) or copies (package replica) serve its reads, but copies take every write as well")
	}
	return append(why, "if the writes add to a number, plan a counter (package counter); if they change different items, plan for points; "+
		"otherwise combine changes, and write less often")
}

// chooseForAny is choose for keys that are cool, but may become hot.
func (w *Workload) chooseForAny() (Strategy, []string) {
	why := []string{"any key may become hot, and nobody can foresee which: every key gets a few shards"}
	switch {
	case w.Read.Pattern == Mostly:
		return Leave, []string{"shards do not help an item that is read often: cache it (package cache), or keep copies of it (package replica)"}
	case w.Table.Index:
		return ShardedIndex, append(why, "the shard is calculated, so that an update finds the item's index entry again")
	case w.Read.Pattern == Counters:
		return Counter, append(why, "a write adds to one shard of the number, and a read sums all shards")
	case w.Read.Pattern == Points:
		return Calculated, append(why, "items are read by id: one request finds a calculated shard")
	}
	return BucketedShards, append(why, "buckets limit the size of a key, and the next bucket can have another number "+
		"of shards")
}

// chooseForReads is choose for keys whose reads alone are too many.
func (w *Workload) chooseForReads(l Load) (Strategy, []string) {
	why := w.hotBecause(l)
	switch {
	case w.Read.Pattern == Points && !w.adaptive:
		return Calculated, append(why, "reads ask for single items by id, so they spread with the items")
	case w.Read.Strong:
		return Leave, append(why,
			"strongly consistent reads cannot use a cache or a copy, and reading all shards only adds requests",
			"use eventual consistency where possible, or divide the items among more keys")
	case w.Read.Stale < 0:
		return Replicated, append(why, "reads may not come from a cache: with several copies of an item, each copy "+
			"takes a part of the reads")
	}
	return Cached, append(why,
		"a read of all shards costs at least half a unit on each, so shards do not reduce the load: a cache does")
}

// whyLeave says why a key needs no shards.
func (w *Workload) whyLeave(l Load) []string {
	why := []string{w.fitsBecause(l)}
	if low := float64(l.PartitionWrites) * lowTraffic; w.Writes+w.Reads < low && l.part() < judge.Beside {
		why = append(why, fmt.Sprintf("below %s requests a second there is nothing to spread", grouped(low)))
	}
	if w.Keys >= manyKeys && l.HottestShare < 0.01 {
		why = append(why, "the table has many keys, and DynamoDB spreads them by itself")
	}
	if w.Reads > w.Writes && w.Read.Pattern != Points {
		why = append(why, "it is read more than it is written, and each shard makes every read more expensive")
	}
	if w.Read.Pattern == Lists {
		why = append(why, "one query reads one key, in order")
	}
	return why
}

// lowTraffic is up to which part of the writes that a partition takes requests are few: 100 a second.
const lowTraffic = 0.1
