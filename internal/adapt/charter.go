package adapt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// checkEvery is how often the charter is read again, so that a process whose layout was replaced notices.
const checkEvery = time.Minute

// checked is whether the charter allows this process to use the collection.
type checked struct {
	until atomic.Int64 // in milliseconds; 0: never read
	turn  sync.Mutex   // held by who reads it
	err   error        // why not, under turn
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
	if until > 0 { // one of all who come reads it again
		if !c.turn.TryLock() {
			return nil
		}
	} else if err := lock(ctx, &c.turn); err != nil {
		return err
	}
	defer c.turn.Unlock()
	if now < c.until.Load() {
		return nil
	}
	_, err := b.checkCharter(ctx)
	switch {
	case err == nil:
	case until > 0 && !errors.Is(err, charter.ErrIncompatible) && !errors.Is(err, charter.ErrNewer) && !errors.Is(err, charter.ErrCharter):
		b.options.Logger.WarnContext(ctx, "the charter cannot be read again", "table", b.control.Table, "error", err)
	default:
		return err
	}
	c.until.Store(b.clock.read().Add(checkEvery).UnixMilli())
	return nil
}

// lock takes a lock unless the context ends first.
func lock(ctx context.Context, mu *sync.Mutex) error {
	for wait := time.Millisecond; !mu.TryLock(); wait = min(2*wait, 50*time.Millisecond) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

var charterKey = layout.ControlKey{Role: layout.RoleCharter}

// changeAttempts is how often a charter is written that somebody else changes meanwhile, which is rare.
const changeAttempts = 5

// checkCharter compares the charter that is stored with this process's layout, and returns it.
func (b *Book) checkCharter(ctx context.Context) (charter.Charter, error) {
	for range changeAttempts {
		item, err := b.control.probe(ctx, charterKey)
		if err != nil {
			return charter.Charter{}, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be read: %w", b.control.Collection, err))
		}
		mine := b.charterNow()
		if item == nil {
			if item, err = b.control.create(ctx, charterKey, mine.Encode()); err != nil {
				return charter.Charter{}, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be written: %w", b.control.Collection, err))
			}
			if item == nil {
				return mine, nil
			}
		}
		stored, err := b.control.parseCharter(item)
		if err == nil {
			err = charter.Compare(mine, stored)
		}
		if err != nil {
			return charter.Charter{}, fmt.Errorf("collection %q of table %s: %w", b.control.Collection, b.control.Table, err)
		}
		if !charter.Extends(mine, stored) {
			return stored, nil
		}
		mine.Frozen = stored.Frozen
		done, err := b.control.replace(ctx, charterKey, mine.Encode(), item) // from now on nobody may leave out what this process reads
		if done || err != nil {
			return mine, err
		}
	}
	return charter.Charter{}, fmt.Errorf("%w: the charter of collection %q changes at each attempt: try again", ErrLedger, b.control.Collection)
}

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
func (b *Book) Rewrite(ctx context.Context) error { return b.control.Rewrite(ctx, b.charterNow()) }

// Rewrite replaces the charter, whatever layout it has, also if it is damaged. A freeze of the collection stays. A charter of
// a newer version of heatsink is left alone: nobody here knows what processes need that read it.
func (c *Control) Rewrite(ctx context.Context, written charter.Charter) error {
	for range changeAttempts {
		item, err := c.probe(ctx, charterKey)
		if err != nil {
			return notUsable(ctx, err)
		}
		stored, err := c.parseCharter(item)
		switch {
		case item == nil:
		case errors.Is(err, charter.ErrNewer):
			return fmt.Errorf("collection %q of table %s: %w", c.Collection, c.Table, err)
		case err == nil && stored.By == written.By && stored.At == written.At:
			return nil // by an attempt whose answer was lost
		default:
			written.Frozen = charter.FreezeOf(texts(item))
		}
		done, err := c.replace(ctx, charterKey, written.Encode(), item)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the charter of collection %q changes at each attempt: try again", ErrLedger, c.Collection)
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
