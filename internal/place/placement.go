package place

import (
	"context"
	"maps"

	"github.com/heatsink-go/heatsink/layout"
)

// Placement is the home that was chosen for a write.
type Placement struct {
	Key
	Home
	Random bool // any shard can take the item
	listed bool // the item is in the collection, so the home is used
	tried  []int
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
	if at.Key, err = s.keyIn(ctx, item); err != nil {
		return nil, err
	}
	if err := s.checkOlder(&at.Key); err != nil {
		return nil, err
	}
	switch {
	case at.Width.Write == 1:
		return at, p.move(at, 0)
	case s.Layout.Strategy == layout.Calculated:
		id, err := idOf(item, s.ShardBy)
		if err != nil {
			return nil, err
		}
		return at, p.move(at, s.Layout.Hash.Shard(id, at.Width.Write))
	}
	at.Random = true
	return at, p.move(at, p.chooser.choose(&at.Key, at.Width.Write, nil))
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
	if at.listed {
		p.schema.list(at.Home, stored)
	} else {
		p.schema.unlist(stored)
	}
	return stored
}
