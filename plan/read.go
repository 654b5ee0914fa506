package plan

import "github.com/heatsink-go/heatsink/layout"

import "github.com/heatsink-go/heatsink/plan/internal/bins"

// ReadCost is the cost of reading a key.
type ReadCost struct {
	Requests int     `json:"requests"` // of one read, at most
	Units    float64 `json:"units"`    // of one read

	UnitsPerSecond float64 `json:"unitsPerSecond"` // of all reads at the peak
	Sustained      float64 `json:"sustained"`      // reads a second that the partitions take, at the confidence asked for
	Tail           float64 `json:"tail"`           // share of reads that wait for a request beyond the 99th percentile
	P50Millis      float64 `json:"p50Millis"`
	P99Millis      float64 `json:"p99Millis"`
	Dollars        float64 `json:"dollarsPerMonth"`
}

// batchKeys is the most keys of one BatchGetItem.
const batchKeys = 100

// access is the requests of one read.
type access struct {
	requests int     // sent
	asked    int     // shard keys, each of which DynamoDB charges by itself
	each     float64 // units of each
	single   bool    // the read asks only one of all shards
	shards   int     // of the key, or of one bucket
}

func (a access) units() float64 { return float64(a.asked) * a.each }

// readWith returns the requests of a read of a key with this strategy.
func (w *Workload) readWith(s Strategy, shards, buckets int, b layout.Bucket) access {
	r, item := &w.Read, int64(w.ItemBytes)
	one := access{requests: 1, asked: 1, each: readUnitsOf(item, r.Strong), single: true, shards: shards}
	switch r.Pattern {
	case Points, Mostly:
		if s != Random && s != BucketedShards {
			return one
		}
		one.asked, one.requests, one.single = shards, (shards+batchKeys-1)/batchKeys, false
		return one
	case Counters:
		if s == Replicated {
			return one
		}
		return access{requests: shards, asked: shards, each: readUnitsOf(item, r.Strong), shards: shards}
	}
	if s == Replicated { // each copy has it all
		return access{requests: 1, asked: 1, each: readUnitsOf(int64(r.Items)*item, r.Strong), single: true, shards: shards}
	}
	if b == layout.NoBucket {
		buckets = 1
	}
	all := times(shards, buckets)
	page := int64(bins.PageItems(r.Items, shards))
	if buckets > 1 { // a list that ends early does not reach the older ones
		page = int64(bins.PageItems((r.Items+buckets-1)/buckets, shards))
	}
	return access{requests: all, asked: all, each: readUnitsOf(page*item, r.Strong), shards: shards}
}

// cost returns the cost of such reads.
func (w *Workload) cost(a access) ReadCost {
	as := &w.Assume
	l := as.latency()
	c := ReadCost{Requests: a.requests, Units: a.units()}
	c.UnitsPerSecond = w.Reads * c.Units
	c.Tail = tailOf(0.01, a.requests)
	c.P50Millis = 1e3 * l.slowest(a.requests, 0.50).Seconds()
	c.P99Millis = 1e3 * l.slowest(a.requests, 0.99).Seconds()
	c.Dollars = as.Prices.reads(w.Table.mode(), c.UnitsPerSecond, as.Average)
	return c
}

// costOn is cost, with the reads that so many partitions sustain.
func (w *Workload) costOn(a access, partitions int) ReadCost {
	c := w.cost(a)
	// What one read costs the partition with the most shards.
	hit := float64(bins.Spread{Shards: a.asked, Partitions: partitions}.Fullest(w.Assume.Confidence)) * a.each
	if a.single {
		hit = float64(bins.Spread{Shards: a.shards, Partitions: partitions}.Fullest(w.Assume.Confidence)) / float64(a.shards) * a.each
	}
	c.Sustained = float64(w.Table.limits().reads) / hit
	return c
}
