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
	if err := b.Ready(ctx); err != nil {
		return ledger.Record{}, false, err
	}
	p, err := b.page(Key{key, bucket})
	if err != nil {
		return ledger.Record{}, false, err
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
	record, repaired, err := m.Result()
	if err != nil {
		err = notUsable(ctx, err)
	}
	return record, repaired, err
}
