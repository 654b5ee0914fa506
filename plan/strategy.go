package plan

import (
	"slices"

	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// Strategy is what to do about a key.
type Strategy string

// The strategies.
const (
	Leave          Strategy = "leave"           // do not shard: the key as it is, one request for a read
	Random         Strategy = "random"          // a shard drawn for every write
	Calculated     Strategy = "calculated"      // a shard from a hash of the item's id: one request finds it
	Bucketed       Strategy = "bucket"          // a key for every hour, day, month: no more throughput, shorter lists
	BucketedShards Strategy = "bucket-shards"   // shards in every bucket
	ShardedIndex   Strategy = "sharded-index"   // items under their own id, listed by a sharded key of an index
	Counter        Strategy = "sharded-counter" // one item in each shard, added to at random, summed up by reads
	Cached         Strategy = "cache"           // reads are answered from memory for a moment
	Replicated     Strategy = "replicate"       // copies of the item, of which a read asks one
)

// Spreads reports whether the strategy puts a key's writes on several keys at once.
func (s Strategy) Spreads() bool {
	return s == Random || s == Calculated || s == BucketedShards || s == ShardedIndex || s == Counter
}

// Plan.Choice is how writers choose among the shards of a key.
const (
	Uniform = "uniform" // the item decides, or the writer draws: throttled shards are not avoided
	Aware   = "aware"   // avoids recently throttled shards, as heatsink's random layouts do
)

// choice returns how writers of the strategy choose among shards. Where the item decides, throttled shards cannot be
// avoided.
func (s Strategy) choice() bins.Choice {
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

// rankStrategies orders strategies by the requests that reads need: buckets that reads are aligned with, then shards that can be
// calculated, then random ones, which have to be asked one and all.
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
	case w.Atomic && (l.HotWrites || l.HotReads || l.Throttled):
		return Leave, []string{
			"items that must be consistent with each other cannot be spread: shards are read one by one, and are no " +
				"snapshot",
			"the load is more than one key bears all the same: divide it into keys that are consistent each for " +
				"themselves, or use a store that has such transactions",
		}
	case l.HotWrites:
		return w.chooseShards(l)
	case l.HotReads:
		return w.chooseForReads(l)
	case l.Throttled:
		return w.chooseShards(l)
	case w.Unpredictable:
		return w.chooseForAny()
	case w.Read.Pattern == Times:
		return Bucketed, []string{
			"reads ask for a stretch of time: with buckets they touch that time only",
			"the load fits one partition, so there is nothing to spread; a bucket would not spread it either",
		}
	}
	return Leave, w.whyLeave(l)
}

// chooseShards is choose for keys that are written too much.
func (w *Workload) chooseShards(l Load) (Strategy, []string) {
	why := hotBecause(l)
	switch {
	case w.Read.Pattern == Counters:
		return Counter, append(why, "one number that every write adds to is divided: writes add to a shard of it, "+
			"reads sum them up")
	case w.Table.Index:
		return ShardedIndex, append(why,
			"it is the key of an index: what the index cannot take is refused by its table, too",
			"the shard is calculated, so that a changed item is found in the index again")
	case w.Read.Pattern == Times:
		return BucketedShards, append(why,
			"reads ask for a stretch of time: buckets let them touch that time only",
			"a bucket alone would not help: all that is written now is in one of them")
	case w.Read.Pattern == Points, w.Read.Pattern == Mostly:
		return Calculated, append(why, "items are read by their id: a calculated shard is found with one request, a "+
			"random one by asking all")
	case w.Unpredictable:
		return BucketedShards, append(why, "which key is hot cannot be foreseen: all of them get shards, in buckets "+
			"that bound what they gather")
	}
	return Random, append(why, "items are written once and read as a list: drawing a shard is the most even, and can "+
		"avoid those that are throttled")
}

// chooseForAny is choose for keys that are cool, but may become hot.
func (w *Workload) chooseForAny() (Strategy, []string) {
	why := []string{"any key may become hot, and which one cannot be foreseen: all of them get a few shards"}
	switch {
	case w.Table.Index:
		return ShardedIndex, append(why, "the shard is calculated, so that a changed item is found in the index again")
	case w.Read.Pattern == Counters:
		return Counter, append(why, "writes add to a shard of the number, reads sum them up")
	case w.Read.Pattern == Points:
		return Calculated, append(why, "items are read by their id: a calculated shard is found with one request")
	}
	return BucketedShards, append(why, "buckets keep what a key gathers short, and let the number of shards change "+
		"with the next one")
}

// chooseForReads is choose for keys that are only read too much.
func (w *Workload) chooseForReads(l Load) (Strategy, []string) {
	why := hotBecause(l)
	switch {
	case w.Read.Pattern == Points:
		return Calculated, append(why, "reads are for single items, by their id: they are spread along with the items")
	case w.Read.Strong:
		return Leave, append(why,
			"reads that must be strongly consistent can come from neither a cache nor a copy, and shards that are "+
				"all asked only make more of them",
			"read with eventual consistency where it will do, or divide the items among more keys")
	case w.Read.Stale < 0:
		return Replicated, append(why, "answers may not come from a cache: copies of what is read, of which a read "+
			"asks one, take their part each")
	}
	return Cached, append(why,
		"a read that asks all shards costs half a unit on each of them at least, so shards take no load off: a cache does")
}

// whyLeave says why a key needs no shards.
func (w *Workload) whyLeave(l Load) []string {
	why := []string{fitsBecause(l)}
	if w.Writes+w.Reads < lowTraffic {
		why = append(why, "below 100 requests a second there is nothing to spread")
	}
	if w.Keys >= manyKeys && l.HottestShare < 0.01 {
		why = append(why, "the table has many keys, which DynamoDB spreads by itself")
	}
	if w.Reads > w.Writes && w.Read.Pattern != Points {
		why = append(why, "it is read more than it is written: each shard would make every read dearer")
	}
	if w.Read.Pattern == Lists {
		why = append(why, "one key is read with one query, in order")
	}
	return why
}

const lowTraffic = 100 // requests a second
