package plan

import (
	"fmt"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// Trade compares what shards gain with what they cost.
type Trade struct {
	Gain         float64 `json:"gain"`         // × the throughput of one key, at the confidence asked for
	GainBound    float64 `json:"gainBound"`    // × the throughput of one key, with a partition for each shard
	ReadRequests float64 `json:"readRequests"` // × the requests of a read of one key
	ReadUnits    float64 `json:"readUnits"`    // × the units of a read of one key
	AddedDollars float64 `json:"addedDollarsPerMonth"`
	Outweighs    bool    `json:"outweighs"` // the added reads cost more than all writes

	KeyBytes     int     `json:"keyBytes"`     // by which every item's key is longer
	StorageShare float64 `json:"storageShare"` // of an item
}

func (v *ways) trade(p *Plan, way Way) Trade {
	t := Trade{
		Gain:         way.Sustained / v.limit,
		GainBound:    float64(way.Shards),
		ReadRequests: float64(way.Read.Requests) / float64(p.Unsharded.Requests),
		ReadUnits:    way.Read.Units / p.Unsharded.Units,
		AddedDollars: way.Read.Dollars - p.Unsharded.Dollars,
		KeyBytes:     v.keyBytes(v.layout(p).WithShards(way.Shards)),
	}
	t.StorageShare = float64(t.KeyBytes) / float64(v.ItemBytes)
	t.Outweighs = v.strategy != Replicated && t.AddedDollars > 0 && t.AddedDollars > way.Dollars-way.Read.Dollars
	return t
}

// keyBytes is the length of what the last shard adds to a key, such as #2026-06-22#SHARD_12.
func (w *Workload) keyBytes(l layout.Layout) int { return len(w.storedKey(l, l.Shards-1)) - len(w.Key) }

// costs says in words what sharding gains and costs.
func (v *ways) costs(p *Plan) []string {
	t, r, was := p.Trade, p.Recommended, p.Unsharded
	kind := "writes"
	if v.reads {
		kind = "reads"
	}
	list := []string{fmt.Sprintf("gain: × %s the %s, at most × %s with a partition for each shard; one shard takes "+
		"at most %s units a second",
		grouped(t.Gain), kind, grouped(t.GainBound), grouped(v.limit))}
	if v.strategy == Counter && v.written(v.load, Counter) < float64(v.load.WriteUnits) {
		list[0] = fmt.Sprintf("gain: at most %s write units a second instead of %s, whatever is added; one shard takes at most %s",
			grouped(v.written(v.load, Counter)), grouped(v.load.WriteUnits), grouped(v.limit))
	}
	if r.Read.Requests == was.Requests && r.Read.Units == was.Units {
		list = append(list, "reads: no more requests or units than before; a list of all items asks "+
			figure.Count(p.Shards, "shard"))
	} else {
		list = append(list,
			fmt.Sprintf("reads: × %s requests and × %s units: a read takes %s and %s units instead of %s and %s",
				grouped(t.ReadRequests), grouped(t.ReadUnits), figure.Count(r.Read.Requests, "request"), grouped(r.Read.Units),
				grouped(was.Requests), grouped(was.Units)),
			fmt.Sprintf("latency: %s of reads wait for a request beyond the 99th percentile; read p99 rises from %s ms "+
				"to %s ms",
				percent(r.Read.Tail), grouped(was.P99Millis), grouped(r.Read.P99Millis)),
			fmt.Sprintf("money: reads cost %s a month instead of %s; writes cost %s",
				dollars(r.Read.Dollars), dollars(was.Dollars), v.writesCost(r)))
	}
	return append(list, v.storage(p), "consistency: a read of many shards is not a snapshot, and an aggregate "+
		"of them lags behind")
}

// writesCost compares the monthly cost of writes with that of a key without shards.
func (v *ways) writesCost(r *Way) string {
	own := dollars(r.Dollars - r.Read.Dollars)
	before := dollars(v.Assume.Prices.writes(v.Table.mode(), float64(v.load.WriteUnits), v.Assume.Average))
	if own == before {
		return "the same, " + own
	}
	return own + " instead of " + before
}

func (v *ways) storage(p *Plan) string {
	switch v.strategy {
	case Counter:
		return fmt.Sprintf("storage: %s instead of one", figure.Count(p.Shards, "item"))
	case Replicated:
		return fmt.Sprintf("storage: each item is stored %s times", grouped(p.Shards+1))
	case ShardedIndex:
		return fmt.Sprintf("storage: the index stores each item once more, with %d bytes for the shard", p.Trade.KeyBytes)
	}
	return fmt.Sprintf("storage: every item's key is %d bytes longer, %s of an item",
		p.Trade.KeyBytes, percent(p.Trade.StorageShare))
}

// Indexed is the load of an index by the same key, if items were stored under ids of their own.
type Indexed struct {
	WriteUnits int64 `json:"writeUnits"` // a second, with all attributes projected
	Hot        bool  `json:"hot"`
	Shards     int   `json:"shards"` // that the index's key needs, by the formula
}

// index looks at the alternative of an index, for keys that are read as lists.
func (w *Workload) index(p *Plan) *Indexed {
	if w.Table.Index || w.Writes == 0 || w.Read.Pattern != Lists && w.Read.Pattern != Times {
		return nil
	}
	units := p.Load.WriteUnits
	return &Indexed{units, units > p.Load.PartitionWrites, p.Load.limits().shardsFor(units, w.Assume.Factor)}
}

// hints says how reads get cheaper. It leaves out what only seems to help.
func (w *Workload) hints(p *Plan) []string {
	if !p.Shard || w.Reads == 0 || w.Read.Pattern == Points {
		return nil
	}
	if w.Read.Pattern == Counters {
		return []string{
			"cache the total: one load serves all readers",
			"add with package counter, which combines the increments of a process: it writes 20 to 50 times a second, " +
				"however many increments there are",
		}
	}
	hints := []string{
		"cache what many readers ask for: one load serves them all",
		"count with Select COUNT: it costs the same units and returns no items",
		"limit the time with a condition on the sort key: you pay for what a filter drops",
	}
	if w.Reads > w.Writes {
		hints = append(hints, "reads outnumber writes: an index with few attributes costs one more write for "+
			"each item, and makes each read cheaper")
	}
	return hints
}
