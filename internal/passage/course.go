package passage

import (
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// Course is where the items of one key are, by one generation of the record. If all items have one home, it is old, and the phase is
// Settled.
type Course struct {
	Generation int64
	Phase      forward.Phase
	Old, New   Shards
	Clock      place.TimeUnit // how ids hold their times, with buckets
}

// Timed reports whether some shards are those of buckets.
func (c *Course) Timed() bool { return c.Old.Timed() || c.New.Timed() }

// NewCourse returns the course of a key. The error is about the key, and wraps layout.ErrKey.
func NewCourse(r *Record, key string) (*Course, error) {
	if err := r.Check(key); err != nil {
		return nil, err
	}
	c := &Course{Generation: r.Generation, Phase: r.Stage.Phase}
	clock, _ := r.Clock()
	c.Clock = clock
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
	if c.Old, err = newShards(first, key, clock, old); err == nil && c.Phase != forward.Settled {
		c.New, err = newShards(second, key, clock, r.Next.Table)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Shards are the shards of a key in one layout.
type Shards struct {
	Layout layout.Layout
	Keys   []string // of the shards; nil with buckets, whose shards In returns
	Table  string   // as Arrangement has it

	key   string
	clock place.TimeUnit
}

func newShards(in layout.Layout, key string, clock place.TimeUnit, table string) (Shards, error) {
	h := Shards{Layout: in, Table: table, key: key, clock: clock}
	if h.Timed() {
		return h, nil
	}
	h.Keys = make([]string, max(in.Shards, 1))
	for n := range h.Keys {
		var err error
		if h.Keys[n], err = in.ShardKey(key, time.Time{}, n); err != nil {
			return Shards{}, err
		}
	}
	return h, nil
}

// Timed reports whether the layout has buckets.
func (h *Shards) Timed() bool { return h.Layout.Bucket != layout.NoBucket }

// In returns the keys of the shards in the buckets from one time to another, bucket by bucket.
func (h *Shards) In(from, to time.Time) ([]string, error) { return h.Layout.ShardKeys(h.key, from, to) }

// Time returns the time that an id holds.
func (h *Shards) Time(id string) (time.Time, error) { return h.clock.Ordered(id) }

// Home returns the shard key of an id, by the text of its sort key. It is "" if the layout has buckets, and the id holds no time that has one.
func (h *Shards) Home(id string) string {
	if h.Timed() {
		return h.homeInBucket(id)
	}
	if len(h.Keys) == 1 {
		return h.Keys[0]
	}
	return h.Keys[h.Layout.Shard(id)]
}

func (h *Shards) homeInBucket(id string) string {
	at, err := h.Time(id)
	if err != nil {
		return ""
	}
	shard := 0
	if h.Layout.Shards > 1 {
		shard = h.Layout.Shard(id)
	}
	key, err := h.Layout.ShardKey(h.key, at, shard)
	if err != nil {
		return ""
	}
	return key
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
	moved := c.New.Home(id)
	if c.Old.Table != c.New.Table { // the same key is another shard there
		switch {
		case of == forward.Old && shardKey == old && moved == "":
			return OnlyHome
		case of == forward.Old && shardKey == old:
			return OldHome
		case of == forward.New && shardKey == moved:
			return NewHome
		}
		return NoHome
	}
	switch {
	case shardKey == old && (shardKey == moved || moved == ""): // one without a time cannot move
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
