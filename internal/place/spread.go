package place

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// Spread is how keys are spread over shards, now and in earlier layouts.
type Spread struct {
	Layout layout.Layout
	Older  []layout.Layout
	Widths layout.Widths // nil means Layout.Shards

	// Hashed says that a Random layout puts an item into the shard that its id determines, so that a repeated put replaces it. It may be
	// in any other shard all the same.
	Hashed bool

	// Ledgers say how wide keys are that change by themselves; nil if no key does. Widths is nil then.
	Ledgers Ledgers
	// Ready returns an error if the collection must not be used as it is configured; nil if nobody has to be asked.
	Ready func(context.Context) error
}

// Ledgers are what a process knows of the widths of keys.
type Ledgers interface {
	// Known returns the width of a key as far as the process knows, and the generation of that knowledge.
	Known(key string, bucket time.Time) (layout.Width, int64)
	// Write begins a write to a key. choose returns one of width shards.
	Write(ctx context.Context, key string, bucket time.Time, choose func(width int) int) (Writing, error)
}

// Writing decides which shard each attempt of a write goes to.
type Writing interface {
	// Next returns the shard of the next attempt, the width that it is one of, and the stamp that the item carries.
	Next() (shard int, width layout.Width, stamp int64, err error)
	// Refused says that the last attempt had no effect, or, if lost is set, that an attempt may have had one.
	Refused(lost bool)
}

// Adaptive reports whether a key's width may change.
func (s *Spread) Adaptive() bool { return s.Widths != nil || s.Ledgers != nil }

// calculates reports whether the layout or an older one calculates shards.
func (s *Spread) calculates() bool {
	return s.Layout.Strategy == layout.Calculated && (s.Layout.Shards > 1 || s.Adaptive()) ||
		slices.ContainsFunc(s.Older, func(l layout.Layout) bool { return l.Strategy == layout.Calculated && l.Shards > 1 })
}

// Width returns the width of a key, and checks it. A key with a ledger may be wider than the process knows.
func (s *Spread) Width(ctx context.Context, key string, bucket time.Time) (layout.Width, error) {
	if s.Ready != nil {
		if err := s.Ready(ctx); err != nil {
			return layout.Width{}, err
		}
	}
	return s.width(ctx, key, bucket)
}

// width is Width without a request.
func (s *Spread) width(ctx context.Context, key string, bucket time.Time) (layout.Width, error) {
	if s.Ledgers != nil {
		w, _ := s.Ledgers.Known(key, bucket)
		return w, nil
	}
	if s.Widths == nil {
		n := max(s.Layout.Shards, 1)
		return layout.Width{Write: n, Read: n}, nil
	}
	w, err := s.Widths.Width(ctx, key, bucket)
	if err != nil {
		return w, fmt.Errorf("width of key %q: %w", key, err)
	}
	if err := w.CheckFor(s.Layout.Strategy); err != nil {
		return w, fmt.Errorf("key %q: %w: %w", key, ErrOptions, err)
	}
	return w, nil
}

// LayoutAt returns the collection's layout at a width.
func (s *Spread) LayoutAt(shards int) layout.Layout {
	if s.Adaptive() {
		return s.Layout.WithShards(shards)
	}
	return s.Layout
}

func homeIn(in layout.Layout, k *Key, shard int) (Home, error) {
	shardKey, err := in.ShardKey(k.Text, k.Bucket, shard)
	if err != nil {
		return Home{}, fmt.Errorf("%w: %w", ErrItem, err)
	}
	return Home{shardKey, shard}, nil
}

// checkOlder returns an error if an older layout refuses a key. Reads also use the shards of older layouts, so they would
// refuse the key of a stored item.
func (s *Spread) checkOlder(k *Key) error {
	for i := range s.Older {
		older := &s.Older[i]
		if _, err := homeIn(*older, k, max(older.Shards, 1)-1); err != nil {
			return fmt.Errorf("key %s cannot be used, because Older[%d] refuses it and reads would fail: %w", quote.Text(k.Text), i, err)
		}
	}
	return nil
}

// parse finds the place of a stored partition key, in the collection's layout or an older one, at any width. A layout
// with a bare key accepts any text as a key. A key that another layout would have refused is therefore used only if the
// text has no other reading.
func (s *Spread) parse(stored string) (layout.Place, error) {
	layouts := slices.Concat([]layout.Layout{s.Layout}, s.Older)
	for i := range layouts {
		if layouts[i].Shards > 0 || i == 0 && s.Adaptive() {
			layouts[i].Shards = layout.MaxShards // it may have been wider before
		}
	}
	slices.SortStableFunc(layouts, func(a, b layout.Layout) int { return b.Shards - a.Shards })
	var failed error
	var refused *layout.Place
	for _, l := range layouts {
		place, err := l.Parse(stored)
		if err == nil {
			if !slices.ContainsFunc(layouts, func(l layout.Layout) bool { return l.CheckKey(place.Key) != nil }) {
				return place, nil
			}
			if refused == nil {
				refused = &place
			}
		}
		failed = cmp.Or(failed, err)
	}
	if refused != nil {
		return *refused, nil
	}
	if s.Layout.Shards == 0 && !s.Adaptive() { // others may have begun to spread the key
		if place, err := s.Layout.WithShards(layout.MaxShards).Parse(stored); err == nil {
			return place, nil
		}
	}
	return layout.Place{}, fmt.Errorf("%w: %w", ErrItem, failed)
}
