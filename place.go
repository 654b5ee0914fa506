package heatsink

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// spot is what the shards of an item are worked out from: its key, its bucket, and how wide the key is there.
type spot struct {
	key    string
	bucket time.Time // when the bucket starts; the zero time without
	width  layout.Width
}

// target is one shard of a key: where an item is, or is to be. An item that no index lists has none.
type target struct {
	shardKey string
	shard    int
}

// placement is where an item is written.
type placement struct {
	spot
	target
	listed bool // it is in the collection, and so the target counts
	random bool // another shard would do as well
	tried  []int
}

// place decides where an item goes. Of a random layout it chooses a shard. It is asked after the edits of a put, as they may
// change what the place is worked out from: an item is where its own attributes say.
func (c *core) place(ctx context.Context, item Item) (*placement, error) {
	if err := c.checkListed(item); err != nil {
		return nil, err
	}
	return c.placeLike(ctx, item)
}

// placeLike is place for what has the key of an item and what its place is worked out from, and maybe nothing else.
func (c *core) placeLike(ctx context.Context, item Item) (*placement, error) {
	if err := c.checkKey(item); err != nil {
		return nil, err
	}
	p := &placement{listed: c.listed(item)}
	if !p.listed {
		return p, nil
	}
	var err error
	if p.spot, err = c.spot(ctx, item); err != nil {
		return nil, err
	}
	if err := c.checkOlder(&p.spot); err != nil {
		return nil, err
	}
	switch own := &c.options.Layout; {
	case p.width.Write == 1:
		return p, c.move(p, 0)
	case own.Strategy == layout.Calculated:
		id, err := c.id(item)
		if err != nil {
			return nil, err
		}
		return p, c.move(p, own.Hash.Shard(id, p.width.Write))
	}
	p.random = true
	return p, c.move(p, c.chooser.choose(&p.spot, p.width.Write, nil))
}

// checkOlder returns an error if an older layout does not take a key: reads, which ask its shards, too, would refuse the key of
// an item that was written.
func (c *core) checkOlder(s *spot) error {
	for i := range c.options.Older {
		older := &c.options.Older[i]
		if _, err := targetIn(*older, s, max(older.Shards, 1)-1); err != nil {
			return fmt.Errorf("key %s could not be read again, as Older[%d] refuses it: %w", quote.Text(s.key), i, err)
		}
	}
	return nil
}

// move puts the item in a shard of its key, unless there is an error.
func (c *core) move(p *placement, shard int) error {
	t, err := c.target(&p.spot, shard)
	if err == nil {
		p.target = t
	}
	return err
}

// elsewhere moves an item that its shard had no capacity for to another shard, one that was not tried yet if there is
// any. It stays where it is if the other's key would be too long.
func (c *core) elsewhere(p *placement) {
	p.tried = append(p.tried, p.shard)
	_ = c.move(p, c.chooser.choose(&p.spot, p.width.Write, p.tried))
}

// stored returns a copy of an item as it is stored in its place.
func (c *core) stored(p *placement, item Item) Item {
	stored := make(Item, len(item)+2)
	maps.Copy(stored, item)
	if p.listed {
		c.list(p, stored)
	} else {
		c.unlist(stored)
	}
	return stored
}

// list sets the attributes that say in which shard an item is.
func (c *core) list(p *placement, item Item) {
	item[c.options.PartitionKey] = &types.AttributeValueMemberS{Value: p.shardKey}
	if c.options.ShardAttribute != "" {
		item[c.options.ShardAttribute] = &types.AttributeValueMemberN{Value: strconv.Itoa(p.shard)}
	}
}

// unlist takes the key of an index out of an item that it does not list: DynamoDB would refuse the empty attributes.
func (c *core) unlist(item Item) {
	delete(item, c.options.PartitionKey)
	if sortKey := c.options.SortKey; attribute.Empty(item[sortKey]) && !slices.Contains(c.options.TableKey, sortKey) {
		delete(item, sortKey)
	}
}

// listed reports whether an item is in the collection: one without the index's key is in the table only.
func (c *core) listed(item Item) bool {
	return c.options.Index == "" || !attribute.Empty(item[c.options.PartitionKey])
}

// checkListed returns an error unless an item that an index is to list has all that the index needs: DynamoDB stores one without
// the sort key, and does not list it.
func (c *core) checkListed(item Item) error {
	if sortKey := c.options.SortKey; c.options.Index != "" && sortKey != "" && c.listed(item) && attribute.Empty(item[sortKey]) {
		return fmt.Errorf("%w: sort key %q of index %s is %s, so that the item would not be listed: set it, or leave %q out to keep the item off the list",
			ErrItem, sortKey, c.options.Index, attribute.Describe(item[sortKey]), c.options.PartitionKey)
	}
	return nil
}

// adaptive reports whether a key's width may change.
func (c *core) adaptive() bool {
	_, ok := c.options.Widths.(fixed)
	return !ok
}

// fixed is the width of a layout that does not change.
type fixed int

func (n fixed) Width(context.Context, string, time.Time) (layout.Width, error) {
	return layout.Width{Write: int(n), Read: int(n)}, nil
}

// layout returns the collection's layout at a width that its keys have.
func (c *core) layout(shards int) layout.Layout {
	if c.adaptive() {
		return c.options.Layout.WithShards(shards)
	}
	return c.options.Layout
}

// spot works out an item's key, bucket and width. Its errors about the item wrap ErrItem.
func (c *core) spot(ctx context.Context, item Item) (s spot, err error) {
	o := &c.options
	key, ok := item[o.PartitionKey].(*types.AttributeValueMemberS)
	if !ok || key.Value == "" {
		return s, fmt.Errorf("%w: partition key %q is %s, want a string that is not empty", ErrItem, o.PartitionKey, attribute.Describe(item[o.PartitionKey]))
	}
	s.key = key.Value
	if o.Layout.Bucket != layout.NoBucket {
		at, err := o.EventTime.of(item)
		if err != nil {
			return s, err
		}
		s.bucket = o.Layout.Bucket.Start(at)
	}
	s.width, err = c.width(ctx, s.key, s.bucket)
	return s, err
}

// width asks how wide a key is, and checks the answer.
func (c *core) width(ctx context.Context, key string, bucket time.Time) (layout.Width, error) {
	w, err := c.options.Widths.Width(ctx, key, bucket)
	if err != nil {
		return w, fmt.Errorf("width of key %q: %w", key, err)
	}
	if c.adaptive() {
		if err := w.CheckFor(c.options.Layout.Strategy); err != nil {
			return w, fmt.Errorf("key %q: %w: %w", key, ErrOptions, err)
		}
	}
	return w, nil
}

// target returns a shard of a key in the collection's layout.
func (c *core) target(s *spot, shard int) (target, error) {
	if c.options.ShardAttribute != "" {
		return target{s.key, shard}, nil
	}
	if c.adaptive() {
		return targetIn(c.options.Layout.WithShards(s.width.Read), s, shard)
	}
	return targetIn(c.options.Layout, s, shard)
}

func targetIn(in layout.Layout, s *spot, shard int) (target, error) {
	shardKey, err := in.ShardKey(s.key, s.bucket, shard)
	if err != nil {
		return target{}, fmt.Errorf("%w: %w", ErrItem, err)
	}
	return target{shardKey, shard}, nil
}

// homes returns the shards of a table that may have an item, those that count first in front:
//
//   - calculated, the one shard that its id says; if widths change, those of all widths the key may have had, the present
//     one first and then from wide to narrow;
//   - random, or if every shard is asked for, all shards from 0 on;
//   - then what older layouts say;
//   - and the bare key if a format has one, where the item is if it was written before there were shards.
func (c *core) homes(ctx context.Context, like Item, every bool) ([]target, error) {
	s, err := c.spot(ctx, like)
	if err != nil {
		return nil, err
	}
	var homes []target
	seen := map[string]bool{}
	add := func(t target, err error) error {
		if err == nil && !seen[t.shardKey] {
			seen[t.shardKey] = true
			homes = append(homes, t)
		}
		return err
	}

	own := c.options.Layout
	switch {
	case every || own.Strategy != layout.Calculated || s.width.Read == 1:
		for shard := range s.width.Read {
			if err := add(c.target(&s, shard)); err != nil {
				return nil, err
			}
		}
	default:
		id, err := c.id(like)
		if err != nil {
			return nil, err
		}
		widths := []int{own.Shards}
		if c.adaptive() {
			widths = []int{s.width.Write}
			for n := s.width.Read; n > 0; n /= 2 {
				widths = append(widths, n)
			}
		}
		for _, n := range widths {
			if err := add(c.target(&s, own.WithShards(n).Shard(id))); err != nil {
				return nil, err
			}
		}
	}

	for _, older := range c.options.Older {
		shards := everyShardOf(&older)
		if !every && older.Strategy == layout.Calculated && older.Shards > 1 {
			id, err := c.id(like)
			if err != nil {
				return nil, err
			}
			shards = []int{older.Shard(id)}
		}
		for _, shard := range shards {
			if err := add(targetIn(older, &s, shard)); err != nil {
				return nil, err
			}
		}
	}
	if own.Format.BareZero { // the oldest of all, so that what is anywhere else counts first
		if err := add(c.target(&s, 0)); err != nil {
			return nil, err
		}
	}
	for _, older := range c.options.Older {
		if older.Format.BareZero {
			if err := add(targetIn(older, &s, 0)); err != nil {
				return nil, err
			}
		}
	}
	return homes, nil
}

// everyShardOf returns the shards of a layout, from 0 on.
func everyShardOf(l *layout.Layout) []int {
	shards := make([]int, max(l.Shards, 1))
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// onlyHome returns the one shard of a table that may have an item. If there are several it is ErrScattered, for which why is
// the reason.
func (c *core) onlyHome(ctx context.Context, like Item, why string) (target, error) {
	homes, err := c.homes(ctx, like, false)
	if err != nil {
		return target{}, err
	}
	if n := len(homes); n > 1 {
		return target{}, fmt.Errorf("%w: the item with %s may be under any of %d keys, such as %q and %q, but %s",
			ErrScattered, c.describeItem(like), n, homes[0].shardKey, homes[1].shardKey, why)
	}
	return homes[0], nil
}

// describeItem names an item by its key, for errors.
func (c *core) describeItem(like Item) string {
	text := fmt.Sprintf("%s %s", c.options.PartitionKey, attribute.DescribeKey(like, c.options.PartitionKey))
	if sortKey := c.options.SortKey; sortKey != "" {
		text += fmt.Sprintf(" and %s %s", sortKey, attribute.DescribeKey(like, sortKey))
	}
	return text
}

// otherItem reports whether an item that was found in one of the homes of like is another one: it has the same key, but not
// the same attributes that the shard is calculated from. Where it has none of them, as an item that an update created, it
// may be the same.
func (c *core) otherItem(found, like Item) bool {
	for _, name := range c.beside {
		if v := found[name]; v != nil && !attribute.Same(Item{name: v}, Item{name: like[name]}) {
			return true
		}
	}
	return false
}

// surelySame reports whether an item that was found in one of the homes of like is like's for certain.
func (c *core) surelySame(found, like Item) bool {
	for _, name := range c.beside {
		if v := found[name]; v == nil || !attribute.Same(Item{name: v}, Item{name: like[name]}) {
			return false
		}
	}
	return true
}

// findBeside returns the attributes that tell items of the same key apart: those that the shard is calculated from and that are
// not part of the key.
func (c *core) findBeside() []string {
	if !c.calculates() {
		return nil
	}
	key := c.keyNames()
	return slices.DeleteFunc(slices.Clone(c.options.ShardBy), func(name string) bool { return slices.Contains(key[:], name) })
}

// calculates reports whether the shard of some item is calculated, in the layout or an older one.
func (c *core) calculates() bool {
	o := &c.options
	return o.Layout.Strategy == layout.Calculated && (o.Layout.Shards > 1 || c.adaptive()) ||
		slices.ContainsFunc(o.Older, func(l layout.Layout) bool { return l.Strategy == layout.Calculated && l.Shards > 1 })
}

// keyNames returns the names of the table's key attributes, "" where there is none.
func (c *core) keyNames() (names [2]string) {
	if c.options.Index == "" {
		return [2]string{c.options.PartitionKey, c.options.SortKey}
	}
	copy(names[:], c.options.TableKey)
	return names
}

// checkKey returns an error unless an item has the table's key attributes.
func (c *core) checkKey(item Item) error {
	for _, name := range c.keyNames() {
		switch v := item[name].(type) {
		case *types.AttributeValueMemberS, *types.AttributeValueMemberN, *types.AttributeValueMemberB:
		default:
			if name != "" {
				return fmt.Errorf("%w: key attribute %q is %s, want a string, a number or a binary", ErrItem, name, attribute.Describe(v))
			}
		}
	}
	return nil
}

// keyOf returns the table's key attributes of an item, with the logical partition key.
func (c *core) keyOf(item Item) (Item, error) {
	if err := c.checkKey(item); err != nil {
		return nil, err
	}
	key := make(Item, 2)
	for _, name := range c.keyNames() {
		if name != "" {
			key[name] = item[name]
		}
	}
	return key, nil
}

// in returns the key of the item in one of its homes.
func (c *core) in(key Item, home target) Item {
	key = maps.Clone(key)
	key[c.options.PartitionKey] = &types.AttributeValueMemberS{Value: home.shardKey}
	return key
}

// tableTarget stands for the table of an index in errors: its items are not spread.
func (c *core) tableTarget(key Item) target {
	switch v := key[c.options.TableKey[0]].(type) {
	case *types.AttributeValueMemberS:
		return target{shardKey: v.Value}
	case *types.AttributeValueMemberN:
		return target{shardKey: v.Value}
	case *types.AttributeValueMemberB:
		return target{shardKey: string(v.Value)}
	}
	return target{}
}
