package plan

import (
	"errors"
	"fmt"
	"slices"
)

// KeyRate is what was observed of a key: capacity units a second at its peak, and its throttles in five minutes.
type KeyRate struct {
	Key        string
	WriteUnits float64
	ReadUnits  float64
	Throttles  int // of writes

	// WritesRefused and ReadsRefused say that the key was held at a partition's limit: its rate is what was served, and
	// what was wanted is not known. The plan is then for a tenth more than one partition gives, at least.
	WritesRefused, ReadsRefused bool

	// OneItem says that all of it is about the same item. If the pattern of reads is not given, writes are then taken to
	// be those of a counter.
	OneItem bool

	// ItemBytes is the size of an item. Default: that of the workload.
	ItemBytes int
}

const (
	// beyond is what a key is planned for that was held at a partition's limit, as a multiple of it.
	beyond = 1.1

	// bystander is the part of a partition below which a key's throttles are for those it shares the partition with.
	bystander = 0.2
)

// ForKeys makes a plan for each of the keys whose rates were observed, in their order. base says what is known beside
// the rates: the table, how items are read and how large they are. The keys' shares of the load follow from the rates,
// so base has neither Share nor Zipf.
//
// A key that has less than a fifth of a partition and was throttled all the same is not spread, unless it is said to be
// at the limit: it suffers from others that share its partition.
func ForKeys(base Workload, keys []KeyRate) ([]Plan, error) {
	if base.Share != 0 || base.Zipf != 0 {
		return nil, fmt.Errorf("%w: Share and Zipf follow from the rates of the keys", ErrWorkload)
	}
	keys = slices.Clone(keys)
	guessed := make([]bool, len(keys))
	var writes, reads float64
	for i := range keys {
		guessed[i] = keys[i].guess()
		writes += keys[i].WriteUnits
		reads += keys[i].ReadUnits
	}
	var plans []Plan
	var faults []error
	for i, k := range keys {
		w := base.observed(k, writes, reads)
		w.guessed = guessed[i]
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

// guess raises the rates of a key that was held at the limit to a little above it, and reports whether it had to.
func (k *KeyRate) guess() bool {
	guessed := false
	if least := beyond * PartitionWrites; k.WritesRefused && k.WriteUnits < least {
		k.WriteUnits, guessed = least, true
	}
	if least := beyond * PartitionReads; k.ReadsRefused && k.ReadUnits < least {
		k.ReadUnits, guessed = least, true
	}
	return guessed
}

// observed is the workload of one of several keys, which together have so many write and read units.
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
	w.bystander = k.Throttles > 0 && !k.WritesRefused && k.WriteUnits < bystander*PartitionWrites
	w.Writes = k.WriteUnits / float64(writeUnitsOf(d.ItemBytes))
	w.Reads = k.ReadUnits / d.readWith(Leave, 1, 1, NoBucket).units()
	switch {
	case k.WriteUnits > 0:
		w.Share = k.WriteUnits / writes
	case k.ReadUnits > 0:
		w.Share = k.ReadUnits / reads
	}
	return w
}
