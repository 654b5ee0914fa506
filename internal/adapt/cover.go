package adapt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// Cover says which shards a read of a key has: those that are known at once, and the rest when the ledger has been read. It
// is safe for concurrent use.
type Cover struct {
	book    *Book
	page    *page
	machine *ledger.Read // under page.mu
	first   int
	due     []ledger.ReadLedger
	extra   int           // the shards below this are to be read
	covered int           // what Await has returned; 0: nothing yet
	shown   int64         // the generation that was known then
	turn    chan struct{} // has an element while somebody reads the ledger
}

// Cover begins a read of a key. It sends nothing.
func (b *Book) Cover(key string, bucket time.Time, reading ledger.Reading) (*Cover, error) {
	p, err := b.page(Key{key, bucket})
	if err != nil {
		return nil, err
	}
	reading.Now = b.clock.read()
	c := &Cover{book: b, page: p, turn: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.machine = ledger.NewRead(p.view, reading)
	c.collect()
	c.first = c.extra
	return c, nil
}

// collect takes what the machine wants. Call it under the page's lock.
func (c *Cover) collect() {
	for _, effect := range c.machine.Next() {
		switch e := effect.(type) {
		case ledger.ReadLedger:
			c.due = append(c.due, e)
		case ledger.ReadShards:
			c.extra = max(c.extra, e.To)
		}
	}
}

// First returns how many shards are known to the process.
func (c *Cover) First() int { return c.first }

// Pending reports whether the ledger has to be read, so that there may be more shards than First. Ask before the first Await.
func (c *Cover) Pending() bool {
	c.page.mu.Lock()
	defer c.page.mu.Unlock()
	return len(c.due) > 0
}

// Await reads the ledger if that is due, or waits for who does, and returns how many shards there are to read. The error wraps
// ErrLedger, or is the context's.
func (c *Cover) Await(ctx context.Context) (int, error) {
	n, err := c.await(ctx)
	if err == nil {
		c.page.mu.Lock()
		r, _ := c.page.view.Record()
		c.covered, c.shown = n, r.Generation
		c.page.mu.Unlock()
	}
	return n, err
}

func (c *Cover) await(ctx context.Context) (int, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	p := c.page
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(c.due) > 0 {
		asked := c.due[0]
		p.mu.Unlock()
		read := c.book.ask(ctx, p, asked)
		p.mu.Lock()
		if cause := ctx.Err(); cause != nil && read.Err != nil { // it stays due for the read's other requests
			return 0, cause
		}
		c.due = c.due[1:]
		c.machine.Handle(read)
		c.collect()
	}
	result, err := c.machine.Result()
	if err != nil {
		return 0, notUsable(ctx, err)
	}
	if result.Suspect != nil {
		c.book.options.Logger.WarnContext(ctx, "an eventual read goes on with an older ledger", "key", p.name, "error", result.Suspect)
	}
	return c.extra, nil
}

// Saw takes the largest stamp of a page of a shard. If it is newer than the ledger, the ledger is read again: it was lost if it
// is still older then.
//
// A shard that only this read of the ledger shows is not read. The key has grown since the read began, so that everything in it
// is younger than the read. That does not hold for a ledger that was lost and repaired meanwhile, which ends the read.
func (c *Cover) Saw(ctx context.Context, shard int, stamp int64) error {
	if stamp == 0 {
		return nil
	}
	p := c.page
	p.mu.Lock()
	c.machine.Handle(ledger.ShardRead{Shard: shard, Stamp: stamp, More: true})
	c.collect()
	known, _ := p.view.Record()
	pending := len(c.due) > 0 && stamp > known.Generation // else this page has nothing to wait for
	p.mu.Unlock()
	if !pending {
		return nil
	}
	n, err := c.await(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, _ := p.view.Record(); c.covered > 0 && n > c.covered && !r.Follows(c.shown) {
		return fmt.Errorf("%w: ledger of %q: %w: it was repaired while this read was under way, which has read %d of %d shards: read again",
			ErrLedger, p.name, ledger.ErrLost, c.covered, n)
	}
	return nil
}

// notUsable wraps the error of a ledger, unless the caller's own context has ended.
func notUsable(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrLedger, err)
}
