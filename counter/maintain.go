package counter

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// foldsAtOnce is how many slots are folded with one write of the base.
	foldsAtOnce = 25

	// crowd is how many included slots make the base larger than it should be. Then they are removed after minRetention.
	crowd = 40

	// maxIncluded is how many names a base may have: it must stay well below the 400 KB of an item.
	maxIncluded = 5000
)

// Folded is the result of Fold.
type Folded struct {
	Slots   int // slots found
	Folded  int // slots added to the base
	Removed int // slots removed, which had been folded long before
}

// Fold maintains a counter. It adds the slots of dead processes to the base of the counter, and removes slots that were
// folded long ago. Reads then cost only as much as the number of living processes requires. Any number of processes may
// call Fold at any time. Processes fold the counters that they add to by themselves, see Options.FoldEvery.
//
// Fold costs as much as Total. Each slot that is folded costs one more write and a share of another, and the same again
// when it is removed.
func (c *Counter) Fold(ctx context.Context, key string) (Folded, error) {
	return c.fold(c.metered(ctx), key)
}

func (c *Counter) fold(ctx context.Context, key string) (Folded, error) {
	begun := c.begin(key)
	begun.beside = false // only slots are of interest
	g, err := c.read(ctx, begun, key)
	if err != nil {
		return Folded{}, err
	}
	out := Folded{Slots: len(g.slots)}
	now := time.Now()
	dead := c.dead(key, g, now)
	for part := range slices.Chunk(dead, foldsAtOnce) {
		if err := c.foldSlots(ctx, key, part); err != nil {
			return out, err
		}
		out.Folded += len(part)
	}
	old := c.old(g, now)
	for part := range slices.Chunk(old, foldsAtOnce) {
		if err := c.sweepSlots(ctx, key, part); err != nil {
			return out, err
		}
		out.Removed += len(part)
	}
	if out.Folded > 0 || out.Removed > 0 {
		c.options.Logger.DebugContext(ctx, "counter folded", "counter", key,
			"slots", out.Slots, "folded", out.Folded, "removed", out.Removed)
	}
	return out, nil
}

// dead returns the slots that are to be folded: those that were frozen already, and those that were not written for
// long. A clock that is wrong makes a slot seem dead that is not, which does no harm: its owner takes another.
func (c *Counter) dead(key string, g reading, now time.Time) (ids []slotID) {
	mine := c.ownSlot(key)
	for _, s := range g.slots {
		if g.base.included.has(s.id) || s.id == mine {
			continue
		}
		if s.frozen != 0 || now.Sub(time.UnixMilli(s.at)).Abs() >= c.options.Dead {
			ids = append(ids, s.id)
		}
	}
	return ids[:min(len(ids), max(0, maxIncluded-len(g.base.included)))]
}

func (c *Counter) ownSlot(key string) slotID {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		return e.owner.id
	}
	return ""
}

// old returns the slots that may be removed: those included for long, and those that somebody did not get to the end
// with. If they are removed too early, their owners, should they live, cannot find out any more what was counted, and
// late copies of their requests open them again. So two clocks have to agree, that of the owner and that of whoever
// froze the slot.
func (c *Counter) old(g reading, now time.Time) (ids []slotID) {
	retention := c.options.Retention
	if len(g.base.included) > crowd {
		retention = min(retention, minRetention)
	}
	there := make(set, len(g.slots))
	for _, s := range g.slots {
		there[s.id] = struct{}{}
		last := time.UnixMilli(max(s.at, s.frozen))
		if g.base.included.has(s.id) && s.frozen != 0 && now.Sub(last) >= retention {
			ids = append(ids, s.id)
		}
	}
	for id := range g.base.included {
		if !there.has(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// foldSlots folds slots.
func (c *Counter) foldSlots(ctx context.Context, key string, ids []slotID) error {
	f := foldOf(ids)
	for steps := 0; ; steps++ {
		r, more := f.next()
		if !more {
			return nil
		}
		a := c.store.do(ctx, key, r)
		if a.err != nil && (a.outcome == failed || ctx.Err() != nil) {
			return fmt.Errorf("fold counter %q: %w", key, a.err)
		}
		if steps > maxTries*(len(ids)+2) {
			return fmt.Errorf("fold counter %q: %w", key, ErrBusy)
		}
		f = f.step(r, a)
	}
}

// sweepSlots removes slots that are included.
func (c *Counter) sweepSlots(ctx context.Context, key string, ids []slotID) error {
	s := sweep{due: ids}
	for steps := 0; ; steps++ {
		r, more := s.next()
		if !more {
			return nil
		}
		a := c.store.do(ctx, key, r)
		if a.err != nil && (a.outcome == failed || ctx.Err() != nil || steps > maxTries*(len(ids)+2)) {
			return fmt.Errorf("remove folded slots of counter %q: %w", key, a.err)
		}
		s = s.step(r, a)
	}
}
