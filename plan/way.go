package plan

import (
	"sort"

	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// Way is a number of shards on a number of partitions, and what comes of it.
type Way struct {
	Name       string `json:"name"` // ByFormula, AsIs, Warmed or Within
	Shards     int    `json:"shards"`
	Partitions int    `json:"partitions"`

	// All in write units a second; in read units if reads are what the shards are for.
	UpperBound float64 `json:"upperBound"` // what is published: shards × 1,000, or 3,000
	Sustained  float64 `json:"sustained"`  // without a refusal, at the confidence asked for
	Median     float64 `json:"median"`     // the same in half of all cases
	Accepted   float64 `json:"accepted"`   // of the peak load, on average over all cases

	Fits    bool     `json:"fits"` // the peak is no more than the target share of what is sustained
	Read    ReadCost `json:"read"`
	Dollars float64  `json:"dollarsPerMonth"` // of all reads and writes
}

// The names of ways.
const (
	ByFormula = "formula"  // as many shards as the published formula says, on the partitions there are
	AsIs      = "as it is" // as many as it takes on the partitions there are
	Warmed    = "warmed"   // with more partitions than there are now
	Within    = "limited"  // with as many shards as the limits on reads allow, and the partitions that it then takes
)

// ways works out what can be done, for a strategy that spreads.
type ways struct {
	*Workload
	load     Load
	strategy Strategy
	bucket   Bucket
	demand   bins.Demand
	limit    float64 // of a partition, in the units that are short
	formula  int
}

func (w *Workload) ways(l Load, s Strategy, b Bucket) *ways {
	v := &ways{Workload: w, load: l, strategy: s, bucket: b, limit: PartitionWrites}
	writes, reads := float64(l.WriteUnits)/PartitionWrites, l.ReadUnits/PartitionReads
	if s == Replicated {
		writes = 0 // every copy gets all of them: see the plan's notes
	} else if s != Calculated {
		reads = 0 // every shard gets all of them
	}
	v.demand = bins.Demand{
		Load: max(writes, reads), Choice: s.choice(),
		Confidence: w.Assume.Confidence, Target: w.Assume.Target,
		Dense: 4, Fair: 1, // four leave one partition in fifty without a shard; more only make reads dearer
	}
	if s == Calculated && w.Read.Pattern == Points {
		v.demand.Dense, v.demand.Fair = 16, 4 // reads ask one shard, so more cost them nothing
	}
	if reads > writes {
		v.limit = PartitionReads
	}
	if l.HottestShare > 0 {
		v.demand.Others = v.demand.Load * (1/l.HottestShare - 1)
	}
	v.formula = v.published()
	return v
}

// published is how many shards the published formula asks for, and at least what the plan's own rules do.
func (v *ways) published() int {
	n := formula(unitsPerSecond(v.demand.Load*v.limit), uint64(v.limit), v.Assume.Factor)
	if v.load.Throttled {
		n = max(n, v.afterThrottles())
	}
	if v.Unpredictable {
		n = max(n, unforeseen)
	}
	return min(n, MaxShards)
}

// afterThrottles returns how many shards a throttled key gets whatever its rates say: twice what is not enough. But
// where each shard has little to do, more of them are no help: then too many share a partition, or there are too few of
// these.
func (w *Workload) afterThrottles() int {
	now := max(w.Shards, 1)
	if w.idleShards() {
		return now
	}
	return times(now, 2)
}

// idleShards reports whether shards have so little to do that throttles are not for want of them.
func (w *Workload) idleShards() bool {
	const busy = 200 // write units a second of one shard
	return w.Shards > 1 && w.Writes*float64(writeUnitsOf(w.ItemBytes)) < busy*float64(w.Shards)
}

// unforeseen is how many shards keys get of which any may become hot: the published example has five.
const unforeseen = 5

// all returns what there is to choose from, the formula's first, then the partitions as they are.
func (v *ways) all() []Way {
	now, d := v.Table.partitions(), v.demand
	list := []Way{v.way(ByFormula, v.formula, now)}
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
		// More load never takes fewer shards: what the partitions as they are could use goes on being used, on as few
		// more of them as will do.
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

// limited returns the way that stays within the limits on reads, if no other does and there is one.
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
	d, s := v.demand, bins.Spread{Shards: shards, Partitions: partitions}
	free := 1 - d.Others/float64(partitions) // what the other keys leave, of the whole of a partition
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

func (v *ways) access(shards int) access {
	_, buckets := v.bucket.Touched(v.Read.Window)
	return v.readWith(v.strategy, shards, buckets, v.bucket)
}

// capped turns partitions' worth into units, within what the whole table is provisioned for.
func (v *ways) capped(worth float64) float64 {
	units := worth * v.limit
	table := v.Table.WriteUnits
	if v.limit == PartitionReads {
		table = v.Table.ReadUnits
	}
	if table == 0 {
		return units
	}
	return min(units, float64(table))
}

// writeDollars returns what writing costs a month: the same with any number of shards, unless they are copies.
func (v *ways) writeDollars(shards int) float64 {
	units := float64(v.load.WriteUnits)
	if v.strategy == Replicated {
		units *= float64(shards)
	}
	return v.Assume.Prices.writes(v.Table.mode(), units, v.Assume.Average)
}

// within reports whether reads and all costs respect the limits that were set.
func (w *Workload) within(read ReadCost, dollars float64) bool {
	slow := w.MaxLatency > 0 && w.Reads > 0 && read.P99Millis > 1e3*w.MaxLatency.Seconds()
	dear := w.MaxDollars > 0 && dollars > w.MaxDollars
	return !slow && !dear
}

// best returns the way to take: the partitions as they are, if they will do, before more of them; what is within the
// limits before what is not.
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
