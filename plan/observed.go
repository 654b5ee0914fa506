package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/judge"
	"github.com/heatsink-go/heatsink/layout"
)

// KeyRate is the observed load of a key: capacity units a second at its peak, and throttled writes in five minutes.
type KeyRate struct {
	Key        string
	WriteUnits float64
	ReadUnits  float64
	Throttles  int // of writes, in five minutes

	// WritesRefused and ReadsRefused say that DynamoDB throttled the key because its partition was full. Above 70 % of a
	// partition's limit, the key filled it alone: the rate is what was served, the demand is unknown, and the plan is for
	// at least 10 % more than the limit. Below that, the key shared the partition with others, and the plan spreads the
	// rate that was seen.
	WritesRefused, ReadsRefused bool

	// OneItem says that all requests are for one item. Without a Pattern, the plan then takes the writes for those of a
	// counter.
	OneItem bool

	// ItemBytes is the size of an item. Default: that of the workload.
	ItemBytes int
}

// ForKeys makes a plan for each key with an observed rate, in their order. base describes everything else: the table, the
// reads and the size of items. The keys' shares of the load follow from their rates, so base has no Zipf. Its Share is that
// of all these keys together in the table's load; by default they have all of it. An error wraps ErrWorkload and names the
// keys.
//
// A throttled key below a fifth of a partition's limit gets no shards unless WritesRefused is set: another key on its
// partition causes the throttles.
func ForKeys(base Workload, keys []KeyRate) ([]Plan, error) {
	switch {
	case base.Zipf != 0:
		return nil, fmt.Errorf("%w: leave out Zipf: the shares follow from the rates of the keys", ErrWorkload)
	case !(base.Share >= 0 && base.Share <= 1):
		return nil, fmt.Errorf("%w: Share is %v: it must be between 0 and 1, the share of all these keys together", ErrWorkload, base.Share)
	}
	set(&base.Share, 1)
	keys = slices.Clone(keys)
	judged := make([]judgement, len(keys))
	var writes, reads float64
	for i := range keys {
		judged[i] = keys[i].judge()
		writes += keys[i].WriteUnits
		reads += keys[i].ReadUnits
	}
	var plans []Plan
	var faults []error
	for i, k := range keys {
		w := base.observed(k, writes, reads)
		w.judgement = judged[i]
		if err := w.validate(); err != nil {
			faults = append(faults, fmt.Errorf("key %q: %w", k.Key, err))
			continue
		}
		plans = append(plans, w.plan())
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return plans, nil
}

// judgement is what package judge makes of an observed key.
type judgement struct {
	guessed       bool // the key filled a partition: its rates are above the observed ones
	bystander     bool // other keys cause its throttles
	crowdedWrites bool // its writes were refused on a partition that it shares with others
	crowdedReads  bool
}

// judge decides how hot a key is, as heat's findings do, and raises the rates of one that fills a partition.
func (k *KeyRate) judge() judgement {
	writes := judge.Load{Demand: k.WriteUnits, Limit: PartitionWrites, Refused: k.WritesRefused}
	reads := judge.Load{Demand: k.ReadUnits, Limit: PartitionReads, Refused: k.ReadsRefused}
	t := judge.Default()
	j := judgement{
		bystander:     k.Throttles > 0 && !k.WritesRefused && k.WriteUnits < judge.Beside*PartitionWrites,
		crowdedWrites: k.WritesRefused && t.Judge(writes) != judge.Alone,
		crowdedReads:  k.ReadsRefused && t.Judge(reads) != judge.Alone,
	}
	var more, moreReads bool
	k.WriteUnits, more = t.Planned(writes)
	k.ReadUnits, moreReads = t.Planned(reads)
	j.guessed = more || moreReads
	return j
}

// observed is the workload of one key, out of several with so many write and read units in all.
func (w Workload) observed(k KeyRate, writes, reads float64) Workload {
	if k.OneItem && w.Read.Pattern == "" && !w.Table.Index {
		w.Read.Pattern = Counters
		if k.WriteUnits == 0 {
			w.Read.Pattern = Mostly
		}
	}
	set(&w.ItemBytes, k.ItemBytes)
	d := w.withDefaults()
	w.Key, w.Throttles = k.Key, k.Throttles
	w.Writes = k.WriteUnits / float64(writeUnitsOf(d.ItemBytes))
	w.Reads = k.ReadUnits / d.readWith(Leave, 1, 1, layout.NoBucket).units()
	switch {
	case k.WriteUnits > 0:
		w.Share *= k.WriteUnits / writes
	case k.ReadUnits > 0:
		w.Share *= k.ReadUnits / reads
	default:
		w.Share = 0
	}
	if w.Share*float64(w.Keys) < 1 {
		w.Keys = 0 // it is not the hottest of them, so their number says nothing of its share
	}
	return w
}
