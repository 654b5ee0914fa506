package adapt

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// maxHints is how many keys a process follows through their time buckets.
const maxHints = 4096

// hints follow keys through their time buckets, so that a hot key is wide from the first write of a bucket on. The lock of
// the law guards them.
type hints struct {
	law  *ledger.Law
	keys map[string]*ledger.Hints
}

// of returns the hints of a key. If there are too many, it forgets one: that key begins its next bucket with one shard.
func (h *hints) of(key string) *ledger.Hints {
	if known := h.keys[key]; known != nil {
		return known
	}
	if h.keys == nil {
		h.keys = map[string]*ledger.Hints{}
	}
	for other := range h.keys {
		if len(h.keys) < maxHints {
			break
		}
		delete(h.keys, other)
	}
	h.keys[key] = ledger.NewHints(h.law)
	return h.keys[key]
}

// rate takes the rate of a key in a bucket.
func (h *hints) rate(k Key, rate float64) {
	if known := h.keys[k.Text]; known != nil {
		known.Rate(k.Bucket, rate)
	}
}

// Hint takes that an item with the time at is about to be written to a bucket. If the buckets before were wide, it creates the
// ledger of this bucket, or of the next. Without buckets it does nothing.
func (b *Book) Hint(ctx context.Context, key string, bucket, at time.Time) {
	by := b.options.Layout.Bucket
	if by == layout.NoBucket {
		return
	}
	width, _ := b.Known(key, bucket)
	b.lawMu.Lock()
	hint, due := b.hints.of(key).Writes(ledger.Span{Start: bucket, End: by.Next(bucket)}, at, width.Write)
	b.lawMu.Unlock()
	if !due {
		return
	}
	p, err := b.page(Key{key, hint.Bucket})
	if err != nil {
		return // beyond the times that there are buckets for
	}
	to, err := b.hinted(ctx, key, hint)
	if err == nil && to > 1 {
		_, _, err = b.grow(ctx, p, ledger.Growth{To: to, Create: true, Why: "the time bucket before was wide"})
	}
	if err != nil {
		b.options.Logger.WarnContext(ctx, "a time bucket begins narrow", "table", b.options.Data, "key", p.name, "error", err)
	}
}

// hinted returns how wide a bucket begins. In a frozen collection that is no more than the bucket before was, so that the load
// which it took does not throttle at midnight.
func (b *Book) hinted(ctx context.Context, key string, hint ledger.Hint) (int, error) {
	frozen, err := b.held(ctx)
	if err != nil || !frozen.On {
		return hint.To, err
	}
	before, _ := b.Known(key, b.options.Layout.Bucket.Start(hint.Bucket.Add(-1)))
	return min(hint.To, before.Write), nil
}
