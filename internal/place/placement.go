package place

import (
	"context"
	"fmt"
	"maps"

	"github.com/heatsink-go/heatsink/layout"
)

// Placement is the home that was chosen for a write.
type Placement struct {
	Key
	Home
	Random bool // any shard can take the item

	listed  bool // the item is in the collection, so the home is used
	tried   []int
	writing Writing // of a key with a ledger
	stamp   int64   // the generation that the item carries there; 0: none
}

// Placer chooses the homes of items that are written.
type Placer struct {
	schema  *Schema
	chooser *Chooser
}

// NewPlacer returns a placer that draws shards with chooser where any shard can take the item.
func NewPlacer(schema *Schema, chooser *Chooser) *Placer { return &Placer{schema, chooser} }

// Place chooses the home of an item. With a Random layout it draws a shard. Call it after the edits of a Put, which may
// change the attributes that determine the place.
//
// A condition checks only one shard, so a conditional write needs an item with only one home.
func (p *Placer) Place(ctx context.Context, item Item, conditional bool) (*Placement, error) {
	if err := p.schema.checkListed(item); err != nil {
		return nil, err
	}
	if conditional && p.schema.Hashed {
		return nil, fmt.Errorf("%w: the item with %s may be in any shard of a list whose items move, but a condition checks only one: leave the condition out", ErrScattered, p.schema.nameOf(item))
	}
	at, err := p.placeLike(ctx, item)
	if err == nil && conditional && p.schema.Index == "" {
		_, err = p.schema.onlyHome(ctx, item, "a condition checks only one: leave the condition out, or store items by a key of their own, with an Index")
	}
	if err != nil {
		return nil, err
	}
	return at, nil
}

// placeLike is Place for an item that may have only the key and the attributes that determine its place.
func (p *Placer) placeLike(ctx context.Context, item Item) (*Placement, error) {
	s := p.schema
	if err := s.checkKey(item); err != nil {
		return nil, err
	}
	at := &Placement{listed: s.Listed(item)}
	if !at.listed {
		return at, nil
	}
	var err error
	if at.Key, err = s.KeyIn(ctx, item); err != nil {
		return nil, err
	}
	if err := s.checkOlder(&at.Key); err != nil {
		return nil, err
	}
	if s.Ledgers != nil {
		return at, p.begin(ctx, at, item)
	}
	switch {
	case at.Width.Write == 1:
		return at, p.move(at, 0)
	case s.Layout.Strategy == layout.Calculated || s.Hashed:
		id, err := idOf(item, s.ShardBy)
		if err != nil {
			return nil, err
		}
		return at, p.move(at, s.Layout.Hash.Shard(id, at.Width.Write))
	}
	at.Random = true
	return at, p.move(at, p.chooser.choose(&at.Key, at.Width.Write, nil))
}

// begin places an item of a key with a ledger. The shard may change until an attempt may have had an effect, and so may the
// width: another process may have made the key wider.
func (p *Placer) begin(ctx context.Context, at *Placement, item Item) (err error) {
	s := p.schema
	choose := func(width int) int { return p.chooser.choose(&at.Key, width, at.tried) }
	if s.Layout.Strategy == layout.Calculated {
		id, err := idOf(item, s.ShardBy)
		if err != nil {
			return err
		}
		choose = func(width int) int { return s.Layout.Hash.Shard(id, width) }
	} else {
		at.Random = true
	}
	if at.writing, err = s.Ledgers.Write(ctx, at.Text, at.Bucket, choose); err != nil {
		return err
	}
	shard, width, stamp, err := at.writing.Next()
	if err != nil {
		return err
	}
	return p.enter(at, shard, width, stamp)
}

// enter moves an item of a key with a ledger to the shard that was decided for its next attempt. With an error it stays.
func (p *Placer) enter(at *Placement, shard int, width layout.Width, stamp int64) error {
	before := at.Width
	at.Width = width
	if err := p.move(at, shard); err != nil {
		at.Width = before
		return err
	}
	at.stamp = stamp
	return nil
}

// Again prepares the next attempt of a write. lost says that an earlier attempt may have had an effect, so that the item stays.
// It reports whether the item is to be sent to another place than before. With an error it must not be sent any more.
func (p *Placer) Again(at *Placement, lost bool) (moved bool, err error) {
	if at.writing == nil {
		if moved = !lost && at.Random; moved {
			p.Elsewhere(at)
		}
		return moved, nil
	}
	at.tried = append(at.tried, at.Shard)
	home, before := at.Home, at.stamp
	at.writing.Refused(lost)
	shard, width, stamp, err := at.writing.Next()
	if err != nil {
		return false, err
	}
	_ = p.enter(at, shard, width, stamp) // if the other shard key would be too long, the item stays where it has a place
	return at.Home != home || at.stamp != before, nil
}

// move moves the item to a shard of its key. With an error it stays.
func (p *Placer) move(at *Placement, shard int) error {
	home, err := p.schema.home(&at.Key, shard)
	if err == nil {
		at.Home = home
	}
	return err
}

// Elsewhere moves an item whose shard was throttled to another shard, preferably one that was not tried yet. The item
// stays if the other shard key would be too long.
func (p *Placer) Elsewhere(at *Placement) {
	at.tried = append(at.tried, at.Shard)
	_ = p.move(at, p.chooser.choose(&at.Key, at.Width.Write, at.tried))
}

// Throttled records that the shard of an item was throttled, if the item could have gone to another shard.
func (p *Placer) Throttled(at *Placement) {
	if at.Random {
		p.chooser.throttled(&at.Key, at.Shard)
	}
}

// Stored returns a copy of an item as it is stored in its home.
func (p *Placer) Stored(at *Placement, item Item) Item {
	stored := make(Item, len(item)+2)
	maps.Copy(stored, item)
	if p.schema.Ledgers != nil {
		stampWith(stored, at.stamp)
	}
	if at.listed {
		p.schema.list(at.Home, stored)
	} else {
		p.schema.unlist(stored)
	}
	return stored
}

// Stamp returns the generation of the ledger that the writer of an item knew, 0 without one.
func (p *Placement) Stamp() int64 { return p.stamp }
