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
	until atomic.Int64 // in milliseconds; 0: never read, or it does not allow it
	turn  sync.Mutex   // held by who reads it
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
	refused, err := b.checkCharter(ctx)
	switch {
	case err == nil:
	case until == 0 || refused:
		c.until.Store(0) // nobody goes on before it was read again
		return err
	case ctx.Err() != nil:
		return nil // the next caller reads it; this one's operation says why it ends
	default:
		b.options.Logger.WarnContext(ctx, "the charter cannot be read again", "table", b.control.Table, "error", err)
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

// extendAttempts is how often a charter may change while this process extends it.
const extendAttempts = 3

// checkCharter compares the charter that is stored with this process's layout. refused says that the charter is the reason of the
// error, and not a request.
func (b *Book) checkCharter(ctx context.Context) (refused bool, err error) {
	for range extendAttempts {
		var stored Item
		if stored, refused, err = b.compareCharter(ctx); stored == nil {
			return refused, err
		}
		done, err := b.control.replace(ctx, charterKey, b.charterNow().Encode(), stored)
		if err != nil {
			return false, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be written: %w", b.control.Collection, err))
		}
		if done {
			return false, nil
		}
	}
	return false, fmt.Errorf("%w: the charter of collection %q changes all the time: try again", ErrLedger, b.control.Collection)
}

// compareCharter reads the charter, and writes it if there is none. It returns what is stored if this process reads more than
// that lists: from now on nobody may leave that out.
func (b *Book) compareCharter(ctx context.Context) (extends Item, refused bool, err error) {
	item, err := b.control.probe(ctx, charterKey)
	if err != nil {
		return nil, false, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be read: %w", b.control.Collection, err))
	}
	mine := b.charterNow()
	if item == nil {
		if item, err = b.control.create(ctx, charterKey, mine.Encode()); err != nil {
			return nil, false, notUsable(ctx, fmt.Errorf("the charter of collection %q cannot be written: %w", b.control.Collection, err))
		}
		if item == nil {
			return nil, false, nil
		}
	}
	stored, err := b.parseCharter(item)
	if err != nil && !errors.Is(err, charter.ErrNewer) {
		err = fmt.Errorf("%w: %w", ErrLedger, err)
	}
	if err == nil {
		err = charter.Compare(mine, stored)
	}
	if err != nil {
		return nil, true, fmt.Errorf("collection %q of table %s: %w", b.control.Collection, b.control.Table, err)
	}
	if charter.Extends(mine, stored) {
		return item, false, nil
	}
	return nil, false, nil
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
	_, err := b.control.replace(ctx, charterKey, b.charterNow().Encode(), nil)
	return err
}
