package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/partition/sim"
	"github.com/heatsink-go/heatsink/layout"
)

// world is a table and its indexes under one layout, and what all operations have in common.
type world struct {
	scenario *scenario.Scenario
	run      *scenario.Layout
	layout   layout.Layout
	policy   policy
	random   *rand.Rand

	start   time.Time
	table   *partition.Set
	indexes []index
	loads   []load
	fleet   *fleet // nil unless the layout is adaptive
	tally   tally
	ended   func() bool // somebody wants the run to end now
}

// load is a load of the scenario with what follows from it.
type load struct {
	*scenario.Load
	keys   scenario.Distribution
	factor float64
	reads  float64 // units of an operation
	writes float64
}

func (l *load) rate(at time.Duration) float64 { return l.Rate(at) * l.factor }

// between returns how many operations come from a time on, up to another.
func (l *load) between(from, to time.Duration) float64 { return l.Between(from, to) * l.factor }

func (l *load) units() float64 { return l.reads + l.writes }

// index is an index with the places of its keys.
type index struct {
	set    *partition.Set
	places [][]byte
}

func newWorld(s *scenario.Scenario, l *scenario.Layout) (*world, error) {
	options := partition.Options{NoSplits: s.Table.NoSplits, Seed: s.Seed, HistorySeconds: 60}
	if s.Table.NoQuota {
		options.TableQuota = partition.Rate{Read: -1, Write: -1}
		options.AccountQuota = options.TableQuota
	}
	account, err := partition.NewAccount(options)
	if err != nil {
		return nil, err
	}
	w := &world{
		scenario: s, run: l, layout: l.Layout(), policy: policyOf(l.Retries), start: s.Start.Time,
		random: rand.New(rand.NewPCG(s.Seed, 1)), ended: func() bool { return false },
	}
	if err := w.layout.Validate(); err != nil {
		return nil, fmt.Errorf("layout %q: %w", l.Name, err)
	}
	if w.table, err = account.NewSet(w.start, tableConfig(s, l)); err != nil {
		return nil, err
	}
	for _, x := range s.Table.Indexes {
		config := partition.Config{Resource: "table/index/" + x.Name, Index: true, Capacity: capacity(&s.Table), Partitions: s.Table.Partitions}
		set, err := account.NewSet(w.start, config)
		if err != nil {
			return nil, err
		}
		w.indexes = append(w.indexes, index{set, indexPlaces(&x)})
	}
	for i := range s.Load {
		of := &s.Load[i]
		w.loads = append(w.loads, load{of, of.Keys.Distribution(), l.LoadFactor, of.ReadUnits(), of.WriteUnits()})
	}
	if l.Kind == scenario.Adaptive {
		w.fleet, err = newFleet(w)
	}
	return w, err
}

func tableConfig(s *scenario.Scenario, l *scenario.Layout) partition.Config {
	c := partition.Config{Resource: "table", Capacity: capacity(&s.Table), Partitions: s.Table.Partitions}
	if l.Partitions > 0 {
		c.Partitions = l.Partitions
	}
	return c
}

func capacity(t *scenario.Table) partition.Capacity {
	c := partition.Capacity{Warm: partition.Rate{Read: t.WarmReadUnits, Write: t.WarmWriteUnits}}
	if t.Capacity == scenario.Provisioned {
		c.Mode = partition.Provisioned
		c.Provisioned = partition.Rate{Read: t.ReadUnits, Write: t.WriteUnits}
	}
	return c
}

func indexPlaces(x *scenario.Index) [][]byte {
	var places [][]byte
	for key := range x.Keys {
		for shard := range x.Shards {
			name := fmt.Sprint(x.Name, "-", key)
			if x.Shards > 1 {
				name = fmt.Sprint(name, "#SHARD_", shard)
			}
			places = append(places, sim.Place(name, ""))
		}
	}
	return places
}

// sampleID is an id of an item whose shard is calculated.
func sampleID(n int) string { return fmt.Sprintf("order-%06d", n) }
