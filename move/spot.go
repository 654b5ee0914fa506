package move

import (
	"cmp"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// spot is where an item of a movable collection lies, by its key in the table alone.
type spot uint8

const (
	atOld     spot = iota // in its old home, and its new one is another
	atNew                 // in its new home, and its old one is another
	atBoth                // in its old home, which is its new one as well; in a list, in a shard that stays
	astray                // in a shard of one of the arrangements, but not in that of its id
	atControl             // it is a control item
	atUnknown             // no arrangement explains its key
)

var spotNames = [...]string{"old home", "new home", "only home", "astray", "control item", "unknown"}

func (s spot) String() string { return spotNames[s] }

// located is what the key of an item says.
type located struct {
	spot
	in           string // the table that it lies in, as passage.Arrangement has it
	key          string // the logical key, "" if it is unknown
	old, new     string // the partition keys of the id's homes, "" if they are unknown
	oldIn, newIn string // their tables
	why          string // for people, of astray and atUnknown
	remedy       string // what to do with it, of astray
}

// twoHomes reports whether the id has an old home and another new one.
func (at located) twoHomes() bool {
	return at.old != "" && (at.old != at.new || at.oldIn != at.newIn)
}

// homes returns both homes for people.
func (at located) homes() (old, new string) {
	old, new = quote.Text(at.old), quote.Text(at.new)
	if at.oldIn != at.newIn {
		old, new = old+inTable(at.oldIn), new+inTable(at.newIn)
	}
	return old, new
}

// inTable names a table of an arrangement for people.
func inTable(table string) string {
	if table == "" {
		return " in the collection's own table"
	}
	return " in table " + table
}

// atlas tells where items lie, given where they were and where they move to. It sends nothing, and does not change.
type atlas struct {
	schema *place.Schema
	now    passage.Arrangement
	next   *passage.Arrangement // nil if nothing moves
	list   bool                 // an item may be in any shard

	// own is set if nothing moves at present: then it tells where items are, and the two arrangements tell what is left of a move.
	own *atlas
}

// newAtlas returns an atlas of a table with a partition key and a sort key.
func newAtlas(partition, sort string, now passage.Arrangement, next *passage.Arrangement) *atlas {
	clock, _ := passage.Record{Now: now, Next: next}.Clock()
	schema := place.New(place.Schema{Keys: place.Keys{PartitionKey: partition, SortKey: sort}}).Timed(clock)
	return &atlas{schema: schema, now: now, next: next, list: now.Layout.Strategy == layout.Random}
}

// atlasOf returns where items lie at a stage of a collection.
func atlasOf(partition, sort string, r *passage.Record) *atlas {
	switch {
	case r.Stage.Phase != forward.Settled:
		return newAtlas(partition, sort, r.Now, r.Next)
	case r.Next == nil && r.Former == nil:
		return newAtlas(partition, sort, r.Now, nil)
	}
	t := newAtlas(partition, sort, r.Now, r.Next)
	if r.Next == nil {
		t = newAtlas(partition, sort, *r.Former, &r.Now)
	}
	t.own = newAtlas(partition, sort, r.Now, nil)
	return t
}

// find tells where an item of a table lies that is in a state. Keys of a collection where nothing moves need not be ones that a move has taken.
func (t *atlas) find(in string, item place.Item, state forward.State) located {
	if t.own == nil {
		return t.locate(in, item)
	}
	at := t.own.locate(in, item)
	if at.spot == atControl || at.spot == atBoth && !state.Forwarded() {
		return at
	}
	if left := t.locate(in, item); left.spot == atOld || left.spot == atNew {
		return left
	}
	return at
}

// spreads reports whether some key of an arrangement has a suffix.
func spreads(a passage.Arrangement) bool { return a.Layout.Shards > 0 || a.Varies() }

// keyIn returns the logical key of a stored one in an arrangement, or why it has none. A shard beyond those of the key counts as well.
func keyIn(a passage.Arrangement, stored string) (string, error) {
	l := a.Layout
	if spreads(a) {
		l.Shards = layout.MaxShards
	}
	at, err := l.Parse(stored)
	return at.Key, err
}

// home returns the partition key of an id in an arrangement. like has the logical key.
func (t *atlas) home(a passage.Arrangement, key string, like place.Item) (string, error) {
	home, err := t.schema.HomeIn(a.For(key), like)
	return home.ShardKey, err
}

// homes returns the partition keys of an item's homes, by its logical key. They are the same if nothing moves.
func (t *atlas) homes(key string, item place.Item) (old, new string, err error) {
	like := place.Item{t.schema.PartitionKey: text(key), t.schema.SortKey: item[t.schema.SortKey]}
	if old, err = t.home(t.now, key, like); err != nil || t.next == nil {
		return old, old, err
	}
	new, err = t.home(*t.next, key, like)
	return old, new, err
}

// locate tells where an item of a table lies. A stored key is of one logical key at most, because a key counts only if both arrangements
// take it.
func (t *atlas) locate(in string, item place.Item) (at located) {
	at = t.explain(in, item)
	at.in = in
	if !t.list {
		at.oldIn, at.newIn = t.now.Table, t.now.Table
		if t.next != nil {
			at.newIn = t.next.Table
		}
	}
	return at
}

// explain is locate without the tables.
func (t *atlas) explain(in string, item place.Item) located {
	stored, ok := item[t.schema.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return located{spot: atUnknown, why: fmt.Sprintf("attribute %q is %s, want a string", t.schema.PartitionKey, attribute.Describe(item[t.schema.PartitionKey]))}
	}
	if layout.IsControl(stored.Value) {
		return located{spot: atControl}
	}
	var arrangements []passage.Arrangement
	for _, a := range []*passage.Arrangement{&t.now, t.next} {
		if a != nil && a.Table == in {
			arrangements = append(arrangements, *a)
		}
	}
	why := error(nil)
	if len(arrangements) == 0 {
		return located{spot: atUnknown, why: "it lies" + inTable(in) + ", which has no items of the collection"}
	}
	for _, a := range arrangements {
		key, err := keyIn(a, stored.Value)
		if err == nil {
			err = t.takes(key)
		}
		switch {
		case err == nil && t.list:
			return t.placeInList(key, stored.Value, item)
		case err == nil:
			return t.place(in, key, stored.Value, item)
		}
		why = cmp.Or(why, err)
	}
	return located{spot: atUnknown, why: why.Error()}
}

// takes returns why a key cannot be one of the collection's, nil if programs take it.
func (t *atlas) takes(key string) error { return passage.Record{Now: t.now, Next: t.next}.Check(key) }

// place tells where an item of a key lies.
func (t *atlas) place(in, key, stored string, item place.Item) located {
	old, new, err := t.homes(key, item)
	at := located{key: key, old: old, new: new}
	isOld := stored == old && in == t.now.Table
	isNew := stored == new && in == cmp.Or(t.next, &t.now).Table
	switch {
	case err != nil:
		at.spot, at.why = atUnknown, err.Error()
	case isOld && isNew:
		at.spot = atBoth
	case isOld:
		at.spot = atOld
	case isNew:
		at.spot = atNew
	default:
		at.spot, at.remedy = astray, "put it there, or delete it"
		at.why = fmt.Sprintf("an item of key %s with this %s belongs to %s", quote.Text(key), t.schema.SortKey, quote.Text(old))
		if t.next != nil && t.next.Table != t.now.Table {
			at.why += inTable(t.now.Table)
		}
		if old != new {
			at.why += " or, when it has moved, to " + quote.Text(new)
		}
	}
	return at
}

// placeInList tells where an item of a list lies. It moves if its shard is none of the new ones, to the shard that its sort key
// determines. An item that does not move has one home, which is where it is.
func (t *atlas) placeInList(key, stored string, item place.Item) located {
	at := located{key: key, old: stored, new: stored}
	before := hasShard(t.now.For(key), key, stored)
	after := before
	if t.next != nil {
		after = hasShard(t.next.For(key), key, stored)
	}
	switch {
	case before && after:
		at.spot = atBoth
	case after:
		at.spot = atNew
	case before:
		home, err := t.schema.HomeIn(t.next.For(key), place.Item{t.schema.PartitionKey: text(key), t.schema.SortKey: item[t.schema.SortKey]})
		at.spot, at.new = atOld, home.ShardKey
		if err != nil {
			return located{spot: atUnknown, key: key, why: err.Error()}
		}
	default:
		at.spot, at.remedy = astray, "append it through the collection, and delete it here"
		at.why = fmt.Sprintf("key %s has no such shard, so nobody reads it", quote.Text(key))
	}
	return at
}

// hasShard reports whether a stored key is one of the shards that a key has in its layout.
func hasShard(l layout.Layout, key, stored string) bool {
	at, err := l.Parse(stored)
	return err == nil && at.Key == key && at.Shard < max(l.Shards, 1)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
