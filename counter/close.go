package counter

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Flush returns when everything that was added before the call is stored. It does not wait for Options.Interval to
// pass. If ctx ends first, Flush returns an error. It is a LostError if Adds of AddAsync are not stored.
func (c *Counter) Flush(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	return c.drain(ctx)
}

// Close stores everything that is not stored yet, folds the slots of this process, and stops all background work. Later
// Adds fail with ErrClosed. If ctx ends before everything is stored, Close gives up, and waiting Adds fail. The error
// of Close is then a LostError if Adds of AddAsync are not stored.
//
// A process that ends without Close leaves its slots in the table. They still count, and other processes fold them
// later.
func (c *Counter) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.closed = true
	c.changed()
	err := c.drain(ctx)
	for err == nil && (c.flushing() || c.leaving > 0) && c.wait(ctx) == nil {
	}
	var left []*entry
	for _, e := range c.entries {
		if err == nil && !e.flusher && e.owner.open {
			left = append(left, e)
		}
	}
	c.mu.Unlock()
	c.foldAll(ctx, left)
	c.cancel()
	c.running.Wait()
	c.cache.Close()
	return err
}

// foldAll folds the slots of entries that are not used any more, as far as ctx allows.
func (c *Counter) foldAll(ctx context.Context, entries []*entry) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, e := range entries {
		select {
		case c.gate <- struct{}{}:
		case <-ctx.Done():
			return
		}
		all.Go(func() {
			defer func() { <-c.gate }()
			c.foldOwn(c.metered(ctx), e)
		})
	}
}

// flushing keeps flushers from waiting and reports whether there are any.
func (c *Counter) flushing() (any bool) {
	for _, e := range c.entries {
		if e.flusher {
			any = true
			e.rush()
		}
	}
	return any
}

// drain waits until everything is stored that is in the queues now. It needs c.mu, which it gives up while it waits.
func (c *Counter) drain(ctx context.Context) error {
	lost := c.lost
	c.batches++ // what comes from now on goes into other batches
	for newest := c.batches - 1; ; {
		left := c.unfinished(newest)
		if len(left) == 0 {
			break
		}
		if ctx.Err() != nil {
			return c.unstored(context.Cause(ctx))
		}
		for e := range left {
			e.rush()
		}
		c.mu.Unlock()
		for _, b := range left {
			select {
			case <-b.done:
			case <-ctx.Done():
			}
		}
		c.mu.Lock()
	}
	if c.lost > lost {
		return &LostError{c.lost - lost, errGone}
	}
	return nil
}

// unfinished returns the entries with batches that are to be stored, and the last one of each.
func (c *Counter) unfinished(newest int64) map[*entry]*batch {
	left := map[*entry]*batch{}
	for _, e := range c.entries {
		for b := range e.pending() {
			if b.number <= newest && b.wanted() {
				left[e] = b
			}
		}
	}
	return left
}

// unstored is the error of a Flush that has waited for too long.
func (c *Counter) unstored(cause error) error {
	var adds int64
	for _, e := range c.entries {
		adds += e.async()
		if e.trouble != nil {
			cause = errors.Join(cause, fmt.Errorf("counter %q: %w", e.key, e.trouble))
			break // one will do to see what is wrong
		}
	}
	if adds > 0 {
		return &LostError{adds, cause}
	}
	return fmt.Errorf("some adds are not stored: %w", cause)
}
