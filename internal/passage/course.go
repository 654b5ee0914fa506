package passage

import (
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/layout"
)

// Course is where the items of one key are, by one generation of the record. If all items have one home, it is old, and the phase is
// Settled.
type Course struct {
	Generation int64
	Phase      forward.Phase
	Old, New   Shards
}

// NewCourse returns the course of a key. The error is about the key, and wraps layout.ErrKey.
func NewCourse(r *Record, key string) (*Course, error) {
	if err := r.Check(key); err != nil {
		return nil, err
	}
	c := &Course{Generation: r.Generation, Phase: r.Stage.Phase}
	first, second, old := r.Now.For(key), layout.Layout{}, r.Now.Table
	switch {
	case c.Phase == forward.Settled || r.Next == nil || r.Next.For(key) == first && r.Next.Table == old:
		c.Phase = forward.Settled
	case c.Phase == forward.Settling:
		c.Phase, first, old = forward.Settled, r.Next.For(key), r.Next.Table
	default:
		second = r.Next.For(key)
	}
	var err error
	if c.Old, err = newShards(first, key, old); err == nil && c.Phase != forward.Settled {
		c.New, err = newShards(second, key, r.Next.Table)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Shards are the shards of a key in one layout.
type Shards struct {
	Layout layout.Layout
	Keys   []string // of the shards
	Table  string   // as Arrangement has it
}

func newShards(in layout.Layout, key, table string) (Shards, error) {
	h := Shards{Layout: in, Keys: make([]string, max(in.Shards, 1)), Table: table}
	for n := range h.Keys {
		var err error
		if h.Keys[n], err = in.ShardKey(key, time.Time{}, n); err != nil {
			return Shards{}, err
		}
	}
	return h, nil
}

// Home returns the shard key of an id, by the text of its sort key.
func (h *Shards) Home(id string) string {
	if len(h.Keys) == 1 {
		return h.Keys[0]
	}
	return h.Keys[h.Layout.Shard(id)]
}

// Role is what a shard is to an item that is stored in it.
type Role uint8

const (
	OnlyHome Role = iota // of a settled id, or of one that has the same home before and after the move
	OldHome
	NewHome
	NoHome // the item should not be here
)

// List reports whether an item may be in any shard, as it is appended. A move takes it from a shard that only the old layout has, to
// the one that its sort key determines.
func (c *Course) List() bool { return c.Old.Layout.Strategy == layout.Random }

// Role returns what a shard of the old layout, or of the new one, is to an id. It is the new one's only if the old one does not have it.
func (c *Course) Role(of forward.Home, shardKey string, id string) Role {
	if c.List() {
		return c.roleInList(shardKey)
	}
	old := c.Old.Home(id)
	if c.Phase == forward.Settled {
		if shardKey == old {
			return OnlyHome
		}
		return NoHome
	}
	if c.Old.Table != c.New.Table { // the same key is another shard there
		switch {
		case of == forward.Old && shardKey == old:
			return OldHome
		case of == forward.New && shardKey == c.New.Home(id):
			return NewHome
		}
		return NoHome
	}
	switch moved := c.New.Home(id); {
	case shardKey == old && shardKey == moved:
		return OnlyHome
	case shardKey == old:
		return OldHome
	case shardKey == moved:
		return NewHome
	}
	return NoHome
}

// roleInList returns what a shard is to the items of a list. A shard of both layouts is a new home: its items stay, and others come.
func (c *Course) roleInList(shardKey string) Role {
	switch {
	case c.Phase == forward.Settled:
		return OnlyHome
	case slices.Contains(c.New.Keys, shardKey):
		return NewHome
	}
	return OldHome
}
