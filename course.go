package heatsink

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// course is where the items of one key are, by one generation of the record. If all items have one home, it is old, and the phase is
// Settled.
type course struct {
	generation int64
	phase      forward.Phase
	old, moved homes
}

// newCourse returns the course of a key. Errors wrap ErrQuery.
func newCourse(r *passage.Record, key string) (*course, error) {
	if err := r.Check(key); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	c := &course{generation: r.Generation, phase: r.Stage.Phase}
	first, second := r.Now.For(key), layout.Layout{}
	switch {
	case c.phase == forward.Settled || r.Next == nil || r.Next.For(key) == first:
		c.phase = forward.Settled
	case c.phase == forward.Settling:
		c.phase, first = forward.Settled, r.Next.For(key)
	default:
		second = r.Next.For(key)
	}
	var err error
	if c.old, err = newHomes(first, key); err == nil && c.phase != forward.Settled {
		c.moved, err = newHomes(second, key)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return c, nil
}

// homes are the shards of a key in one layout.
type homes struct {
	layout layout.Layout
	keys   []string // of the shards
}

func newHomes(in layout.Layout, key string) (homes, error) {
	h := homes{layout: in, keys: make([]string, max(in.Shards, 1))}
	for n := range h.keys {
		var err error
		if h.keys[n], err = in.ShardKey(key, time.Time{}, n); err != nil {
			return homes{}, err
		}
	}
	return h, nil
}

// of returns the shard key of an id.
func (h *homes) of(sort sortkey.Value) string {
	if len(h.keys) == 1 {
		return h.keys[0]
	}
	return h.keys[h.layout.Shard(sort.Written())]
}

// role is what a shard is to an item that is stored in it.
type role uint8

const (
	onlyHome role = iota // of a settled id, or of one that has the same home before and after the move
	oldHome
	newHome
	noHome // the item should not be here
)

// list reports whether an item may be in any shard, as it is appended. A move takes it from a shard that only the old layout has, to
// the one that its sort key determines.
func (c *course) list() bool { return c.old.layout.Strategy == layout.Random }

// role returns what a shard is to an id.
func (c *course) role(shardKey string, sort sortkey.Value) role {
	if c.list() {
		return c.roleInList(shardKey)
	}
	old := c.old.of(sort)
	if c.phase == forward.Settled {
		if shardKey == old {
			return onlyHome
		}
		return noHome
	}
	switch moved := c.moved.of(sort); {
	case shardKey == old && shardKey == moved:
		return onlyHome
	case shardKey == old:
		return oldHome
	case shardKey == moved:
		return newHome
	}
	return noHome
}

// roleInList returns what a shard is to the items of a list.
func (c *course) roleInList(shardKey string) role {
	switch before, after := slices.Contains(c.old.keys, shardKey), slices.Contains(c.moved.keys, shardKey); {
	case c.phase == forward.Settled || before && after:
		return onlyHome
	case before:
		return oldHome
	}
	return newHome
}

// shards returns the shards to read, each once: those of the old homes, then those that only new homes have.
func (c *course) shards(r *reading) []*shard {
	list := make([]*shard, 0, len(c.old.keys)+len(c.moved.keys))
	seen := make(map[string]bool, cap(list))
	for nth, h := range []homes{c.old, c.moved} {
		for n, key := range h.keys {
			if seen[key] {
				continue
			}
			seen[key] = true
			list = append(list, &shard{
				read: r, ordinal: pagetoken.NewOrdinal(nth, n), key: key, left: r.interval,
				partition: &types.AttributeValueMemberS{Value: key},
			})
		}
	}
	return list
}
