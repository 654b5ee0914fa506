package plan

import (
	"math/bits"
	"sort"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// Way is a number of shards on a number of partitions, with what they take and cost.
type Way struct {
	Name       string `json:"name"` // ByFormula, AsIs, Warmed or Within
	Shards     int    `json:"shards"`
	Partitions int    `json:"partitions"`

	// In write units a second, or in read units if reads are the bottleneck.
	UpperBound float64 `json:"upperBound"` // shards × 1,000, or 3,000 for reads, as published
	Sustained  float64 `json:"sustained"`  // without throttling, at the confidence asked for
	Median     float64 `json:"median"`     // without throttling, in half of all placements
	Accepted   float64 `json:"accepted"`   // of the peak load, on average over all placements

	Fits    bool     `json:"fits"` // the peak is at most the target share of Sustained
	Read    ReadCost `json:"read"`
	Dollars float64  `json:"dollarsPerMonth"` // of all reads and writes
}

// The names of ways.
const (
	ByFormula = "formula"  // the shards of the published formula, on the current partitions
	AsIs      = "as it is" // the shards that the load needs on the current partitions
	Warmed    = "warmed"   // with more partitions
	Within    = "limited"  // the shards that MaxLatency and MaxDollars allow, and the partitions that these need
)

// ways computes the ways of a strategy that spreads.
type ways struct {
	*Workload
	load     Load
	strategy Strategy
	bucket   layout.Bucket
	demand   bins.Demand
	limit    float64 // of a partition, in the units of the bottleneck
	reads    bool    // are the bottleneck
	formula  int
}

// spreadOf returns the load that a strategy spreads, in partitions' limits.
func (w *Workload) spreadOf(l Load, s Strategy) (writes, reads float64) {
	writes, reads = w.written(l, s)/float64(l.PartitionWrites), l.ReadUnits/float64(l.PartitionReads)
	if s == Replicated {
		writes = 0 // every copy gets all of them: see the plan's notes
	} else if s != Calculated {
		reads = 0 // every shard gets all of them
	}
	return writes, reads
}

// readBound reports whether reads, not writes, decide how many shards a strategy needs.
func (w *Workload) readBound(l Load, s Strategy) bool {
	writes, reads := w.spreadOf(l, s)
	return reads > writes
}

func (w *Workload) ways(l Load, s Strategy, b layout.Bucket) *ways {
	if s == Replicated { // copies have a table of their own, which is new
		w = w.onNewTable()
	}
	v := &ways{Workload: w, load: l, strategy: s, bucket: b, limit: float64(l.PartitionWrites)}
	writes, reads := w.spreadOf(l, s)
	v.demand = bins.Demand{
		Load: max(writes, reads), Choice: s.choice(),
		Confidence: w.Assume.Confidence, Target: w.Assume.Target,
		Dense: 4, Fair: 1, // four leave one partition in fifty without a shard; more only make reads dearer
	}
	if s == Calculated && w.Read.Pattern == Points {
		v.demand.Dense, v.demand.Fair = 16, 4 // reads ask one shard, so more cost them nothing
	}
	if w.readBound(l, s) {
		v.reads, v.limit = true, float64(l.PartitionReads)
	}
	if alone := l.HotWrites || l.HotReads || !l.Throttled; l.HottestShare > 0 && alone {
		// A key that is throttled below the limit suffers from the others: more shards of it do not make up for them.
		v.demand.Others = v.demand.Load * (1/l.HottestShare - 1)
		if s == Counter { // its own load is less than what was written before
			v.demand.Others = l.OtherWriteUnits / v.limit
		}
	}
	v.formula = v.published()
	return v
}

// onNewTable returns the workload on a table that is new.
func (w *Workload) onNewTable() *Workload {
	moved := *w
	moved.Table = Table{PartitionWrites: w.Table.PartitionWrites, PartitionReads: w.Table.PartitionReads}
	return &moved
}

// published is the number of shards by the published formula, or by the plan's own rules if that is more.
func (v *ways) published() int {
	n := formula(unitsPerSecond(v.demand.Load*v.limit), uint64(v.limit), v.Assume.Factor)
	if v.load.Throttled {
		n = max(n, v.afterThrottles())
	}
	if v.Unpredictable {
		n = max(n, unforeseen)
	}
	if v.strategy == Counter {
		n = max(n, counterShards)
	}
	return min(n, MaxShards)
}

// afterThrottles returns the number of shards for a throttled key, whatever its rates: twice the current number. Where
// each shard has little load, more shards do not help: several share a partition, or the partitions are too few.
func (w *Workload) afterThrottles() int {
	now := max(w.Shards, 1)
	if w.idleShards() {
		return now
	}
	return times(now, 2)
}

// idleShards reports whether shards have so little load that more of them would not prevent throttles.
func (w *Workload) idleShards() bool {
	const busy = 200 // write units a second of one shard
	return w.Shards > 1 && w.Writes*float64(writeUnitsOf(w.ItemBytes)) < busy*float64(w.Shards)
}

// unforeseen is the number of shards of keys any of which may become hot: the published example has five.
const unforeseen = 5

// all returns the ways to choose from: the formula's first, then that on the current partitions.
func (v *ways) all() []Way {
	now, d := v.Table.partitions(), v.demand
	list := []Way{v.way(ByFormula, v.formula, now)}
	if v.uneven { // the shards that it has are enough
		way := v.way(AsIs, v.Shards, now)
		way.Fits = true
		return append(list, way)
	}
	n, fits := d.Shards(v.formula, now)
	square, ok := d.Square()
	switch {
	case !fits && !ok:
		n = MaxShards // nothing will do; nor would fewer
	case !fits:
		n = d.Widest(v.formula, now)
	}
	list = append(list, v.way(AsIs, n, now))
	switch {
	case fits && ok && square.Partitions > now && square.Shards < n && square.Shards >= v.formula:
		list = append(list, v.way(Warmed, square.Shards, square.Partitions))
	case !fits && ok:
		// More load never takes fewer shards: the way keeps as many as the current partitions can use, on as few more
		// partitions as suffice.
		if n > square.Shards {
			square.Shards = n
			square.Partitions, _ = d.Partitions(n, now+1)
		}
		list = append(list, v.way(Warmed, square.Shards, square.Partitions))
	}
	if way, ok := v.limited(list, now); ok {
		list = append(list, way)
	}
	return list
}

// limited returns the way within MaxLatency and MaxDollars, if there is one and no other is.
func (v *ways) limited(list []Way, now int) (Way, bool) {
	for _, way := range list[1:] {
		if way.Fits && v.within(way.Read, way.Dollars) {
			return Way{}, false
		}
	}
	allowed := func(shards int) bool {
		read := v.cost(v.access(shards))
		return v.within(read, read.Dollars+v.writeDollars(shards))
	}
	n := sort.Search(list[len(list)-1].Shards, func(i int) bool { return !allowed(i + 1) })
	if n == 0 {
		return Way{}, false
	}
	partitions, ok := v.demand.Partitions(n, now)
	if !ok {
		return Way{}, false
	}
	return v.way(Within, n, partitions), true
}

func (v *ways) way(name string, shards, partitions int) Way {
	shards = v.doubled(shards, name == Within)
	d, s := v.demand, bins.Spread{Shards: shards, Partitions: partitions}
	free := 1 - d.Others/float64(partitions) // what other keys leave of a partition
	way := Way{Name: name, Shards: shards, Partitions: partitions, UpperBound: float64(shards) * v.limit}
	if free > 0 {
		way.Sustained = v.capped(s.Sustained(d.Choice, d.Confidence) * free)
		way.Median = v.capped(s.Sustained(d.Choice, 0.5) * free)
		way.Accepted = min(v.capped(s.Accepted(d.Choice, d.Load, free)), d.Load*v.limit)
	}
	way.Fits = d.Suffice(s)
	way.Read = v.costOn(v.access(shards), partitions)
	way.Dollars = way.Read.Dollars + v.writeDollars(shards)
	return way
}

// doubled returns a power of two where the shards of one key of many are calculated: widths of such a layout double. The way
// within limits has no more shards than these allow.
func (v *ways) doubled(shards int, atMost bool) int {
	if !v.alone(v.strategy) || placing(v.strategy) != layout.Calculated {
		return shards
	}
	n := 1 << bits.Len(uint(max(shards, 1)-1))
	if atMost && n > shards {
		n /= 2
	}
	return min(n, MaxShards)
}

func (v *ways) access(shards int) access {
	_, buckets := touched(v.bucket, v.Read.Window)
	return v.readWith(v.strategy, shards, buckets, v.bucket)
}

// capped turns a load in partitions into units, up to the table's provisioned capacity.
func (v *ways) capped(worth float64) float64 {
	units := worth * v.limit
	table := v.Table.WriteUnits
	if v.reads {
		table = v.Table.ReadUnits
	}
	if table == 0 {
		return units
	}
	return min(units, float64(table))
}

// writeDollars returns the monthly cost of writes: the same with any number of shards, except for copies.
func (v *ways) writeDollars(shards int) float64 {
	units := v.written(v.load, v.strategy)
	if v.strategy == Replicated {
		units *= float64(shards)
	}
	return v.Assume.Prices.writes(v.Table.mode(), units, v.Assume.Average)
}

// within reports whether reads and costs are within MaxLatency and MaxDollars.
func (w *Workload) within(read ReadCost, dollars float64) bool {
	slow := w.MaxLatency > 0 && w.Reads > 0 && read.P99Millis > 1e3*w.MaxLatency.Seconds()
	expensive := w.MaxDollars > 0 && dollars > w.MaxDollars
	return !slow && !expensive
}

// best returns the recommended way: on the current partitions if they suffice, else on more; within the limits if there
// is one.
func (w *Workload) best(list []Way) Way {
	score := func(way Way) int {
		n := 0
		if way.Fits {
			n += 2
		}
		if w.within(way.Read, way.Dollars) {
			n++
		}
		return n
	}
	best := list[1]
	for _, way := range list[2:] {
		if score(way) > score(best) {
			best = way
		}
	}
	return best
}
