package adapt

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// Write decides which shard a write goes to.
type Write struct {
	page    *page
	machine *ledger.Write // under page.mu
}

// Write begins a write to a key. choose returns one of width shards. It is called again only if every attempt before was
// certainly without effect.
func (b *Book) Write(ctx context.Context, key string, bucket time.Time, choose func(width int) int) (*Write, error) {
	p, err := b.page(Key{key, bucket})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	newer := p.view.Newer() != nil
	p.mu.Unlock()
	if newer { // perhaps it is no more
		b.Throttled(ctx, key, bucket)
	}
	return &Write{page: p, machine: ledger.NewWrite(p.view, ledger.Writing{Choose: choose})}, nil
}

// Next returns the shard of the next attempt, the width that it is one of, and the stamp that the item carries there.
func (w *Write) Next() (shard int, width layout.Width, stamp int64, err error) {
	w.page.mu.Lock()
	defer w.page.mu.Unlock()
	for _, effect := range w.machine.Next() {
		if sent, ok := effect.(ledger.SendItem); ok {
			r, _ := w.page.view.Record() // the read width may have grown since, and never falls
			return sent.Shard, layout.Width{Write: r.Write, Read: r.Read}, sent.Stamp, nil
		}
	}
	_, err = w.machine.Result()
	return 0, layout.Width{}, 0, err
}

// Refused says that the last attempt certainly had no effect, or, if lost is set, that an attempt may have had one.
func (w *Write) Refused(lost bool) {
	w.page.mu.Lock()
	defer w.page.mu.Unlock()
	answer := ledger.ItemSent{Outcome: ledger.Throttled}
	if lost {
		answer.Outcome = ledger.Unknown
	}
	w.machine.Handle(answer)
}

// Throttled says that a write was throttled because of its key range. The key may have grown, so the ledger is read, at most
// once a second. A writer that cannot read it keeps to what it knows.
func (b *Book) Throttled(ctx context.Context, key string, bucket time.Time) {
	p, err := b.page(Key{key, bucket})
	if err != nil {
		return // the write itself has said so
	}
	p.mu.Lock()
	asked, due := p.view.Refresh(b.clock.read())
	p.mu.Unlock()
	if due {
		ctx, cancel := context.WithTimeout(ctx, besideTimeout)
		defer cancel()
		b.learn(ctx, p, asked)
	}
}

// learn reads a ledger for the view.
func (b *Book) learn(ctx context.Context, p *page, asked ledger.ReadLedger) {
	read := b.ask(ctx, p, asked)
	err := read.Err
	p.mu.Lock()
	if err == nil {
		err = p.view.Learn(asked, read.Record)
	} else {
		p.view.NotLearned(asked, err)
	}
	p.mu.Unlock()
	if err != nil {
		b.options.Logger.WarnContext(ctx, "the ledger of a hot key cannot be read", "key", p.name, "error", err)
	}
}
