package place

import (
	"context"
	"maps"

	"github.com/heatsink-go/heatsink/layout"
)

// Placement is where an item is written.
type Placement struct {
	Key
	Home
	Random bool // another shard would do as well
	listed bool // it is in the collection, and so the home counts
	tried  []int
}

// Placer decides where items are written.
type Placer struct {
	schema  *Schema
	chooser *Chooser
}

// NewPlacer returns a placer that draws shards with chooser where any will do.
func NewPlacer(schema *Schema, chooser *Chooser) *Placer { return &Placer{schema, chooser} }

// Place decides where an item goes. Of a random layout it chooses a shard. It is asked after the edits of a put, as they
// may change what the place is worked out from: an item is where its own attributes say.
//
// A condition checks one shard, so a conditional write must have no other that the item could be in.
func (p *Placer) Place(ctx context.Context, item Item, conditional bool) (*Placement, error) {
	if err := p.schema.checkListed(item); err != nil {
		return nil, err
	}
	at, err := p.placeLike(ctx, item)
	if err == nil && conditional && p.schema.Index == "" {
		_, err = p.schema.onlyHome(ctx, item, "a condition checks only one of them: leave the condition out, or store items by a key of their own, with an Index")
	}
	if err != nil {
		return nil, err
	}
	return at, nil
}

// placeLike is Place for what has the key of an item and what its place is worked out from, and maybe nothing else.
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

// move puts the item in a shard of its key, unless there is an error.
func (p *Placer) move(at *Placement, shard int) error {
	home, err := p.schema.home(&at.Key, shard)
	if err == nil {
		at.Home = home
	}
	return err
}

// Elsewhere moves an item that its shard had no capacity for to another shard, one that was not tried yet if there is
// any. It stays where it is if the other's key would be too long.
func (p *Placer) Elsewhere(at *Placement) {
	at.tried = append(at.tried, at.Shard)
	_ = p.move(at, p.chooser.choose(&at.Key, at.Width.Write, at.tried))
}

// Throttled takes note that the shard of an item was too busy, if the item could have gone to another.
func (p *Placer) Throttled(at *Placement) {
	if at.Random {
		p.chooser.throttled(&at.Key, at.Shard)
	}
}

// Stored returns a copy of an item as it is stored in its place.
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
