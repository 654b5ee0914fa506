package engine

import (
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// describe returns the table's description. The caller holds the table.
func (t *table) describe(now time.Time) *TableDescription {
	d := t.record.copy().Description
	d.Status = "ACTIVE"
	work := t.record.Work
	if work != nil {
		d.GlobalIndexes = append(d.GlobalIndexes, work.Index)
	}
	d.ItemCount, d.SizeBytes = t.usage.items.Load(), t.usage.bytes.Load()
	d.Provisioned.expire(now)
	for _, list := range [][]IndexDescription{d.LocalIndexes, d.GlobalIndexes} {
		for i := range list {
			u := &t.known(list[i].IndexName).usage
			list[i].ItemCount, list[i].SizeBytes = u.items.Load(), u.bytes.Load()
			list[i].Provisioned.expire(now)
		}
	}
	for i := range d.GlobalIndexes {
		x := &d.GlobalIndexes[i]
		x.Status = "ACTIVE"
		x.Warm.grow(t.known(x.IndexName).partitions, now)
	}
	d.Warm.grow(t.partitions, now)
	d.settling(t.settles())
	switch {
	case t.creating():
		d.Status = "CREATING"
		for i := range d.GlobalIndexes {
			d.GlobalIndexes[i].Status = "CREATING"
		}
		if r := t.record.Restoring; r != nil {
			d.Restore = new(r.Summary)
		}
	case work != nil:
		d.working(work, t.idle != nil)
	}
	return &d
}

// working describes the last of the global indexes as one that is added or removed.
// idle says that its backfill has not begun, or that it is being removed, which the
// table is busy with.
func (d *TableDescription) working(work *indexWork, idle bool) {
	x := &d.GlobalIndexes[len(d.GlobalIndexes)-1]
	if idle {
		d.Status = "UPDATING"
	}
	if work.Removing {
		x.Status = "DELETING"
		return
	}
	x.Status, x.Backfilling, x.Warm.Status = "CREATING", new(!idle), "UPDATING"
}

// grow lifts the warm throughput to what the partitions have come to take.
func (w *WarmThroughput) grow(s *partition.Set, now time.Time) {
	if s != nil {
		rate := s.Warm(now)
		w.Read, w.Write = max(w.Read, rate.Read), max(w.Write, rate.Write)
	}
}

// expire starts counting decreases anew on another day, in UTC.
func (p *ThroughputDescription) expire(now time.Time) {
	day := 24 * time.Hour
	if p.LastDecrease.UTC().Truncate(day).Before(now.UTC().Truncate(day)) {
		p.DecreasesToday = 0
	}
}

// global returns the description of the global index of that name, or nil.
func (d *TableDescription) global(name string) *IndexDescription {
	i := slices.IndexFunc(d.GlobalIndexes, func(x IndexDescription) bool { return x.IndexName == name })
	if i < 0 {
		return nil
	}
	return &d.GlobalIndexes[i]
}

func (d *TableDescription) onDemand() bool { return d.BillingMode == "PAY_PER_REQUEST" }
