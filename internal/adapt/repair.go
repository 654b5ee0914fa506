package adapt

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// Probe returns the largest shard below to that has an item, -1 if none has, and the largest stamp that it saw.
type Probe func(ctx context.Context, to int) (largest int, stamp int64, err error)

// Repair writes the ledger of a key anew, from what its shards hold. It returns the record that is stored then, and whether it
// was written.
func (b *Book) Repair(ctx context.Context, key string, bucket time.Time, r ledger.Repairing, probe Probe) (ledger.Record, bool, error) {
	m, err := b.repair(ctx, key, bucket, r, probe)
	if m == nil {
		return ledger.Record{}, false, err
	}
	record, repaired, _ := m.Result()
	return record, repaired, err
}

// PlanRepair does what Repair does before it writes. It returns the record that is stored, and the one that Repair would write:
// the same one if that is nothing.
func (b *Book) PlanRepair(ctx context.Context, key string, bucket time.Time, r ledger.Repairing, probe Probe) (stored, planned ledger.Record, err error) {
	r.DryRun = true
	m, err := b.repair(ctx, key, bucket, r, probe)
	if err != nil {
		return stored, planned, err
	}
	stored, planned = m.Plan()
	return stored, planned, nil
}

// repair runs the machine of a repair to its end. It returns none if the machine could not begin.
func (b *Book) repair(ctx context.Context, key string, bucket time.Time, r ledger.Repairing, probe Probe) (*ledger.Repair, error) {
	if err := b.Ready(ctx); err != nil {
		return nil, err
	}
	p, err := b.page(Key{key, bucket})
	if err != nil {
		return nil, err
	}
	now := b.clock.read()
	r.Now, r.At, r.By = now, now.UnixMilli(), b.by
	p.mu.Lock()
	defer p.mu.Unlock()
	m := ledger.NewRepair(p.view, r)
	for !m.Over() {
		for _, effect := range m.Next() {
			p.mu.Unlock()
			event := b.carryOut(ctx, p, effect)
			if probed, ok := effect.(ledger.ProbeShards); ok {
				largest, stamp, err := probe(ctx, probed.To)
				event = ledger.ShardsProbed{Largest: largest, Stamp: stamp, Err: err}
			}
			p.mu.Lock()
			m.Handle(event)
		}
	}
	if _, _, err = m.Result(); err != nil {
		err = notUsable(ctx, err)
	}
	return m, err
}
