package plan

import (
	"cmp"
	"math"

	"github.com/heatsink-go/heatsink/layout"
)

// Plan is the advice for a key, with its reasons, its costs and the alternatives.
type Plan struct {
	Verdict  string        `json:"verdict"` // the advice in a sentence
	Key      string        `json:"key"`
	Shard    bool          `json:"shard"`
	Strategy Strategy      `json:"strategy"`
	Shards   int           `json:"shards"` // 1: the key is not sharded; with Leave, those that it has; with Replicated, the number of copies
	Bucket   layout.Bucket `json:"bucket,omitempty"`
	Choice   Choice        `json:"choice,omitempty"` // "" if nothing is spread
	Need     Need          `json:"need"`
	Reasons  []string      `json:"reasons"`
	Notes    []Note        `json:"notes"` // the most severe first

	Load       Load     `json:"load"`
	Partitions int      `json:"partitions"` // of the table now
	Formulas   Formulas `json:"formulas"`

	// Recommended is one of Ways, which are there to compare. Without anything to spread there are none. Peak is their
	// load, in write units a second, or in read units if reads are the bottleneck.
	Peak        float64 `json:"peak,omitempty"`
	Recommended *Way    `json:"recommended,omitempty"`
	Ways        []Way   `json:"ways,omitempty"`
	Warm        *Warm   `json:"warm,omitempty"` // nil: the partitions suffice, or no number would

	Read      ReadCost `json:"read"`      // with the plan
	Unsharded ReadCost `json:"unsharded"` // without shards
	Trade     *Trade   `json:"trade,omitempty"`
	Index     *Indexed `json:"index,omitempty"`
	Waste     *Waste   `json:"waste,omitempty"` // of a provisioned table, with the current number of shards
	Ranking   []struct {
		Strategy Strategy `json:"strategy"`
		List     int      `json:"list"`  // requests for a list of the time range
		Point    int      `json:"point"` // requests for an item by id, and by time if there are buckets
	} `json:"ranking,omitempty"`
	Costs   []string `json:"costs,omitempty"` // what sharding costs, in words
	Hints   []string `json:"hints,omitempty"` // how reads get cheaper
	Snippet string   `json:"snippet,omitempty"`
	Assumed struct {
		Assumptions
		Mode string `json:"mode"` // of the table: on-demand or provisioned
	} `json:"assumed"`
}

// Formulas are the numbers of shards by the published rules, which contradict each other.
type Formulas struct {
	Minimum      int     `json:"minimum"`      // ceil(peak / 1,000)
	Factor       float64 `json:"factor"`       // the safety factor of Factored
	Factored     int     `json:"factored"`     // ceil(peak × factor / 1,000)
	Cautious     int     `json:"cautious"`     // the same with 2.0
	Conservative int     `json:"conservative"` // ceil(peak / 1,000) × 2
	Generous     int     `json:"generous"`     // ceil(peak / 1,000) × 4
	Band         struct {
		From int  `json:"from"`
		To   int  `json:"to"`
		More bool `json:"more,omitempty"` // or more than To: "50-100+"
	} `json:"band"` // by requests, not by units
}

// Warm is the warm throughput to request with UpdateTable before the load starts. DynamoDB does not lower it again.
type Warm struct {
	WriteUnits int64   `json:"writeUnits"` // 0: the current throughput suffices
	ReadUnits  int64   `json:"readUnits"`
	Partitions int     `json:"partitions"`
	Dollars    float64 `json:"dollarsOnce,omitempty"` // if the price is known
}

// For makes a plan for a workload. An error wraps ErrWorkload and names all faults.
func For(w Workload) (Plan, error) {
	if err := w.Validate(); err != nil {
		return Plan{}, err
	}
	return w.plan(), nil
}

// plan is For with a valid workload.
func (w Workload) plan() Plan {
	w = w.withDefaults()
	l := w.load()
	p := Plan{Key: w.Key, Shards: 1, Load: l, Partitions: w.Table.partitions()}
	p.Assumed.Assumptions, p.Assumed.Mode = w.Assume, w.Table.mode()
	p.Strategy, p.Reasons = w.choose(l)
	if (w.adaptive || w.enough && w.enoughReads) && p.Strategy == Leave {
		p.Shards = max(w.Shards, 1)
	}
	p.Need = w.need(l)
	p.Formulas = w.formulas(l)
	p.Unsharded = w.costOn(w.readWith(Leave, 1, 1, layout.NoBucket), p.Partitions)
	p.Read = p.Unsharded
	if p.Strategy == Bucketed || p.Strategy == BucketedShards {
		p.Bucket = w.Bucket
		set(&p.Bucket, chooseBucket(w.ItemsPerDay, w.Read.Window))
		_, most := touched(p.Bucket, w.Read.Window)
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

// spread fills in the ways, and what follows from the best one.
func (p *Plan) spread(v *ways) {
	p.Choice, p.Peak = v.demand.Choice, v.demand.Load*v.limit
	p.Ways = v.all()
	best := v.best(p.Ways)
	p.Recommended, p.Shards, p.Read = &best, best.Shards, best.Read
	if best.Partitions > v.Table.partitions() {
		p.Warm = v.warm(best.Partitions)
	}
	trade := v.trade(p, best)
	p.Trade = &trade
	p.Costs = v.costs(p)
}

func (v *ways) warm(partitions int) *Warm {
	w, more := &Warm{Partitions: partitions}, float64(partitions-v.Table.partitions())
	units := int64(partitions) * int64(v.limit)
	if v.reads {
		w.ReadUnits, w.Dollars = units, more*v.limit*v.Assume.Prices.WarmRead
		return w
	}
	w.WriteUnits, w.Dollars = units, more*v.limit*v.Assume.Prices.WarmWrite
	return w
}

func (w *Workload) formulas(l Load) Formulas {
	f := Formulas{
		Minimum: l.limits().shardsFor(l.WriteUnits, 1), Factor: w.Assume.Factor, Factored: l.limits().shardsFor(l.WriteUnits, w.Assume.Factor),
		Cautious: l.limits().shardsFor(l.WriteUnits, CautiousFactor), Conservative: l.limits().conservativeShards(l.WriteUnits),
		Generous: l.limits().generousShards(l.WriteUnits),
	}
	f.Band.From, f.Band.To, f.Band.More = bandOf(w.Writes)
	return f
}

func (w *Workload) need(l Load) Need {
	share := cmp.Or(l.HottestShare, 1) // without one, all that is known is this key
	keys := w.Keys
	if keys == 0 || l.HottestShare == 0 {
		keys = int(min(math.Ceil(1/share), manyKeys)) // as few as there can be
	}
	need := needOf(max(float64(l.WriteUnits), l.ReadUnits*float64(l.PartitionWrites)/float64(l.PartitionReads))/share, keys, share, float64(l.PartitionWrites))
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
	if b == layout.NoBucket {
		b = chooseBucket(w.ItemsPerDay, w.Read.Window)
	}
	least, _ := touched(b, w.Read.Window)
	p.Ranking = rankStrategies(p.Shards, least)
}
