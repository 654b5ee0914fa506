package counter

import (
	"context"
	"time"
)

// View is what a counter is made of.
type View struct {
	Total  int64   // as of Total
	Base   int64   // the part of it that was folded
	Folded int     // how many folded slots are remembered
	Shards []Shard // as many as may have slots
}

// Shard is a shard of a counter.
type Shard struct {
	Key   string // the partition key
	Total int64  // of its slots, without those that are folded
	Slots []Slot
}

// Slot is what one process has added to a counter, or one stretch of a process's life.
type Slot struct {
	ID      string
	Total   int64
	Adds    int64     // how many Adds it was
	Flushes int64     // about how many requests, since the process began to add to the counter
	At      time.Time // of the last flush, by the clock of the process
	Frozen  time.Time // when it was found dead or given up, by the clock of whoever did; zero if it is in use
	Folded  bool      // it is part of the base, and counts there
}

// Inspect returns what a counter is made of, shard by shard. Shards that nobody has written to have no slots and are 0.
// It costs what Total does.
func (c *Counter) Inspect(ctx context.Context, key string) (View, error) {
	g, err := c.read(c.metered(ctx), key)
	if err != nil {
		return View{}, err
	}
	view := View{Folded: len(g.base.included), Shards: make([]Shard, max(g.shards, g.width))}
	if view.Total, err = c.int64(key, g.total().value()); err != nil {
		return View{}, err
	}
	if view.Base, err = c.int64(key, g.base.sum.value()); err != nil {
		return View{}, err
	}
	for i := range view.Shards {
		if view.Shards[i].Key, err = c.store.layout.ShardKey(key, time.Time{}, i); err != nil {
			return View{}, err
		}
	}
	for _, s := range g.slots {
		shard, _ := s.id.shard()
		at := &view.Shards[shard]
		folded := g.base.included.has(s.id)
		if !folded {
			at.Total += s.total.value()
		}
		out := Slot{
			ID: string(s.id), Total: s.total.value(), Adds: s.total.adds, Flushes: s.seq,
			At: time.UnixMilli(s.at), Folded: folded,
		}
		if s.frozen != 0 {
			out.Frozen = time.UnixMilli(s.frozen)
		}
		at.Slots = append(at.Slots, out)
	}
	return view, nil
}
