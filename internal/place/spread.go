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

// Spread says how keys are spread over shards: today, and under which layouts before.
type Spread struct {
	Layout layout.Layout
	Older  []layout.Layout
	Widths layout.Widths // nil: always as many shards as the layout has
}

// Adaptive reports whether a key's width may change.
func (s *Spread) Adaptive() bool { return s.Widths != nil }

// calculates reports whether the shard of some item is calculated, in the layout or an older one.
func (s *Spread) calculates() bool {
	return s.Layout.Strategy == layout.Calculated && (s.Layout.Shards > 1 || s.Adaptive()) ||
		slices.ContainsFunc(s.Older, func(l layout.Layout) bool { return l.Strategy == layout.Calculated && l.Shards > 1 })
}

// Width asks how wide a key is, and checks the answer.
func (s *Spread) Width(ctx context.Context, key string, bucket time.Time) (layout.Width, error) {
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

// LayoutAt returns the collection's layout at a width that its keys have.
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

// checkOlder returns an error if an older layout does not take a key: reads, which ask its shards, too, would refuse the key
// of an item that was written.
func (s *Spread) checkOlder(k *Key) error {
	for i := range s.Older {
		older := &s.Older[i]
		if _, err := homeIn(*older, k, max(older.Shards, 1)-1); err != nil {
			return fmt.Errorf("key %s could not be read again, as Older[%d] refuses it: %w", quote.Text(k.Text), i, err)
		}
	}
	return nil
}

// parse finds out where a stored partition key belongs, in the collection's layout or an older one, at any width. To a layout
// that has a bare key everything is a key. So a key that another layout would have refused is taken only if there is no
// other way to read the text.
func (s *Spread) parse(stored string) (layout.Place, error) {
	layouts := slices.Concat([]layout.Layout{s.Layout}, s.Older)
	for i := range layouts {
		if layouts[i].Shards > 0 || i == 0 && s.Adaptive() {
			layouts[i].Shards = layout.MaxShards // it may have been wider than it is
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
