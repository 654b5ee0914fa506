package plan

import (
	"errors"
	"fmt"
)

// KeyRate is what was observed of a key: capacity units a second at its peak, and its throttles in five minutes.
type KeyRate struct {
	Key        string
	WriteUnits float64
	ReadUnits  float64
	Throttles  int
}

// ForKeys makes a plan for each of the keys whose rates were observed, in their order. base says what is known beside
// the rates: the table, how items are read and how large they are. The keys' shares of the load follow from the rates,
// so base has neither Share nor Zipf.
func ForKeys(base Workload, keys []KeyRate) ([]Plan, error) {
	if base.Share != 0 || base.Zipf != 0 {
		return nil, fmt.Errorf("%w: Share and Zipf follow from the rates of the keys", ErrWorkload)
	}
	var writes, reads float64
	for _, k := range keys {
		writes += k.WriteUnits
		reads += k.ReadUnits
	}
	var plans []Plan
	var faults []error
	for _, k := range keys {
		w := base.observed(k, writes, reads)
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

// observed is the workload of one of several keys, which together have so many write and read units.
func (w Workload) observed(k KeyRate, writes, reads float64) Workload {
	d := w.withDefaults()
	w.Key, w.Throttles = k.Key, k.Throttles
	w.Writes = k.WriteUnits / float64(WriteUnits(d.ItemBytes))
	w.Reads = k.ReadUnits / d.readWith(Leave, 1, 1, NoBucket).units()
	switch {
	case k.WriteUnits > 0:
		w.Share = k.WriteUnits / writes
	case k.ReadUnits > 0:
		w.Share = k.ReadUnits / reads
	}
	return w
}
