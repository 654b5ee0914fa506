package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/judge"
	"github.com/heatsink-go/heatsink/layout"
)

// KeyRate is the observed load of a key: capacity units a second at its peak, and throttled writes in five minutes.
type KeyRate struct {
	Key        string
	WriteUnits float64
	ReadUnits  float64
	Throttles  int // of writes, in five minutes

	// WriteBurst and ReadBurst are the units of the busiest second, if they are more. One such second does not show that
	// the key fills a partition.
	WriteBurst, ReadBurst float64

	// Shards is the number of shards that the key has already, if it has some. The rates are those of all of them. A plan
	// then says whether they are enough.
	Shards int

	// FullestWrites and FullestReads are the units of the fullest shard. Default: as much as each other shard. If that one is
	// too hot and a fair share of it would not be, the shards are enough, and the plan spreads them evenly.
	FullestWrites, FullestReads float64

	// Bucket is the time bucket that the stored keys have already. Key is without it.
	Bucket layout.Bucket

	// Latest is a time in the newest bucket that was seen, for the keys that a snippet names. Default: an example.
	Latest time.Time

	// Format is the spelling of Shards and Bucket. Default: that of the workload.
	Format layout.Format

	// Bare says that the bare key is the first of Shards, as with Format.BareZero. The plan keeps it so.
	Bare bool

	// Adaptive says that the key is one of a collection with Options.Adaptive. It grows by itself, so the plan gives it no
	// fixed shards.
	Adaptive bool

	// OneOfMany says that the table has other keys, which stay as they are. The snippet gives shards to this one alone.
	OneOfMany bool

	// Neighbour is a hot key that may share the partition of this one. Default: one of the other keys of ForKeys, if one is
	// hot. Without any, a key that is throttled at a low rate has bursts, or neighbours that nobody saw.
	Neighbour string

	// WritesRefused and ReadsRefused say that DynamoDB throttled the key because its partition was full. Above 70 % of a
	// partition's limit, the key filled it alone: the rate is what was served, the demand is unknown, and the plan is for
	// at least 10 % more than the limit. Below that, the key shared the partition with others, and the plan spreads the
	// rate that was seen.
	WritesRefused, ReadsRefused bool

	// Beside says that the key is throttled because a hotter one fills its partition, whatever its own units are.
	Beside bool

	// OneItem says that all requests are for one item. Without a Pattern, the plan then takes the writes for those of a
	// counter.
	OneItem bool

	// Limiter says that the key is one of package ratelimit. Its plan is for the limiter's own shards.
	Limiter bool

	// ManyItems says that its writes are for different items, whatever the Pattern of the reads makes of them.
	ManyItems bool

	// Mixed says that the units are of reads and writes together, as Contributor Insights counts them.
	Mixed bool

	// Alone says that the key fills its partition by itself whatever its units are, as a source may lack what was throttled.
	Alone bool

	// ItemBytes is the size of an item. Default: that of the workload.
	ItemBytes int
}

// ForKeys makes a plan for each key with an observed rate, in their order. base describes everything else: the table, the
// reads and the size of items. The keys' shares of the load follow from their rates, so base has no Zipf. Its Share is that
// of all these keys together in the table's load; by default they have all of it. An error wraps ErrWorkload and names the
// keys.
//
// A throttled key below a fifth of a partition's limit gets no shards unless WritesRefused is set: another key on its
// partition causes the throttles, or its bursts are shorter than the measurement.
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
		judged[i] = keys[i].judge(base.Table.limits())
		writes += keys[i].WriteUnits
		reads += keys[i].ReadUnits
	}
	var plans []Plan
	var faults []error
	for i, k := range keys {
		w := base.observed(k, writes, reads)
		w.judgement = judged[i]
		set(&w.neighbour, hotBeside(keys, judged, i))
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

// hotBeside returns the hottest of the other keys, if it is hot.
func hotBeside(keys []KeyRate, judged []judgement, but int) string {
	name, most := "", 0.0
	for i := range keys {
		if i != but && judged[i].hot && keys[i].WriteUnits > most {
			name, most = keys[i].Key, keys[i].WriteUnits
		}
	}
	return name
}

// judgement is what package judge makes of an observed key, and what else is known of such a key alone.
type judgement struct {
	seen          bool    // the key was observed
	hot           bool    // its writes are throttled now, or are about to be
	bare          bool    // the bare key is the first of its shards
	adaptive      bool    // it grows by itself
	limiter       bool    // it is one of package ratelimit
	oneItem       bool    // all of its requests are for one item
	manyItems     bool    // its writes are for different items
	mixed         bool    // its units are of reads and writes together
	seenWrites    float64 // units that were seen in one shard, of writes that are guessed
	seenReads     float64
	neighbour     string
	latest        time.Time
	enough        bool // the shards that the key has take its writes
	uneven        bool // the fullest shard is too hot only because it has far more than its fair share
	enoughReads   bool // and its reads
	guessed       bool // the key filled a partition: its rates are above the observed ones
	bystander     bool // other keys cause its throttles
	crowdedWrites bool // its writes were refused on a partition that it shares with others
	crowdedReads  bool
}

// judge decides how hot a key is, as heat's findings do, and raises the rates of one that fills a partition.
func (k *KeyRate) judge(one limits) judgement {
	writes := judge.Load{Demand: k.WriteUnits, Second: k.WriteBurst, Limit: float64(one.writes), Refused: k.WritesRefused, Fullest: k.FullestWrites}
	reads := judge.Load{Demand: k.ReadUnits, Second: k.ReadBurst, Limit: float64(one.reads), Refused: k.ReadsRefused, Fullest: k.FullestReads}
	t := judge.Default()
	if k.Alone && writes.Refused {
		writes.Demand = max(writes.Demand, t.Hot*writes.Limit*float64(max(k.Shards, 1)))
	}
	v, units, more := t.Over(writes, k.Shards)
	vReads, readUnits, moreReads := t.Over(reads, k.Shards)
	j := judgement{
		seen: true, hot: v.Critical(), bare: k.Bare && k.Shards > 1, adaptive: k.Adaptive, limiter: k.Limiter, oneItem: k.OneItem, manyItems: k.ManyItems, mixed: k.Mixed, neighbour: k.Neighbour, latest: k.Latest,
		bystander: k.Throttles > 0 && !k.WritesRefused && (k.Beside || k.FullestWrites < judge.Beside*float64(one.writes) &&
			k.WriteUnits < judge.Beside*float64(one.writes)*float64(max(k.Shards, 1))),
		crowdedWrites: k.WritesRefused && v != judge.Alone,
		enough:        k.Shards > 1 && !v.Critical(),
		enoughReads:   k.Shards > 1 && !vReads.Critical(),
		crowdedReads:  k.ReadsRefused && vReads != judge.Alone,
	}
	if part := k.FullestWrites / k.WriteUnits; k.WriteUnits > 0 && v == judge.Alone && t.Even(writes, k.Shards) != judge.Alone &&
		judge.Uneven(part, k.Shards, judge.Excess) {
		j.uneven = true
	}
	if k.Adaptive { // what it wants is for the control law to find out
		j.enough, j.crowdedWrites, j.uneven = true, false, false
		return j
	}
	if j.guessed = more || moreReads; more {
		j.seenWrites = max(k.FullestWrites, max(k.WriteUnits, k.WriteBurst)/float64(max(k.Shards, 1)))
	}
	if moreReads {
		j.seenReads = max(k.FullestReads, max(k.ReadUnits, k.ReadBurst)/float64(max(k.Shards, 1)))
	}
	k.WriteUnits, k.ReadUnits = units, readUnits
	return j
}

// observed is the workload of one key, out of several with so many write and read units in all.
func (w Workload) observed(k KeyRate, writes, reads float64) Workload {
	if k.OneItem && w.Read.Pattern == "" && !w.Table.Index && !k.Limiter {
		w.Read.Pattern = Counters
		if k.WriteUnits == 0 {
			w.Read.Pattern = Mostly
		}
	}
	set(&w.ItemBytes, k.ItemBytes)
	set(&w.Shards, k.Shards)
	set(&w.Bucket, k.Bucket)
	set(&w.Names.Format, k.Format)
	w.OneOfMany = w.OneOfMany || k.OneOfMany
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
