package adapt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/ledger"
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
	failure error         // of the last request, under turn
	failed  time.Time     // when that was
}

// Ready returns nil if the charter agrees with this process's layout. The first call reads it, and writes it if there is none.
// Later ones read it again once a minute, and go on if it cannot be read.
func (b *Book) Ready(ctx context.Context) error {
	c := &b.charter
	began := b.clock.read()
	now := began.UnixMilli()
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
	case c.failure != nil && c.failed.After(began): // while this one waited: it would fail as well
		return c.failure
	}
	_, refused, err := b.checkCharter(ctx)
	switch {
	case refused:
		c.refused, c.again = err, b.clock.read().Add(refuseFor)
		c.until.Store(0) // nobody goes on before it was read again
		return err
	case err != nil && until == 0:
		if ctx.Err() == nil {
			c.failure, c.failed = err, b.clock.read()
		}
		return err
	case err != nil && ctx.Err() != nil:
		return nil // the next caller reads it; this one's operation says why it ends
	case err != nil:
		b.options.Logger.WarnContext(ctx, "the charter cannot be read again", "table", b.control.Table, "error", err)
	}
	c.refused, c.failure = nil, nil
	c.until.Store(b.clock.read().Add(checkEvery).UnixMilli())
	return nil
}

// errUnsupported is wrapped when the table is of a kind whose ledgers, or whose moves, would go wrong.
var errUnsupported = fmt.Errorf("%w: the table does not support layouts that change", ErrLedger)

// checkTable refuses global tables: a conditional write in one region does not see those of others. A process that may not
// describe the table cannot know.
func (b *Book) checkTable(ctx context.Context) error {
	option := "Options.Adaptive"
	if b.options.Charter.Movable {
		option = "Options.Movable"
	}
	if !b.options.Adaptive && !b.options.Charter.Movable || b.options.Describe == nil {
		return nil
	}
	for _, name := range slices.Compact([]string{b.control.Table, b.options.Data}) {
		table, err := b.options.Describe(ctx, name)
		if err != nil {
			b.options.Logger.DebugContext(ctx, "the table cannot be described", "table", name, "error", err)
			continue
		}
		if n := len(table.Replicas); n > 0 {
			return fmt.Errorf("%w: table %s is a global table with %d replicas, and a conditional write in one region does not see those of others: "+
				"leave %s out", errUnsupported, name, n, option)
		}
	}
	return nil
}

var charterKey = layout.ControlKey{Role: layout.RoleCharter}

// changeAttempts is how often a charter may change while this process writes it.
const changeAttempts = 5

// checkCharter compares the charter that is stored with this process's layout, and returns it. It writes it if there is none.
// refused says that the charter, or the table, is the reason of the error, and not a request.
//
// A process that reads more Older layouts than the charter lists does not write that down. The other processes would be refused
// while it is being deployed.
func (b *Book) checkCharter(ctx context.Context) (stored charter.Charter, refused bool, err error) {
	if b.charter.until.Load() == 0 {
		if err := b.checkTable(ctx); err != nil {
			return stored, true, err
		}
	}
	item, err := b.control.probe(ctx, charterKey)
	if err != nil {
		return stored, false, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be read: %w", b.control.Collection, err))
	}
	mine := b.charterNow()
	if item == nil {
		if item, err = b.control.create(ctx, charterKey, mine.Encode()); err != nil {
			return stored, false, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be written: %w", b.control.Collection, err))
		}
		if item == nil {
			return mine, false, nil
		}
	}
	stored, err = b.control.parseCharter(item)
	if err != nil && !errors.Is(err, charter.ErrNewer) {
		err = fmt.Errorf("%w: %w", ErrLedger, err)
	}
	if err == nil {
		b.moved.Store(stored.Moved)
		err = charter.Compare(mine, stored)
	}
	if err != nil {
		return stored, true, fmt.Errorf("collection %q of table %s: %w", b.control.Collection, b.control.Table, err)
	}
	return stored, false, nil
}

// Moved reports whether the charter said, when it was last read, that items of the collection have moved.
func (b *Book) Moved() bool { return b.moved.Load() }

func (b *Book) charterNow() charter.Charter {
	mine := b.options.Charter
	mine.By, mine.At = b.by, b.clock.read().UnixMilli()
	return mine
}

func (c *Control) parseCharter(item Item) (charter.Charter, error) {
	values, err := c.values(item)
	if err != nil {
		return charter.Charter{}, err
	}
	return charter.Parse(values)
}

// Charter reads the charter of the collection. There is none if stored is false. The error wraps charter.ErrCharter or
// charter.ErrNewer if it cannot be understood.
func (c *Control) Charter(ctx context.Context) (read charter.Charter, stored bool, err error) {
	item, err := c.probe(ctx, charterKey)
	if item == nil || err != nil {
		return charter.Charter{}, false, err
	}
	read, err = c.parseCharter(item)
	return read, true, err
}

// Rewrite replaces the charter by this process's layout. Processes with the layout before refuse the collection within a minute.
func (b *Book) Rewrite(ctx context.Context) error {
	if err := b.control.Rewrite(ctx, b.charterNow()); err != nil {
		return err
	}
	select {
	case b.charter.turn <- struct{}{}:
		b.charter.refused = nil // it does not refuse this process any more
		<-b.charter.turn
	case <-ctx.Done():
	}
	return nil
}

// Rewrite replaces the charter, whatever layout it has, also if it is damaged. A freeze of the collection stays. A charter of
// a newer version of heatsink is left alone: nobody here knows what processes need that read it. So is that of a collection whose items
// have moved, if the new one is not movable: its processes would take what is left behind for items.
func (c *Control) Rewrite(ctx context.Context, written charter.Charter) error {
	for range changeAttempts {
		item, err := c.probe(ctx, charterKey)
		if err != nil {
			return notUsable(ctx, err)
		}
		before, err := c.parseCharter(item)
		if item != nil && errors.Is(err, charter.ErrNewer) {
			return fmt.Errorf("collection %q of table %s: %w", c.Collection, c.Table, err)
		}
		moved, err := c.moved(ctx, before, item != nil && err == nil)
		switch {
		case err != nil:
			return err
		case moved && !written.Movable:
			return fmt.Errorf("%w: items of collection %q in table %s have moved, and a process without Movable does not know where they are: "+
				"the charter was not replaced; set Movable in all processes", charter.ErrIncompatible, c.Collection, c.Table)
		case moved && !written.Moved: // it stays true
			written.Moved = true
			if written, err = charter.New(written); err != nil {
				return err
			}
		}
		written.Frozen = charter.FreezeOf(texts(item))
		done, err := c.replace(ctx, charterKey, written.Encode(), item)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the charter of collection %q changes at each attempt: try again", ErrLedger, c.Collection)
}

// moved reports whether items of the collection have moved. Without a charter that could be read, they may have if there is a record of
// where they are.
func (c *Control) moved(ctx context.Context, before charter.Charter, read bool) (bool, error) {
	if read {
		return before.Moved, nil
	}
	record, err := c.probe(ctx, layout.ControlKey{Role: layout.RolePassage})
	if err != nil {
		return false, notUsable(ctx, err)
	}
	return record != nil, nil
}

// texts returns the strings and numbers of an item.
func texts(item Item) (values []ledger.Value) {
	for name, v := range item {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			values = append(values, ledger.Value{Name: name, Text: v.Value})
		case *types.AttributeValueMemberN:
			values = append(values, ledger.Value{Name: name, Number: true, Text: v.Value})
		}
	}
	return values
}
