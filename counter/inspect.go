package counter

import (
	"context"
	"time"
)

// View describes the parts of a counter.
type View struct {
	Total  int64   // as Total returns it
	Base   int64   // the part of it that was folded
	Before int64   // the part of it from before: the attribute of Options.Origin, or what was imported from it
	Folded int     // number of folded slots that are still remembered
	Shards []Shard // all shards that may have slots
}

// Shard is a shard of a counter, with its slots.
type Shard struct {
	Key   string // the partition key
	Total int64  // of its slots, without folded ones
	Slots []Slot
}

// Slot is the sum that one process has added to a counter. A process may have several slots, one after another.
type Slot struct {
	ID      string
	Total   int64
	Adds    int64     // number of Adds
	Flushes int64     // approximate number of requests since the process began to add to the counter
	At      time.Time // time of the last flush, by the clock of the process
	Frozen  time.Time // when it was found dead or given up, by the clock of the process that froze it; zero if it is in use
	Folded  bool      // it is part of the base and counts there
}

// Inspect returns the parts of a counter, shard by shard. A shard that nobody has written to has no slots and a total
// of 0. Inspect costs as much as Total.
func (c *Counter) Inspect(ctx context.Context, key string) (View, error) {
	g, err := c.read(c.metered(ctx), c.begin(key), key)
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
	if view.Before, err = c.int64(key, g.earlier()); err != nil {
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
