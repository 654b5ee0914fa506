package plan

import (
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// notes collects what there is to say, the most severe first.
func (w *Workload) notes(p *Plan) []Note {
	n := noting{Workload: w, plan: p, list: []Note{}}
	n.impossible()
	n.shardCount()
	n.partitions()
	n.table()
	n.buckets()
	n.indexes()
	n.existing()
	n.reading()
	n.observed()
	slices.SortStableFunc(n.list, func(a, b Note) int { return int(b.Severity - a.Severity) })
	return n.list
}

// noting is a plan that is being commented on.
type noting struct {
	*Workload
	plan *Plan
	list []Note
}

func (n *noting) say(s Severity, code, format string, args ...any) {
	n.list = append(n.list, Note{s, code, fmt.Sprintf(format, args...)})
}

// impossible is for loads that the strategy cannot bear.
func (n *noting) impossible() {
	p, l := n.plan, &n.plan.Load
	if p.Strategy == Leave && (l.HotWrites || l.HotReads || l.Throttled) {
		n.say(Critical, "cannot-spread", "the key will be throttled as it is, and shards cannot help: %s",
			p.Reasons[len(p.Reasons)-1])
	}
	if n.Atomic {
		severity := Info
		if p.Shard || l.HotWrites {
			severity = Critical
		}
		n.say(severity, "cross-item-consistency",
			"items under one key can be read in one request and changed in one transaction of up to 100; those of "+
				"several shards are no snapshot")
	}
	if p.Shards == MaxShards {
		n.say(Critical, "beyond-one-key", "this is more than %s can take: divide it among several keys "+
			"first", figure.Count(MaxShards, "shard"))
	}
}

// shardCount judges the number of shards that was asked about.
func (n *noting) shardCount() {
	p, f := n.plan, &n.plan.Formulas
	if n.Shards == 0 {
		if !p.Shard && p.Load.WriteUnits*2 > PartitionWrites && !p.Load.HotWrites {
			n.say(Info, "near-limit", "the key is at %s of what a partition takes: with BareZero, shards can be "+
				"added later without moving an item",
				percent(float64(p.Load.WriteUnits)/PartitionWrites))
		}
		return
	}
	switch {
	case n.Shards < f.Minimum:
		n.say(Critical, "too-few-shards", "%s take %s write units a second at the most: %s need at least %s",
			figure.Count(n.Shards, "shard"), grouped(n.Shards*PartitionWrites), grouped(p.Load.WriteUnits),
			grouped(f.Minimum))
	case p.Recommended != nil && n.Shards < p.Shards:
		n.say(Warning, "few-shards", "%s are fewer than the %s of this plan: on %s they sustain %s write units a "+
			"second",
			figure.Count(n.Shards, "shard"), grouped(p.Shards), figure.Count(p.Partitions, "partition"),
			grouped(PartitionWrites*bins.Spread{Shards: n.Shards, Partitions: p.Partitions}.Sustained(bins.Choice(p.Choice), n.Assume.Confidence)))
	case n.Shards > max(p.Shards, f.Generous), n.Shards > p.Shards && p.Recommended == nil:
		n.tooMany()
	}
}

func (n *noting) tooMany() {
	p := n.plan
	strategy := p.Strategy
	if !p.Shard {
		strategy = Random
	}
	all := n.cost(n.readWith(strategy, n.Shards, 1, NoBucket))
	if all.Units <= p.Read.Units {
		n.say(Info, "too-many-shards", "%s are more than it takes", figure.Count(n.Shards, "shard"))
		return
	}
	n.say(Warning, "too-many-shards", "%s are more than it takes, and each read pays for them: %s and %s units, "+
		"instead of %s and %s",
		figure.Count(n.Shards, "shard"), figure.Count(all.Requests, "request"), grouped(all.Units), grouped(p.Read.Requests),
		grouped(p.Read.Units))
}

// partitions says how far shards are from partitions.
func (n *noting) partitions() {
	p := n.plan
	if p.Recommended == nil {
		return
	}
	r, formula := p.Recommended, p.Ways[0]
	if !formula.Fits {
		n.say(Info, "shards-are-not-partitions",
			"the formula's %s are not %s partitions: on the %s there are, they sustain %s units a second in %s of "+
				"all cases, not %s, and accept %s of the peak on average",
			figure.Count(formula.Shards, "shard"), grouped(formula.Shards), grouped(formula.Partitions),
			grouped(formula.Sustained), percent(n.Assume.Confidence), grouped(formula.UpperBound),
			grouped(formula.Accepted))
	}
	if !r.Fits {
		n.say(Critical, "does-not-fit", "no number of shards makes %s take the peak with room to spare: expect %s of "+
			"%s units a second to be accepted",
			figure.Count(r.Partitions, "partition"), grouped(r.Accepted), grouped(p.Peak))
	}
	if p.Warm != nil {
		n.say(Warning, "warm-first", "warm the %s to %s before the load comes: that makes %s; DynamoDB splits hot "+
			"partitions by itself, but only after minutes",
			n.place(), p.Warm.text(), figure.Count(p.Warm.Partitions, "partition"))
	} else if warmed := p.Ways[len(p.Ways)-1]; warmed.Name == Warmed && warmed.Read.Units < r.Read.Units {
		n.say(Info, "warming-saves-reads", "on %s, which warming makes, %s would do: a read then takes %s and %s "+
			"units, not %s and %s",
			figure.Count(warmed.Partitions, "partition"), figure.Count(warmed.Shards, "shard"),
			figure.Count(warmed.Read.Requests, "request"), grouped(warmed.Read.Units),
			grouped(r.Read.Requests), grouped(r.Read.Units))
	}
	if n.Shards == 0 && p.Choice == Uniform && p.Shard {
		n.say(Info, "uniform", "the item decides its shard, so throttled ones cannot be avoided: this takes more "+
			"shards than drawing them at random does")
	}
}

func (w *Warm) text() string {
	if w.WriteUnits == 0 {
		return grouped(w.ReadUnits) + " read units a second"
	}
	return grouped(w.WriteUnits) + " write units a second"
}

// table is about limits that no shard lifts.
func (n *noting) table() {
	p, t := n.plan, &n.Table
	all := float64(p.Load.WriteUnits) + p.Load.OtherWriteUnits
	if t.WriteUnits > 0 && all > float64(t.WriteUnits) {
		n.say(Critical, "table-capacity", "%s write units a second are more than the %s that are provisioned: shards "+
			"do not cure that",
			grouped(all), grouped(t.WriteUnits))
	}
	if t.ReadUnits > 0 && p.Read.UnitsPerSecond > float64(t.ReadUnits) {
		n.say(Critical, "table-read-capacity", "reads take %s units a second, more than the %s that are provisioned",
			grouped(p.Read.UnitsPerSecond), grouped(t.ReadUnits))
	}
	most := max(all, p.Read.UnitsPerSecond)
	if p.Warm != nil {
		most = max(most, float64(p.Warm.WriteUnits), float64(p.Warm.ReadUnits))
	}
	if most > TableQuota {
		n.say(Warning, "quota", "this is more than the %s units a second that AWS allows a table by default: ask for "+
			"a higher quota",
			grouped(TableQuota))
	}
	if p.Waste != nil && p.Waste.Wasted > 0 && p.Waste.Usable < p.Load.WriteUnits {
		n.say(Warning, "wasted-capacity", "of %s write units that are provisioned, %s can use %s: %s (%s), %s a "+
			"month, are of no use to it",
			grouped(p.Waste.Provisioned), figure.Count(max(n.Shards, 1), "shard"), grouped(p.Waste.Usable),
			grouped(p.Waste.Wasted), percent(p.Waste.Share), dollars(p.Waste.Dollars))
	}
}

// buckets says what a bucket is no help for.
func (n *noting) buckets() {
	p := n.plan
	switch p.Strategy {
	case Bucketed:
		n.say(Info, "bucket-alone", "a bucket alone gives × 1: all of now's writes share its key, and above %s write "+
			"units a second it needs shards as well", grouped(PartitionWrites))
	case BucketedShards:
		if p.Load.HotWrites {
			n.say(Info, "bucket-alone", "a bucket by %s alone would give × 1: it is the %s in each that take the load",
				p.Bucket, figure.Count(p.Shards, "shard"))
		}
		if p.Recommended != nil && p.Choice == Aware {
			n.say(Info, "bucket-luck", "each %s draws its partitions anew: at %s, one in %s is less lucky",
				p.Bucket, percent(n.Assume.Confidence), grouped(1/(1-n.Assume.Confidence)))
		}
	}
}

// indexes says when an index is hot.
func (n *noting) indexes() {
	p := n.plan
	if n.Table.Index && p.Load.HotWrites {
		n.say(Warning, "hot-index", "an index that cannot take its writes makes its table refuse them: the index's "+
			"key must be spread as a table's, and with it the read of the list")
	}
	if p.Index != nil && p.Index.Hot {
		n.say(Info, "index-as-hot", "an index by this key would be as hot: its writes are %s units a second, and its "+
			"key needs %s as well",
			grouped(p.Index.WriteUnits), figure.Count(p.Index.Shards, "shard"))
	}
}

// existing is about items that are there already.
func (n *noting) existing() {
	if n.Shards > 0 && !n.Existing && calculated(n.plan.Strategy) && n.Shards != n.plan.Shards {
		n.say(Info, "past-shards", "if there are items in %s already, this layout looks for them in other shards: Existing (--existing) "+
			"adds the old layout to Options.Older", figure.Count(n.Shards, "shard"))
	}
	if n.duplicates(n.plan) {
		n.say(Warning, "second-copy", "an item that is there already and is put again is there twice: change it with Update, or "+
			"Delete it first; a conditional Put is refused with ErrScattered; docs/layouts.md says what happens to existing items")
	}
}

// reading is about reads that are throttled, slow or dear.
func (n *noting) reading() {
	p := n.plan
	if n.Reads > p.Read.Sustained && p.Strategy != Cached && p.Strategy != Replicated && p.Strategy != Leave {
		n.say(Critical, "read-hot", "%s reads a second are more than the %s that the partitions take: each asks %s; "+
			"put a cache before them",
			grouped(n.Reads), grouped(p.Read.Sustained), figure.Count(p.Read.Requests, "request"))
	}
	if p.Strategy == Cached {
		units := p.Read.Units / n.Read.Stale.Seconds()
		n.say(Info, "cached", "with a cache that keeps an answer for %v, each process takes %s read units a second "+
			"at the most", n.Read.Stale, grouped(units))
	}
	if p.Strategy == Replicated {
		n.say(Warning, "copies", "every write is made %s times, %s write units a second in all, and readers may see "+
			"an old copy",
			grouped(p.Shards), grouped(float64(p.Shards)*float64(p.Load.WriteUnits)))
		if p.Load.HotWrites {
			n.say(Critical, "hot-copies", "each copy gets all of the writes, which are too many for one partition")
		}
	}
	if limit := n.MaxLatency; limit > 0 && n.Reads > 0 && p.Read.P99Millis > 1e3*limit.Seconds() {
		n.say(Warning, "slow-reads", "a read of %s takes %s ms at the 99th percentile, more than the %v allowed: "+
			"hedge, ask for partial results, or cache",
			figure.Count(p.Read.Requests, "request"), grouped(p.Read.P99Millis), limit)
	}
	if limit := n.MaxDollars; limit > 0 && p.monthly(n) > limit {
		n.say(Warning, "over-budget", "reads and writes cost %s a month, more than the %s "+
			"allowed", dollars(p.monthly(n)), dollars(limit))
	}
	if p.Trade != nil && p.Trade.Outweighs {
		n.say(Warning, "reads-outweigh", "reading from shards adds %s a month, more than the %s that all writes "+
			"cost: keep an aggregate or a copy made for the read (denormalise), or list the items in another store",
			dollars(p.Trade.AddedDollars), dollars(p.Recommended.Dollars-p.Read.Dollars))
	}
}

// monthly is what all of the key's reads and writes cost.
func (p *Plan) monthly(n *noting) float64 {
	if p.Recommended != nil {
		return p.Recommended.Dollars
	}
	return p.Read.Dollars + n.Assume.Prices.writes(n.Table.mode(), float64(p.Load.WriteUnits), n.Assume.Average)
}

const fewKeys = 10

// observed is about what was measured, or was not.
func (n *noting) observed() {
	p := n.plan
	if p.Load.Guessed {
		n.say(Warning, "held-at-the-limit", "what the key wants is not known, only that it is more than one partition "+
			"gives: measure again once it is spread, and expect to need more")
	}
	switch {
	case p.Load.Throttled && n.idleShards():
		n.say(Warning, "throttled", "%s throttles in five minutes are more than %d, but the %s have little to do "+
			"each: they share partitions, or these are too few: warm the %s",
			grouped(n.Throttles), enoughThrottles, figure.Count(n.Shards, "shard"), n.place())
	case p.Load.Throttled:
		n.say(Warning, "throttled", "%s throttles in five minutes are more than %d: the key needs more shards than "+
			"it has", grouped(n.Throttles), enoughThrottles)
	case n.Throttles > 0 && n.bystander:
		n.say(Info, "beside-a-hot-key", "%s in five minutes, of a key with %s of what a partition takes, are not for "+
			"its own load: it shares its partition, and the hot key there is the one to spread",
			figure.Count(n.Throttles, "throttle"), percent(float64(p.Load.WriteUnits)/PartitionWrites))
	case n.Throttles > 0:
		n.say(Info, "few-throttles", "%s in five minutes is healthy: DynamoDB adapts, and retries see to the rest",
			figure.Count(n.Throttles, "throttle"))
	}
	if p.Load.KeysAbove > 1 {
		n.say(Warning, "more-hot-keys", "with this skew, %s are above what a partition takes, not only this one",
			figure.Count(p.Load.KeysAbove, "key"))
	}
	if n.Keys > 0 && n.Keys < fewKeys && !p.Shard {
		n.say(Info, "low-cardinality", "a table with %s is hot by design once its load grows: all of it is on as "+
			"many partitions at most", figure.Count(n.Keys, "key"))
	}
	if p.Load.HottestShare == 0 && p.Recommended != nil {
		n.say(Info, "others-unknown", "the load of other keys is not known and left out: partitions that they use "+
			"have less room")
	}
}
