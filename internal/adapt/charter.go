package adapt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/charter"
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
	err := b.checkCharter(ctx)
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

// checkCharter compares the charter that is stored with this process's layout.
func (b *Book) checkCharter(ctx context.Context) error {
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
