package plan

import (
	"fmt"
	"strconv"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// Trade sets what shards give beside what they take.
type Trade struct {
	Gain         float64 `json:"gain"`         // × what one key takes of what is short, at the confidence
	GainBound    float64 `json:"gainBound"`    // × the number of shards: with a partition for each
	ReadRequests float64 `json:"readRequests"` // × as many as one key takes
	ReadUnits    float64 `json:"readUnits"`    // × as many as one key takes
	AddedDollars float64 `json:"addedDollarsPerMonth"`
	Outweighs    bool    `json:"outweighs"` // the reads that shards add cost more than all writes

	KeyBytes     int     `json:"keyBytes"`     // that every item's key is longer by
	StorageShare float64 `json:"storageShare"` // of an item
}

func (v *ways) trade(p *Plan, way Way) Trade {
	t := Trade{
		Gain:         way.Sustained / v.limit,
		GainBound:    float64(way.Shards),
		ReadRequests: float64(way.Read.Requests) / float64(p.Unsharded.Requests),
		ReadUnits:    way.Read.Units / p.Unsharded.Units,
		AddedDollars: way.Read.Dollars - p.Unsharded.Dollars,
		KeyBytes:     keyBytes(way.Shards, v.bucket),
	}
	t.StorageShare = float64(t.KeyBytes) / float64(v.ItemBytes)
	t.Outweighs = v.strategy != Replicated && t.AddedDollars > 0 && t.AddedDollars > way.Dollars-way.Read.Dollars
	return t
}

// keyBytes is how much longer a shard key is than its key: #2026-06-22#SHARD_12.
func keyBytes(shards int, b Bucket) int {
	return len("#SHARD_") + len(strconv.Itoa(shards-1)) + len(bucketExample(b))
}

// costs says in words what spreading gives and what it costs.
func (v *ways) costs(p *Plan) []string {
	t, r, was := p.Trade, p.Recommended, p.Unsharded
	kind := "writes"
	if v.limit == PartitionReads {
		kind = "reads"
	}
	list := []string{fmt.Sprintf("gain: × %s the %s, of at most × %s with a partition for each shard; no shard takes "+
		"more than %s units a second",
		grouped(t.Gain), kind, grouped(t.GainBound), grouped(v.limit))}
	if r.Read.Requests == was.Requests && r.Read.Units == was.Units {
		list = append(list, "reads: no more requests and units than before; a list of everything asks "+
			figure.Count(p.Shards, "shard"))
	} else {
		list = append(list,
			fmt.Sprintf("reads: × %s requests and × %s units: %s and %s units a read, instead of %s and %s",
				grouped(t.ReadRequests), grouped(t.ReadUnits), figure.Count(r.Read.Requests, "request"), grouped(r.Read.Units),
				grouped(was.Requests), grouped(was.Units)),
			fmt.Sprintf("latency: %s of reads meet a request beyond the 99th percentile, so that of reads is %s ms "+
				"instead of %s",
				percent(r.Read.Tail), grouped(r.Read.P99Millis), grouped(was.P99Millis)),
			fmt.Sprintf("money: %s a month for reads instead of %s; writes cost the same, %s",
				dollars(r.Read.Dollars), dollars(was.Dollars), dollars(r.Dollars-r.Read.Dollars)))
	}
	return append(list, v.storage(p), "consistency: what is read from many shards is no snapshot, and an aggregate "+
		"of them lags behind")
}

func (v *ways) storage(p *Plan) string {
	switch v.strategy {
	case Counter:
		return fmt.Sprintf("storage: %s instead of one", figure.Count(p.Shards, "item"))
	case Replicated:
		return fmt.Sprintf("storage: each item %s times", grouped(p.Shards))
	case ShardedIndex:
		return fmt.Sprintf("storage: the index has each item once more, with %d bytes for the shard", p.Trade.KeyBytes)
	}
	return fmt.Sprintf("storage: %d bytes more in every item's key, %s of an item",
		p.Trade.KeyBytes, percent(p.Trade.StorageShare))
}

// Indexed is what an index by the same key would have to bear, if items were stored under ids of their own.
type Indexed struct {
	WriteUnits int64 `json:"writeUnits"` // a second, with all attributes projected
	Hot        bool  `json:"hot"`
	Shards     int   `json:"shards"` // that its key needs by the formula
}

// index looks at the alternative of an index, for keys that are read as lists.
func (w *Workload) index(p *Plan) *Indexed {
	if w.Table.Index || w.Writes == 0 || w.Read.Pattern != Lists && w.Read.Pattern != Times {
		return nil
	}
	units := p.Load.WriteUnits
	return &Indexed{units, units > PartitionWrites, shardsFor(units, w.Assume.Factor)}
}

// hints says how reads get cheaper, and nothing that only seems to.
func (w *Workload) hints(p *Plan) []string {
	if !p.Shard || w.Reads == 0 || w.Read.Pattern == Points {
		return nil
	}
	if w.Read.Pattern == Counters {
		return []string{
			"cache the total: one load answers all who ask",
			"let each process gather what it adds for a moment before it writes, as package counter does: every 50 " +
				"ms are 20 writes a second, whatever it counts",
		}
	}
	hints := []string{
		"cache what many ask for: one load answers them all",
		"ask for a count with COUNT: it costs the same units and returns no items",
		"limit the time with a condition on the sort key: what a filter drops is paid for all the same",
	}
	if w.Reads > w.Writes {
		hints = append(hints, "reads outnumber writes: an index made for them, with few attributes, costs a write "+
			"for each item and less for each read")
	}
	return hints
}
