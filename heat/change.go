package heat

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/layout"
)

// Change is what a record of a table's stream means to a program.
type Change struct {
	Kind ChangeKind

	// Key is the logical partition key: without the shard, and without the bucket of a layout that has one. Numbers are as
	// they are stored, bytes as base64. For a control item it is StoredKey.
	Key string

	// StoredKey is the partition key as it is stored, Shard the number of its shard, counted from 0. Shard is -1 for a key
	// that is no shard's.
	StoredKey string
	Shard     int

	// Uncertain says that the record lacks the images that tell changes of a move from those of a program. Kind is then the
	// record's event. A stream with NEW_AND_OLD_IMAGES has all of them.
	Uncertain bool
}

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds of changes.
const (
	Inserted ChangeKind = "insert"  // a program has put a new item
	Modified ChangeKind = "modify"  // a program has changed an item
	Removed  ChangeKind = "remove"  // a program, or the time to live, has deleted an item
	Moved    ChangeKind = "move"    // heatsink moves an item, or cleans up behind a move; no program has changed anything
	Internal ChangeKind = "control" // heatsink has written one of its control items
)

// Data reports whether an item of a program has changed.
func (k ChangeKind) Data() bool { return k == Inserted || k == Modified || k == Removed }

// ChangeOf returns what a record means. partitionKey is the attribute that is the partition key of the table. The layouts
// are those that readers use; without any, keys that end in #SHARD_n or #SHARD#n are shards. ChangeOf sends nothing.
//
// The records of an item are in order for each stored key. An item that moves has two, so that a change after the move may
// come before one from before it. An error says that the record has no such key, or that a layout is not valid.
func ChangeOf(record streamtypes.Record, partitionKey string, layouts ...Layout) (Change, error) {
	if err := validateLayouts(layouts); err != nil {
		return Change{}, fmt.Errorf("change of a stream record: %w", err)
	}
	d := record.Dynamodb
	if d == nil {
		return Change{}, errors.New("change of a stream record: the record has no data")
	}
	value, ok := d.Keys[partitionKey]
	if !ok {
		return Change{}, fmt.Errorf("change of a stream record: the record has no key %q, but %q: name the partition key of the table",
			partitionKey, slices.Sorted(maps.Keys(d.Keys)))
	}
	text, ok := appendKey(nil, streamValue(value))
	if !ok {
		return Change{}, fmt.Errorf("change of a stream record: key %q is a %T, want a string, a number or bytes", partitionKey, value)
	}
	c := Change{StoredKey: string(text), Key: string(text), Shard: -1}
	if _, isText := value.(*streamtypes.AttributeValueMemberS); isText {
		if layout.IsControl(c.StoredKey) {
			c.Kind = Internal
			return c, nil
		}
		c.fold(layouts)
	}
	c.classify(record.EventName, d)
	return c, nil
}

// fold sets Key and Shard of a key that is a shard's.
func (c *Change) fold(layouts []Layout) {
	if len(layouts) == 0 {
		layouts = selfTold
	}
	for i := range layouts {
		l := &layouts[i]
		whole, number, ok := l.cutNumber([]byte(c.StoredKey))
		switch {
		case ok:
			c.Shard, _ = l.shardOf(number)
		case l.bare([]byte(c.StoredKey)):
			whole, c.Shard = []byte(c.StoredKey), 0
		default:
			continue
		}
		if key, cut := l.cutBucket(whole); cut {
			whole = key
		}
		c.Key = string(whole)
		return
	}
}

// The marks that a move leaves in items; internal/forward/express writes them.
const (
	markForwarded = controlAttributes + "f" // the item has moved on
	markDead      = controlAttributes + "d" // the item is deleted
	markCopied    = controlAttributes + "m" // the item is a copy
)

// classify sets Kind by the marks in the two images.
func (c *Change) classify(event streamtypes.OperationType, d *streamtypes.StreamRecord) {
	has := func(image map[string]streamtypes.AttributeValue, mark string) bool { _, ok := image[mark]; return ok }
	before, after := d.OldImage, d.NewImage
	none, lost := len(before) == 0, len(after) == 0 // an item has its key at least: an empty image is none
	there, gone := !none && !has(before, markDead), lost || has(after, markDead)
	c.Uncertain = event != streamtypes.OperationTypeInsert && none || event != streamtypes.OperationTypeRemove && lost
	switch {
	case has(before, markForwarded) || has(after, markForwarded):
		c.Kind, c.Uncertain = Moved, false
	case event == streamtypes.OperationTypeInsert && has(after, markCopied):
		c.Kind = Moved
	case c.Uncertain:
		c.Kind = map[streamtypes.OperationType]ChangeKind{
			streamtypes.OperationTypeInsert: Inserted, streamtypes.OperationTypeModify: Modified, streamtypes.OperationTypeRemove: Removed,
		}[event]
	case !there && gone:
		c.Kind = Moved
	case !there:
		c.Kind = Inserted
	case gone:
		c.Kind = Removed
	default:
		c.Kind = Modified
	}
}
