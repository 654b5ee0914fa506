package plan

import (
	"cmp"
	"math"
)

// Plan is what to do about a key, with everything that speaks for and against it.
type Plan struct {
	Verdict  string   `json:"verdict"` // in a sentence
	Key      string   `json:"key"`
	Shard    bool     `json:"shard"`
	Strategy Strategy `json:"strategy"`
	Shards   int      `json:"shards"` // 1: the key as it is; of Replicated, the copies
	Bucket   Bucket   `json:"bucket,omitempty"`
	Choice   Choice   `json:"choice,omitempty"`
	Need     Need     `json:"need"`
	Reasons  []string `json:"reasons"`
	Notes    []Note   `json:"notes"` // the most severe first

	Load       Load     `json:"load"`
	Partitions int      `json:"partitions"` // of the table now
	Formulas   Formulas `json:"formulas"`

	// Recommended is one of Ways, all of which are there to compare. They are missing if nothing is to be spread. Peak
	// is what they have to bear, in write units a second, or in read units if those are what is short.
	Peak        float64 `json:"peak,omitempty"`
	Recommended *Way    `json:"recommended,omitempty"`
	Ways        []Way   `json:"ways,omitempty"`
	Warm        *Warm   `json:"warm,omitempty"` // nil: the partitions suffice, or nothing would

	Read      ReadCost `json:"read"`      // as the plan has it
	Unsharded ReadCost `json:"unsharded"` // with the key as it is
	Trade     *Trade   `json:"trade,omitempty"`
	Index     *Indexed `json:"index,omitempty"`
	Waste     *Waste   `json:"waste,omitempty"` // of a provisioned table, with the shards there are now
	Ranking   []Ranked `json:"ranking,omitempty"`
	Costs     []string `json:"costs,omitempty"` // what sharding costs, in words
	Hints     []string `json:"hints,omitempty"` // how reads get cheaper
	Snippet   string   `json:"snippet,omitempty"`
	Assumed   Assumed  `json:"assumed"`
}

// Formulas are the numbers of shards that the published rules give. They contradict each other.
type Formulas struct {
	Minimum      int      `json:"minimum"`  // ceil(peak / 1,000)
	Factor       float64  `json:"factor"`   // what Factored is multiplied with
	Factored     int      `json:"factored"` // ceil(peak × factor / 1,000)
	Cautious     int      `json:"cautious"` // the same with 2.0
	Conservative int      `json:"conservative"`
	Generous     int      `json:"generous"`
	Band         Advisory `json:"band"` // by requests, and not by units
}

// Warm is the throughput to ask for, with UpdateTable, before the load comes. It cannot be lowered again.
type Warm struct {
	Throughput         // 0 where what there is will do
	Partitions int     `json:"partitions"`
	Dollars    float64 `json:"dollarsOnce,omitempty"` // if the price is known
}

// Assumed is what a plan took for granted.
type Assumed struct {
	Factor     float64 `json:"factor"`
	Confidence float64 `json:"confidence"`
	Target     float64 `json:"target"`
	Average    float64 `json:"average"`
	P50Millis  float64 `json:"p50Millis"`
	P99Millis  float64 `json:"p99Millis"`
	Mode       Mode    `json:"mode"`
	Prices     Prices  `json:"prices"`
}

// For makes a plan for a workload. The error wraps ErrWorkload.
func For(w Workload) (Plan, error) {
	if err := w.Validate(); err != nil {
		return Plan{}, err
	}
	return w.plan(), nil
}

// plan is For a valid workload.
func (w Workload) plan() Plan {
	w = w.withDefaults()
	l := w.load()
	p := Plan{Key: w.Key, Shards: 1, Load: l, Partitions: w.Table.partitions(), Assumed: w.assumed()}
	p.Strategy, p.Reasons = w.choose(l)
	p.Need = w.need(l)
	p.Formulas = w.formulas(l)
	p.Unsharded = w.costOn(w.readWith(Leave, 1, 1, NoBucket), p.Partitions)
	p.Read = p.Unsharded
	if p.Strategy == Bucketed || p.Strategy == BucketedShards {
		p.Bucket = chooseBucket(w.ItemsPerDay, w.Read.Window)
		_, most := p.Bucket.Touched(w.Read.Window)
		p.Read = w.costOn(w.readWith(p.Strategy, 1, most, p.Bucket), p.Partitions)
	}
	if p.Shard = p.Strategy.Spreads(); p.Shard || p.Strategy == Replicated {
		p.spread(w.ways(l, p.Strategy, p.Bucket))
	}
	if w.Table.Mode == Provisioned && w.Table.Provisioned.WriteUnits > 0 && w.Writes > 0 {
		waste := wastedOf(w.Table.Provisioned.WriteUnits, max(w.Shards, 1), w.Assume.Prices.WriteMonth())
		p.Waste = &waste
	}
	p.Ranking = p.rank(&w)
	p.Index = w.index(&p)
	p.Notes = w.notes(&p)
	p.Hints = w.hints(&p)
	p.Snippet = w.snippet(&p)
	p.Verdict = w.verdict(&p)
	return p
}

// spread fills in what the ways lead to.
func (p *Plan) spread(v *ways) {
	p.Choice, p.Peak = v.demand.choice, v.demand.load*v.limit
	p.Ways = v.all()
	best := v.best(p.Ways)
	p.Recommended, p.Shards, p.Read = &best, best.Shards, best.Read
	if best.Partitions > p.Partitions {
		p.Warm = v.warm(best.Partitions)
	}
	trade := v.trade(p, best)
	p.Trade = &trade
	p.Costs = v.costs(p)
}

func (v *ways) warm(partitions int) *Warm {
	w, more := &Warm{Partitions: partitions}, float64(partitions-v.Table.partitions())
	if v.limit == PartitionReads {
		w.ReadUnits = int64(partitions) * PartitionReads
		w.Dollars = more * PartitionReads * v.Assume.Prices.WarmRead
		return w
	}
	w.WriteUnits = int64(partitions) * PartitionWrites
	w.Dollars = more * PartitionWrites * v.Assume.Prices.WarmWrite
	return w
}

func (w *Workload) formulas(l Load) Formulas {
	return Formulas{
		Minimum: Shards(l.WriteUnits, 1), Factor: w.Assume.Factor, Factored: Shards(l.WriteUnits, w.Assume.Factor),
		Cautious: Shards(l.WriteUnits, CautiousFactor), Conservative: conservativeShards(l.WriteUnits),
		Generous: generousShards(l.WriteUnits), Band: bandOf(w.Writes),
	}
}

func (w *Workload) need(l Load) Need {
	share := cmp.Or(l.HottestShare, 1) // without one, all that is known is this key
	keys := w.Keys
	if keys == 0 || l.HottestShare == 0 {
		keys = int(min(math.Ceil(1/share), manyKeys)) // as few as there can be
	}
	need := needOf(max(float64(l.WriteUnits), l.ReadUnits*PartitionWrites/PartitionReads)/share, keys, share)
	if need == NeedNot && l.Throttled {
		return NeedEssential // whatever its rates say
	}
	return need
}

// rank compares the strategies for a key that is spread.
func (p *Plan) rank(w *Workload) []Ranked {
	if !p.Shard {
		return nil
	}
	b := p.Bucket
	if b == NoBucket {
		b = chooseBucket(w.ItemsPerDay, w.Read.Window)
	}
	least, _ := b.Touched(w.Read.Window)
	return rankStrategies(p.Shards, least)
}

func (w *Workload) assumed() Assumed {
	a := &w.Assume
	return Assumed{
		Factor: a.Factor, Confidence: a.Confidence, Target: a.Target, Average: a.Average,
		P50Millis: 1e3 * a.Latency.P50.Seconds(), P99Millis: 1e3 * a.Latency.P99.Seconds(),
		Mode: w.Table.Mode, Prices: a.Prices,
	}
}
