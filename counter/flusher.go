package counter

import (
	"context"
	"errors"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// flush is an entry's flusher: it sends what the entry has to send, one request at a time, until there is nothing left.
// An entry has one only while it is needed.
func (c *Counter) flush(e *entry) {
	for {
		c.mu.Lock()
		if !e.wanted() || c.closed && !e.reliedOn() {
			e.flusher = false
			c.changed()
			c.mu.Unlock()
			return
		}
		wait := e.pace.due(time.Now())
		c.mu.Unlock()

		if c.pause(e, wait) {
			for !c.send(e) { // until the Adds are sent, or something went wrong
			}
			<-c.gate
		}
		if c.ctx.Err() != nil {
			c.abandon(e)
			return
		}
	}
}

// pause waits for the entry's turn and for a place among the requests under way. It reports false if the counter is
// over.
func (c *Counter) pause(e *entry, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.hurry:
	case <-c.ctx.Done():
		return false
	}
	select {
	case c.gate <- struct{}{}:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// send sends the entry's next request. It reports false if that was one that the next flush needs, and it worked.
func (c *Counter) send(e *entry) bool {
	c.mu.Lock()
	ctx, cancel := c.background(e.context())
	defer cancel()
	_, needed := e.queued()
	var r request
	var more bool
	if e.owner, r, more = e.owner.next(needed, newID); !more {
		e.pace.started(time.Now())
		r = e.launch()
	}
	c.mu.Unlock()

	a := c.sender.do(ctx, e.key, r) // a base that is read late will do: what it allows, newer ones do

	c.mu.Lock()
	defer c.mu.Unlock()
	c.landed(e, r, a)
	return !more || a.err != nil
}

// landed takes an answer. Whatever did not work is tried again, later; only if that is pointless are those told who
// wait.
func (c *Counter) landed(e *entry, r request, a answer) {
	if r.operation == flushSlot {
		c.flushed(e, r, a)
	} else {
		e.owner = e.owner.prepared(r, a)
	}
	if e.trouble = a.err; a.err == nil {
		return
	}
	e.pace.failed(time.Now())
	if errors.Is(a.err, ErrCorrupt) || dispatch.Judge(a.err) == dispatch.Rejected {
		e.reject(a.err)
	}
	if adds := e.async(); adds > 0 {
		c.options.Logger.WarnContext(c.ctx, "adds cannot be stored yet", "counter", e.key, "adds", adds, "reason", a.err)
	}
}

// flushed is landed for a flush.
func (c *Counter) flushed(e *entry, r request, a answer) {
	if a.outcome == done {
		e.pace.succeeded(e.flights[len(e.flights)-1].amount.adds)
	}
	var l landing
	e.owner, l = e.owner.landed(r, a)
	c.lost += e.land(l)
	if a.outcome == refused {
		c.options.Logger.DebugContext(c.ctx, "another process folded the slot", "counter", e.key, "slot", r.id,
			"again", len(l.again), "lost", len(l.lost))
	}
}

// abandon ends an entry's flusher without having stored everything.
func (c *Counter) abandon(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost += e.abandon(ErrClosed)
	e.flusher = false
	c.changed()
}

// background returns a context that carries what values does and ends with the counter.
func (c *Counter) background(values context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(values))
	stop := context.AfterFunc(c.ctx, cancel)
	return heatsink.WithMeter(ctx, &c.meter), func() {
		stop()
		cancel()
	}
}
