package adapt

import (
	"context"
	"errors"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// Grow makes a key wider, or freezes it, and returns the record that is stored then. The error wraps ledger.ErrFrozen, or ErrLedger
// and perhaps ledger.ErrContended or ledger.ErrUnknownOutcome.
func (b *Book) Grow(ctx context.Context, key string, bucket time.Time, g ledger.Growth) (ledger.Record, bool, error) {
	if err := b.Ready(ctx); err != nil {
		return ledger.Record{}, false, err
	}
	p, err := b.page(Key{key, bucket})
	if err != nil {
		return ledger.Record{}, false, err
	}
	if err := b.mayGrow(ctx, p, g); err != nil {
		return ledger.Record{}, false, err
	}
	record, grown, err := b.grow(ctx, p, g)
	if errors.Is(err, ledger.ErrFrozen) { // somebody may have thawed it since this process has read it
		if _, unread := b.Show(ctx, key, bucket); unread == nil {
			return b.grow(ctx, p, g)
		}
	}
	return record, grown, err
}

// grow does so. Who calls it has asked whether the collection is frozen.
func (b *Book) grow(ctx context.Context, p *page, g ledger.Growth) (ledger.Record, bool, error) {
	now := b.clock.read()
	g.Now, g.At, g.By = now, now.UnixMilli(), b.by
	p.mu.Lock()
	defer p.mu.Unlock()
	m := ledger.NewGrow(p.view, g)
	for !m.Over() {
		for _, effect := range m.Next() {
			p.mu.Unlock()
			event := b.carryOut(ctx, p, effect)
			p.mu.Lock()
			m.Handle(event)
		}
	}
	record, grown, err := m.Result()
	if err != nil && !errors.Is(err, ledger.ErrFrozen) {
		err = notUsable(ctx, err)
	}
	return record, grown, err
}

// carryOut does what a Grow wants done.
func (b *Book) carryOut(ctx context.Context, p *page, effect ledger.Effect) ledger.Event {
	switch e := effect.(type) {
	case ledger.WriteLedger:
		return b.control.writeLedger(ctx, p.control, b.absent(), e)
	case ledger.ReadLedger:
		return b.control.readLedger(ctx, p.control, b.absent(), e)
	}
	return nil
}

// Show reads the ledger of a key: the record of a key that has none if nothing is stored.
func (b *Book) Show(ctx context.Context, key string, bucket time.Time) (ledger.Record, error) {
	c, err := b.Cover(key, bucket, ledger.Reading{Mode: ledger.Strong})
	if err == nil {
		_, err = c.Await(ctx)
	}
	if err != nil {
		return ledger.Record{}, err
	}
	c.page.mu.Lock()
	defer c.page.mu.Unlock()
	r, _ := c.page.view.Record()
	return r, nil
}
