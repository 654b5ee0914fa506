package plan

import "math"

// Plan is what to do about a key, with everything that speaks for and against it.
type Plan struct {
	Verdict  string   `json:"verdict"` // in a sentence
	Key      string   `json:"key"`
	Shard    bool     `json:"shard"`
	Strategy Strategy `json:"strategy"`
	Shards   int      `json:"shards"` // 1: the key as it is; of Replicated, the copies
	Bucket   Bucket   `json:"bucket,omitempty"`
	Choice   string   `json:"choice,omitempty"`
	Need     string   `json:"need"`
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
	Ranking   []struct {
		Strategy Strategy `json:"strategy"`
		List     int      `json:"list"`  // requests for a list of the stretch of time
		Point    int      `json:"point"` // requests for an item with a known id, and time if there are buckets
	} `json:"ranking,omitempty"`
	Costs   []string `json:"costs,omitempty"` // what sharding costs, in words
	Hints   []string `json:"hints,omitempty"` // how reads get cheaper
	Snippet string   `json:"snippet,omitempty"`
	Assumed struct {
		Assumptions
		Mode string `json:"mode"` // of the table: on-demand or provisioned
	} `json:"assumed"`
}

// Formulas are the numbers of shards that the published rules give. They contradict each other.
type Formulas struct {
	Minimum      int     `json:"minimum"`  // ceil(peak / 1,000)
	Factor       float64 `json:"factor"`   // what Factored is multiplied with
	Factored     int     `json:"factored"` // ceil(peak × factor / 1,000)
	Cautious     int     `json:"cautious"` // the same with 2.0
	Conservative int     `json:"conservative"`
	Generous     int     `json:"generous"`
	Band         struct {
		From int  `json:"from"`
		To   int  `json:"to"`
		More bool `json:"more,omitempty"` // To is not the end: "50-100+"
	} `json:"band"` // by requests, and not by units
}

// Warm is the throughput to ask for, with UpdateTable, before the load comes. It cannot be lowered again.
type Warm struct {
	WriteUnits int64   `json:"writeUnits"` // 0: what there is will do
	ReadUnits  int64   `json:"readUnits"`
	Partitions int     `json:"partitions"`
	Dollars    float64 `json:"dollarsOnce,omitempty"` // if the price is known
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
	p := Plan{Key: w.Key, Shards: 1, Load: l, Partitions: w.Table.partitions()}
	p.Assumed.Assumptions, p.Assumed.Mode = w.Assume, w.Table.mode()
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
	if w.Table.WriteUnits > 0 && w.Writes > 0 {
		waste := wastedOf(w.Table.WriteUnits, max(w.Shards, 1), w.Assume.Prices.WriteMonth())
		p.Waste = &waste
	}
	p.rank(&w)
	p.Index = w.index(&p)
	p.Notes = w.notes(&p)
	p.Hints = w.hints(&p)
	p.Snippet = w.snippet(&p)
	p.Verdict = w.verdict(&p)
	return p
}

// spread fills in what the ways lead to.
func (p *Plan) spread(v *ways) {
	p.Choice, p.Peak = string(v.demand.Choice), v.demand.Load*v.limit
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
	f := Formulas{
		Minimum: shardsFor(l.WriteUnits, 1), Factor: w.Assume.Factor, Factored: shardsFor(l.WriteUnits, w.Assume.Factor),
		Cautious: shardsFor(l.WriteUnits, CautiousFactor), Conservative: conservativeShards(l.WriteUnits),
		Generous: generousShards(l.WriteUnits),
	}
	f.Band.From, f.Band.To, f.Band.More = bandOf(w.Writes)
	return f
}

func (w *Workload) need(l Load) string {
	share := l.HottestShare
	if share == 0 {
		share = 1 // all that is known is this key
	}
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
func (p *Plan) rank(w *Workload) {
	if !p.Shard {
		return
	}
	b := p.Bucket
	if b == NoBucket {
		b = chooseBucket(w.ItemsPerDay, w.Read.Window)
	}
	least, _ := b.Touched(w.Read.Window)
	p.Ranking = rankStrategies(p.Shards, least)
}
