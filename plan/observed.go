package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/layout"
)

// KeyRate is the observed load of a key: capacity units a second at its peak, and throttled writes in five minutes.
type KeyRate struct {
	Key        string
	WriteUnits float64
	ReadUnits  float64
	Throttles  int // of writes, in five minutes

	// WritesRefused and ReadsRefused say that DynamoDB throttled the key at a partition's limit, so that the rate is what
	// was served and the demand is unknown. The plan is then for at least 10 % more than the limit.
	WritesRefused, ReadsRefused bool

	// OneItem says that all requests are for one item. Without a Pattern, the plan then takes the writes for those of a
	// counter.
	OneItem bool

	// ItemBytes is the size of an item. Default: that of the workload.
	ItemBytes int
}

const (
	// beyond is the demand that a plan assumes of a key throttled at a partition's limit, as a multiple of it.
	beyond = 1.1

	// bystander is the part of a partition below which other keys on it cause a key's throttles.
	bystander = 0.2
)

// ForKeys makes a plan for each key with an observed rate, in their order. base describes everything else: the table, the
// reads and the size of items. The keys' shares of the load follow from their rates, so base has neither Share nor Zipf.
// An error wraps ErrWorkload and names the keys.
//
// A throttled key below a fifth of a partition's limit gets no shards unless WritesRefused is set: another key on its
// partition causes the throttles.
func ForKeys(base Workload, keys []KeyRate) ([]Plan, error) {
	if base.Share != 0 || base.Zipf != 0 {
		return nil, fmt.Errorf("%w: leave out Share and Zipf: the shares follow from the rates of the keys", ErrWorkload)
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

// guess raises the rates of a key throttled at the limit to a little above it, and reports whether it had to.
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
	w.bystander = k.Throttles > 0 && !k.WritesRefused && k.WriteUnits < bystander*PartitionWrites
	w.Writes = k.WriteUnits / float64(writeUnitsOf(d.ItemBytes))
	w.Reads = k.ReadUnits / d.readWith(Leave, 1, 1, layout.NoBucket).units()
	switch {
	case k.WriteUnits > 0:
		w.Share = k.WriteUnits / writes
	case k.ReadUnits > 0:
		w.Share = k.ReadUnits / reads
	}
	return w
}
