package plan

import (
	"fmt"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// verdict says in a sentence what to do.
func (w *Workload) verdict(p *Plan) string {
	l := &p.Load
	switch p.Strategy {
	case Leave:
		if w.adaptive && len(p.Reasons) > 0 && !l.tooHot() {
			return fmt.Sprintf("Leave %s as it is: %s.", named(p.Key), p.Reasons[0])
		}
		if w.enough && w.enoughReads {
			return fmt.Sprintf("Leave %s as it is: %s.", named(p.Key), p.Reasons[0])
		}
		if l.HotWrites || l.HotReads {
			return fmt.Sprintf("%s is too hot for one partition, and shards cannot help: %s.",
				named(p.Key), p.Reasons[0])
		}
		return fmt.Sprintf("Do not shard %s: %s.", named(p.Key), p.Reasons[0])
	case Bucketed:
		return fmt.Sprintf("Do not shard %s; give it a key for every %s, because reads ask for a time range.", named(p.Key), p.Bucket)
	case Cached:
		if !l.HotReads && l.ReadsThrottled {
			return fmt.Sprintf("%s, and cache its reads if they are still throttled; do not shard it.", w.warmFirst(p))
		}
		return fmt.Sprintf("Do not shard %s; cache it: only its reads are too many for one partition.", named(p.Key))
	}
	if p.Shards == MaxShards {
		return fmt.Sprintf("%s has more load than one key takes with any number of shards: divide it among several keys first.",
			named(p.Key))
	}
	switch {
	case p.Strategy == Replicated && p.Shards > maxCopies:
		return fmt.Sprintf("%s needs %s copies, more than the %s that package replica keeps: divide its reads among several items first.",
			named(p.Key), grouped(p.Shards), grouped(maxCopies))
	case p.Strategy == Counter && p.Shards > maxCounterShards:
		return fmt.Sprintf("Spread %s over %s shards of a counter, the most that package counter has: it combines increments into fewer writes.",
			named(p.Key), grouped(maxCounterShards))
	}
	if w.limiter && p.Shards > maxLimiterShards {
		return fmt.Sprintf("Spread %s over %s shards of its limiter, the most that package ratelimit has, and give it a Lease.", named(p.Key), grouped(maxLimiterShards))
	}
	text := fmt.Sprintf("Spread %s over %s %s", named(p.Key), figure.Count(p.Shards, "shard"), w.kindOfShards(p))
	if p.Strategy == Replicated {
		text = fmt.Sprintf("Keep %s copies of %s, and read one of them", grouped(p.Shards), named(p.Key))
	}
	if w.uneven && p.Shard && p.Strategy != Counter {
		return fmt.Sprintf("Spread %s evenly over the %s that it has, %s: the hash does not spread its ids, or some writers have fewer shards.",
			named(p.Key), figure.Count(w.Shards, "shard"), w.kindOfShards(p))
	}
	if w.crowded(l) && p.Shard && p.Warm == nil && p.Recommended.Fits {
		return fmt.Sprintf("%s; if it is still throttled, spread it over %s %s.", w.warmFirst(p), figure.Count(p.Shards, "shard"), w.kindOfShards(p))
	}
	if p.Warm != nil {
		text += fmt.Sprintf("; first warm the %s to %s", w.warmed(p), p.Warm.text())
	}
	if !p.Recommended.Fits {
		return text + "; that is the best option, but it is not enough."
	}
	return text + "."
}

// crowded reports whether the key is throttled on a partition that it does not fill alone. That one is to be split first.
func (w *Workload) crowded(l *Load) bool { return w.crowdedWrites && !l.HotWrites }

// warmFirst says how a key gets a partition of its own: twice the partitions, as DynamoDB splits those that stay full.
func (w *Workload) warmFirst(p *Plan) string {
	units, kind := 2*int64(p.Partitions)*p.Load.PartitionWrites, "write"
	if !p.Shard {
		units, kind = 2*int64(p.Partitions)*p.Load.PartitionReads, "read"
	}
	own := "gets a partition of its own"
	if w.Shards > 1 {
		own = fmt.Sprintf("has partitions of its own for its %s", figure.Count(w.Shards, "shard"))
	}
	return fmt.Sprintf("First raise the %s's warm throughput, such as to %s %s units a second, so that %s %s",
		w.place(), grouped(units), kind, named(p.Key), own)
}

func (w *Workload) kindOfShards(p *Plan) string {
	if w.limiter {
		return "of its limiter"
	}
	switch p.Strategy {
	case Calculated:
		return "calculated from the item's id"
	case BucketedShards:
		return "in every " + p.Bucket.String()
	case ShardedIndex:
		return "of the index's key, calculated from the item's id"
	case Counter:
		return "of a counter"
	}
	return "drawn at random"
}

// place is what has the partitions.
func (w *Workload) place() string {
	if w.Table.Index {
		return "index"
	}
	return "table"
}

// warmed is what to warm: copies have a table of their own.
func (w *Workload) warmed(p *Plan) string {
	if p.Strategy == Replicated {
		return "new table of the copies"
	}
	return w.place()
}
