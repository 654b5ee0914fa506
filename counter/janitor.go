package counter

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// clean is the goroutine that gives idle counters up and looks after the others. It starts with the first Add.
func (c *Counter) clean() {
	every := c.options.Idle / 2
	if c.options.FoldEvery > 0 {
		every = min(every, c.options.FoldEvery/2)
	}
	every = max(every, time.Millisecond)
	for dispatch.Sleep(c.ctx, every) == nil {
		for _, key := range c.dueForCleaning(time.Now()) {
			ctx, cancel := c.background(context.Background())
			if _, err := c.fold(ctx, key); err != nil {
				c.options.Logger.DebugContext(ctx, "counter not folded", "counter", key, "reason", err)
			}
			cancel()
		}
	}
}

// dueForCleaning gives up the entries that are idle, and returns the keys of those that it is time to look after.
func (c *Counter) dueForCleaning(now time.Time) (keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		switch {
		case c.closed:
		case now.Sub(e.used) >= c.options.Idle && e.idle():
			c.retire(e)
		case c.options.FoldEvery > 0 && !now.Before(e.fold):
			e.fold = c.nextFold(now)
			keys = append(keys, key)
		}
	}
	return keys
}

// nextFold returns when to look after a counter next: on average after FoldEvery, and never when everybody else does.
func (c *Counter) nextFold(now time.Time) time.Time {
	if c.options.FoldEvery <= 0 {
		return time.Time{}
	}
	return now.Add(c.options.FoldEvery/2 + rand.N(c.options.FoldEvery))
}

// idle reports whether an entry has nothing to send.
func (e *entry) idle() bool { return !e.flusher && !e.wanted() }

// evict gives up the entry that was not used for the longest time, of those that are idle. Who is busy was used lately,
// so looking at a few is enough.
func (c *Counter) evict() bool {
	const few = 16
	for at, n := c.recent.Back(), 0; at != nil && n < few; at, n = at.Prev(), n+1 {
		if e := at.Value.(*entry); e.idle() {
			c.retire(e)
			return c.leaving <= c.options.MaxConcurrency // else folding cannot keep up
		}
	}
	return false
}

// retire forgets an entry and folds its slot. Should the key be added to meanwhile, it gets a new entry with another
// slot.
func (c *Counter) retire(e *entry) {
	delete(c.entries, e.key)
	c.recent.Remove(e.recent)
	if !e.owner.open {
		return
	}
	c.leaving++
	c.running.Go(func() {
		ctx, cancel := c.background(context.Background())
		defer cancel()
		c.foldOwn(ctx, e)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leaving--
		c.changed()
	})
}

// foldOwn folds the slot of an entry that is not used any more. If that does not work, the slot stays and somebody else
// folds it one day.
func (c *Counter) foldOwn(ctx context.Context, e *entry) {
	if err := c.foldSlots(ctx, e.key, []slotID{e.owner.id}); err != nil {
		c.options.Logger.DebugContext(ctx, "own slot not folded", "counter", e.key, "slot", e.owner.id, "reason", err)
	}
}
