package adapt

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/layout"
)

// checkEvery is how often the charter is read again, so that a process whose layout was replaced notices.
const checkEvery = time.Minute

// refuseFor is how long a process that the charter refuses does not read it again.
const refuseFor = 5 * time.Second

// checked is whether the charter allows this process to use the collection.
type checked struct {
	until   atomic.Int64  // in milliseconds; 0: it was not read yet, or refuses
	turn    chan struct{} // has an element while somebody reads it
	refused error         // why it refuses, under turn
	again   time.Time     // when it is read again then
}

// Ready returns nil if the charter agrees with this process's layout. The first call reads it, and writes it if there is none.
// Later ones read it again once a minute, and go on if it cannot be read.
func (b *Book) Ready(ctx context.Context) error {
	c := &b.charter
	now := b.clock.read().UnixMilli()
	until := c.until.Load()
	if now < until {
		return nil
	}
	select {
	case c.turn <- struct{}{}:
	default:
		if until > 0 { // one of all who come reads it again
			return nil
		}
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-c.turn }()
	switch {
	case now < c.until.Load():
		return nil
	case c.refused != nil && b.clock.read().Before(c.again):
		return c.refused
	}
	err := b.checkCharter(ctx)
	refused := errors.Is(err, charter.ErrIncompatible) || errors.Is(err, charter.ErrNewer) || errors.Is(err, charter.ErrCharter) || errors.Is(err, errUnsupported)
	switch {
	case refused:
		c.refused, c.again = err, b.clock.read().Add(refuseFor)
		c.until.Store(0)
		return err
	case err != nil && until == 0:
		return err
	case err != nil:
		b.options.Logger.WarnContext(ctx, "the charter cannot be read again", "table", b.control.Table, "error", err)
	}
	c.refused = nil
	c.until.Store(b.clock.read().Add(checkEvery).UnixMilli())
	return nil
}

// errUnsupported is wrapped when the table is of a kind whose ledgers would go wrong.
var errUnsupported = fmt.Errorf("%w: the table does not support adaptive layouts", ErrLedger)

// checkTable refuses global tables: a conditional write in one region does not see those of others. A process that may not
// describe the table cannot know.
func (b *Book) checkTable(ctx context.Context) error {
	if !b.options.Adaptive || b.options.Describe == nil {
		return nil
	}
	table, err := b.options.Describe(ctx, b.control.Table)
	if err != nil {
		b.options.Logger.DebugContext(ctx, "the table cannot be described", "table", b.control.Table, "error", err)
		return nil
	}
	if n := len(table.Replicas); n > 0 {
		return fmt.Errorf("%w: table %s is a global table with %d replicas, and a conditional write in one region does not see those of others: "+
			"leave Options.Adaptive out", errUnsupported, b.control.Table, n)
	}
	return nil
}

var charterKey = layout.ControlKey{Role: layout.RoleCharter}

// checkCharter compares the charter that is stored with this process's layout.
func (b *Book) checkCharter(ctx context.Context) error {
	if b.charter.until.Load() == 0 {
		if err := b.checkTable(ctx); err != nil {
			return err
		}
	}
	item, err := b.control.probe(ctx, charterKey)
	if err != nil {
		return notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be read: %w", b.control.Collection, err))
	}
	mine := b.charterNow()
	if item == nil {
		if item, err = b.control.create(ctx, charterKey, mine.Encode()); err != nil {
			return notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be written: %w", b.control.Collection, err))
		}
		if item == nil {
			return nil
		}
	}
	stored, err := b.parseCharter(item)
	if err == nil {
		err = charter.Compare(mine, stored)
	}
	if err != nil {
		return fmt.Errorf("collection %q of table %s: %w", b.control.Collection, b.control.Table, err)
	}
	if charter.Extends(mine, stored) { // from now on nobody may leave out what this process reads
		return b.control.replace(ctx, charterKey, mine.Encode())
	}
	return nil
}

func (b *Book) charterNow() charter.Charter {
	mine := b.options.Charter
	mine.By, mine.At = b.by, b.clock.read().UnixMilli()
	return mine
}

func (b *Book) parseCharter(item Item) (charter.Charter, error) {
	values, err := b.control.values(item)
	if err != nil {
		return charter.Charter{}, err
	}
	return charter.Parse(values)
}

// Rewrite replaces the charter by this process's layout. Processes with the layout before refuse the collection within a minute.
func (b *Book) Rewrite(ctx context.Context) error {
	if _, err := b.control.probe(ctx, charterKey); err != nil {
		return notUsable(ctx, err)
	}
	return b.control.replace(ctx, charterKey, b.charterNow().Encode())
}
