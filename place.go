package heatsink

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// spot is what the shards of an item are worked out from: its key, its bucket, and how wide the key is there.
type spot struct {
	key    string
	bucket time.Time // when the bucket starts; the zero time without
	width  Width
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
	random  bool // another shard would do as well
	tried   []int
	key     Item // the table's key attributes
	listing Item // the attributes that list the item in the index, if there is one and it is in it
}

// place decides where an item goes. Of a random layout it chooses a shard.
func (c *core) place(ctx context.Context, item Item) (*placement, error) {
	key, err := c.keyOf(item)
	if err != nil {
		return nil, err
	}
	p := &placement{key: key}
	if !c.listed(item) {
		return p, nil
	}
	if p.spot, err = c.spot(ctx, item); err != nil {
		return nil, err
	}
	layout := c.layout(p.width.Write)
	switch {
	case p.width.Write == 1:
		return p, c.move(p, 0)
	case layout.Strategy == Calculated:
		id, err := c.id(item)
		if err != nil {
			return nil, err
		}
		return p, c.move(p, layout.Shard(id))
	}
	p.random = true
	return p, c.move(p, c.chooser.choose(&p.spot, p.width.Write, nil))
}

// move puts the item in a shard of its key, unless there is an error.
func (c *core) move(p *placement, shard int) error {
	t, err := c.target(&p.spot, shard)
	if err != nil {
		return err
	}
	p.target = t
	o := &c.options
	stored := &types.AttributeValueMemberS{Value: p.shardKey}
	switch {
	case o.Index == "":
		p.key[o.PartitionKey] = stored
	case o.ShardAttribute == "":
		p.listing = Item{o.PartitionKey: stored}
	default:
		p.listing = Item{o.PartitionKey: stored, o.ShardAttribute: &types.AttributeValueMemberN{Value: strconv.Itoa(shard)}}
	}
	return nil
}

// elsewhere moves an item that its shard had no capacity for to another shard, one that was not tried yet if there is
// any. It stays where it is if the other's key would be too long.
func (c *core) elsewhere(p *placement) {
	p.tried = append(p.tried, p.shard)
	_ = c.move(p, c.chooser.choose(&p.spot, p.width.Write, p.tried))
}

// stored returns a copy of the item as it is stored in its place.
func (p *placement) stored(item Item) Item {
	stored := make(Item, len(item)+len(p.key)+len(p.listing))
	maps.Copy(stored, item)
	maps.Copy(stored, p.key)
	maps.Copy(stored, p.listing)
	return stored
}

// withTTL returns the item with a time to live, which is a copy unless there is nothing to add.
func (c *core) withTTL(item Item) Item {
	o := &c.options
	if o.TTL == "" || o.TTLAfter == 0 || item[o.TTL] != nil {
		return item
	}
	item = maps.Clone(item)
	if item == nil {
		item = Item{}
	}
	item[o.TTL] = &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(o.TTLAfter).Unix(), 10)}
	return item
}

// expired reports whether an item's time to live is over. What DynamoDB would not understand is not.
func (c *core) expired(item Item, now time.Time) bool {
	if c.options.TTL == "" {
		return false
	}
	v, ok := item[c.options.TTL].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	at, err := attr.ParseNumber(v.Value)
	if err != nil {
		return false
	}
	seconds, err := attr.ParseNumber(strconv.FormatInt(now.Unix(), 10))
	return err == nil && at <= seconds // Numbers compare as their values do
}

// listed reports whether an item is in the collection: one without the index's key is in the table only.
func (c *core) listed(item Item) bool {
	return c.options.Index == "" || item[c.options.PartitionKey] != nil
}

// adaptive reports whether a key's width may change.
func (c *core) adaptive() bool {
	_, ok := c.options.Widths.(fixed)
	return !ok
}

// layout returns the collection's layout at a width that its keys have.
func (c *core) layout(shards int) Layout {
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
		return s, fmt.Errorf("%w: partition key %q is %s, want a string that is not empty", ErrItem, o.PartitionKey, describe(item[o.PartitionKey]))
	}
	s.key = key.Value
	if o.Layout.Bucket != NoBucket {
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
func (c *core) width(ctx context.Context, key string, bucket time.Time) (Width, error) {
	w, err := c.options.Widths.Width(ctx, key, bucket)
	if err != nil {
		return w, fmt.Errorf("width of key %q: %w", key, err)
	}
	if w.Write < 1 || w.Write > w.Read || w.Read > MaxShards {
		return w, fmt.Errorf("width of key %q: got %+v, want 1 ≤ Write ≤ Read ≤ %d", key, w, MaxShards)
	}
	if c.adaptive() && c.options.Layout.Strategy == Calculated && (bits.OnesCount(uint(w.Write)) > 1 || bits.OnesCount(uint(w.Read)) > 1) {
		return w, fmt.Errorf("width of key %q: got %+v, want powers of two, as the layout is calculated", key, w)
	}
	return w, nil
}

// target returns a shard of a key in the collection's layout.
func (c *core) target(s *spot, shard int) (target, error) {
	if c.options.ShardAttribute != "" {
		return target{s.key, shard}, nil
	}
	return targetIn(c.layout(s.width.Read), s, shard)
}

func targetIn(layout Layout, s *spot, shard int) (target, error) {
	shardKey, err := layout.ShardKey(s.key, s.bucket, shard)
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
//   - and then what older layouts say.
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

	layout := c.options.Layout
	switch {
	case every || layout.Strategy != Calculated || s.width.Read == 1:
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
		widths := []int{layout.Shards}
		if c.adaptive() {
			widths = []int{s.width.Write}
			for n := s.width.Read; n > 0; n /= 2 {
				widths = append(widths, n)
			}
		}
		for _, n := range widths {
			if err := add(c.target(&s, layout.WithShards(n).Shard(id))); err != nil {
				return nil, err
			}
		}
	}

	for _, older := range c.options.Older {
		first, end := 0, max(older.Shards, 1)
		if !every && older.Strategy == Calculated && older.Shards > 1 {
			id, err := c.id(like)
			if err != nil {
				return nil, err
			}
			first = older.Shard(id)
			end = first + 1
		}
		for shard := first; shard < end; shard++ {
			if err := add(targetIn(older, &s, shard)); err != nil {
				return nil, err
			}
		}
	}
	return homes, nil
}

// keyOf returns the table's key attributes of an item, with the logical partition key.
func (c *core) keyOf(item Item) (Item, error) {
	key := make(Item, 2)
	for _, name := range c.keyNames() {
		switch v := item[name].(type) {
		case *types.AttributeValueMemberS, *types.AttributeValueMemberN, *types.AttributeValueMemberB:
			key[name] = v
		default:
			return nil, fmt.Errorf("%w: key attribute %q is %s, want a string, a number or a binary", ErrItem, name, describe(v))
		}
	}
	return key, nil
}

// keyNames returns the names of the table's key attributes.
func (c *core) keyNames() []string {
	switch o := &c.options; {
	case o.Index != "":
		return o.TableKey
	case o.SortKey == "":
		return []string{o.PartitionKey}
	default:
		return []string{o.PartitionKey, o.SortKey}
	}
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

// id returns what a Calculated layout works out the shard from. One attribute is its text: a string or a binary as it is,
// a number in its shortest form. Of several, each is written with its type and length, so that no two are the same
// unless their attributes are.
func (c *core) id(item Item) (string, error) {
	var id []byte
	for _, name := range c.options.ShardBy {
		var kind byte
		var text string
		switch v := item[name].(type) {
		case *types.AttributeValueMemberS:
			kind, text = 'S', v.Value
		case *types.AttributeValueMemberB:
			kind, text = 'B', string(v.Value)
		case *types.AttributeValueMemberN:
			n, err := attr.ParseNumber(v.Value)
			if err != nil {
				return "", fmt.Errorf("%w: attribute %q is the number %q: %w", ErrItem, name, v.Value, err)
			}
			kind, text = 'N', n.String()
		default:
			return "", fmt.Errorf("%w: attribute %q, which the shard is calculated from, is %s", ErrItem, name, describe(v))
		}
		if len(c.options.ShardBy) == 1 {
			return text, nil
		}
		id = append(binary.AppendUvarint(append(id, kind), uint64(len(text))), text...)
	}
	return string(id), nil
}

// of returns an item's time. Its errors wrap ErrItem.
func (e EventTime) of(item Item) (time.Time, error) {
	wrong := func(why string) (time.Time, error) {
		return time.Time{}, fmt.Errorf("%w: event time %q is %s: %s", ErrItem, e.Attribute, describe(item[e.Attribute]), why)
	}
	var text string
	switch v := item[e.Attribute].(type) {
	case *types.AttributeValueMemberS:
		text, _, _ = strings.Cut(v.Value, "#")
	case *types.AttributeValueMemberN:
		if e.Unit == RFC3339 {
			return wrong("want a string such as 2026-06-22T01:00:00Z")
		}
		text = v.Value
	default:
		return wrong("want a string or a number")
	}
	if e.Unit == RFC3339 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return wrong("want a string such as 2026-06-22T01:00:00Z")
		}
		return at, nil
	}
	n, ok := wholeNumber(text)
	if !ok {
		return wrong("want a number")
	}
	if e.Unit == UnixMilliseconds {
		return time.UnixMilli(n).UTC(), nil
	}
	const lastYear = 1 << 38 // far beyond 9999, and still far from wrapping around
	if n < -lastYear || n > lastYear {
		return wrong("want seconds since 1970")
	}
	return time.Unix(n, 0).UTC(), nil
}

// wholeNumber returns a DynamoDB number rounded down, false if it is none or too large.
func wholeNumber(text string) (int64, bool) {
	n, err := attr.ParseNumber(text)
	if err != nil {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(n.String(), ".")
	i, err := strconv.ParseInt(whole, 10, 64)
	if fraction != "" && strings.HasPrefix(whole, "-") {
		i--
	}
	return i, err == nil
}

// restore puts the logical key in place of the stored one, in an item that was read or the part of one, and takes out
// what only heatsink added.
func (c *core) restore(item Item, key types.AttributeValue) {
	if item[c.options.PartitionKey] != nil && c.options.ShardAttribute == "" {
		item[c.options.PartitionKey] = key
	}
	c.dropShard(item)
}

// restoreParsed is restore for who does not know the key: it is taken from the stored one. What no layout could have
// stored is left as it is.
func (c *core) restoreParsed(item Item) {
	stored, ok := item[c.options.PartitionKey].(*types.AttributeValueMemberS)
	if ok && c.options.ShardAttribute == "" {
		item[c.options.PartitionKey] = &types.AttributeValueMemberS{Value: c.logicalKey(stored.Value)}
	}
	c.dropShard(item)
}

// logicalKey returns the key that a stored one is a shard of. To a layout that does not spread keys everything is a key,
// so it is asked last.
func (c *core) logicalKey(stored string) string {
	layouts := slices.Concat([]Layout{c.options.Layout}, c.options.Older)
	for i := range layouts {
		if layouts[i].Shards > 0 || i == 0 && c.adaptive() {
			layouts[i].Shards = MaxShards // it may have been wider than it is
		}
	}
	slices.SortStableFunc(layouts, func(a, b Layout) int { return b.Shards - a.Shards })
	for _, layout := range layouts {
		if place, err := layout.Parse(stored); err == nil {
			return place.Key
		}
	}
	return stored
}

// restoreLike is restore for an item that was read because it is like another.
func (c *core) restoreLike(item, like Item) {
	if c.options.Index == "" {
		c.restore(item, like[c.options.PartitionKey])
	} else {
		c.restoreParsed(item)
	}
}

func (c *core) dropShard(item Item) {
	if c.options.ShardAttribute != "" {
		delete(item, c.options.ShardAttribute)
	}
}

// describe tells what an attribute is, for errors.
func describe(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "missing"
	case *types.AttributeValueMemberS:
		return "the string " + excerpt(v.Value)
	case *types.AttributeValueMemberN:
		return "the number " + excerpt(v.Value)
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("a binary of %d bytes", len(v.Value))
	}
	return "a " + strings.TrimPrefix(fmt.Sprintf("%T", v), "*types.AttributeValueMember")
}
