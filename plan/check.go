package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatsink-go/heatsink/layout"
)

// Validate returns an error with all faults of the workload. It wraps ErrWorkload.
func (w Workload) Validate() error {
	if w.Writes == 0 && w.Reads == 0 {
		return fmt.Errorf("%w: nothing to plan without load: give Writes or Reads a second of the hottest key", ErrWorkload)
	}
	return w.validate()
}

// validate is Validate for a key that may have no load at all.
func (w Workload) validate() error {
	d := w.withDefaults()
	var c checks
	c.between("Writes", d.Writes, 0, maxRate)
	c.between("Reads", d.Reads, 0, maxRate)
	c.between("ItemBytes", float64(d.ItemBytes), 1, MaxItemBytes)
	c.between("ItemsPerDay", w.ItemsPerDay, 0, maxRate*day.Seconds()) // as it was given: a default follows from the rest
	c.between("Keys", float64(d.Keys), 0, math.MaxInt)
	c.between("Share", d.Share, 0, 1)
	c.between("Zipf", d.Zipf, 0, 10)
	c.between("Shards", float64(d.Shards), 0, MaxShards)
	c.between("Processes", float64(d.Processes), 1, 1e6)
	c.between("Throttles", float64(d.Throttles), 0, math.MaxInt)
	c.skew(&d)
	c.table(&d.Table)
	c.reading(&d)
	c.between("MaxLatency in seconds", d.MaxLatency.Seconds(), 0, math.MaxInt32)
	c.between("MaxDollars", d.MaxDollars, 0, math.MaxFloat64)
	c.assumptions(&d.Assume)
	c.format(d.Names.Format)
	if c.faults == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWorkload, errors.Join(c.faults...))
}

// checks collects faults.
type checks struct{ faults []error }

func (c *checks) wrong(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

func (c *checks) between(name string, value, least, most float64) {
	if !(value >= least && value <= most) { // NaN is neither
		c.wrong("%s is %s: it must be between %s and %s", name, plain(value), plain(least), plain(most))
	}
}

func (c *checks) skew(w *Workload) {
	switch {
	case w.Share != 0 && w.Zipf != 0:
		c.wrong("Share and Zipf both set the skew of the keys: give one of them")
	case w.Zipf != 0 && w.Keys == 0:
		c.wrong("Zipf needs Keys, the number of keys, to compute the share of the hottest one")
	case w.Share > 0 && w.Keys > 0 && w.Share*float64(w.Keys) < 1-1e-6:
		c.wrong("Share is %v, but the hottest of %d keys has at least an equal share", w.Share, w.Keys)
	case w.Keys == 1 && w.Share != 0 && w.Share != 1:
		c.wrong("Share is %v, but the only key has all of the load", w.Share)
	}
}

func (c *checks) format(f layout.Format) {
	if err := (layout.Layout{Format: f}).Validate(); err != nil {
		c.wrong("Names.Format: %w", err)
	}
	if f.BareZero {
		c.wrong("Names.Format has BareZero, so that shard 0 has the bare key: leave it out, and set Existing if the key has items")
	}
}

func (c *checks) table(t *Table) {
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"Table.WriteUnits", t.WriteUnits},
		{"Table.ReadUnits", t.ReadUnits},
		{"Table.WarmWrites", t.WarmWrites},
		{"Table.WarmReads", t.WarmReads},
		{"Table.PartitionWrites", t.PartitionWrites},
		{"Table.PartitionReads", t.PartitionReads},
	} {
		c.between(field.name, float64(field.value), 0, maxRate)
	}
	c.between("Table.Partitions", float64(t.Partitions), 0, MaxShards)
}

func (c *checks) reading(w *Workload) {
	r := &w.Read
	if !slices.Contains(patterns[:], r.Pattern) {
		c.wrong("Read.Pattern is %q: it must be one of %v", r.Pattern, patterns)
	}
	c.between("Read.Items", float64(r.Items), 1, 1e9)
	c.between("Read.Window in hours", r.Window.Hours(), 0, 100*366*24)
	if r.Pattern == Counters && w.Table.Index {
		c.wrong("Read.Pattern is %s, but an index cannot hold a counter: plan for the table's key", Counters)
	}
	if r.Strong && w.Table.Index {
		c.wrong("Read.Strong is set, but an index has no strongly consistent reads: leave it out")
	}
}

func (c *checks) assumptions(a *Assumptions) {
	c.between("Assume.Factor", a.Factor, 1, maxFactor)
	c.between("Assume.Confidence", a.Confidence, 0.5, 0.999999)
	c.between("Assume.Target", a.Target, 0.1, 1)
	c.between("Assume.Average", a.Average, 0, 1)
	c.between("Assume.P50Millis", a.P50Millis, 1e-6, 3600e3)
	if !(a.P99Millis >= a.P50Millis) { // NaN is not
		c.wrong("Assume.P99Millis is %v, less than the median of %v: it must be at least that", a.P99Millis, a.P50Millis)
	}
	for _, price := range []struct {
		name  string
		value float64
	}{
		{"MillionWrites", a.Prices.MillionWrites},
		{"MillionReads", a.Prices.MillionReads},
		{"WriteHour", a.Prices.WriteHour},
		{"ReadHour", a.Prices.ReadHour},
		{"StorageMonth", a.Prices.StorageMonth},
		{"WarmWrite", a.Prices.WarmWrite},
		{"WarmRead", a.Prices.WarmRead},
	} {
		c.between("Assume.Prices."+price.name, price.value, 0, 1e6)
	}
}
