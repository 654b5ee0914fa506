package counter

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// The sort keys of a counter's items. The base is under the counter's own key, slots are under the keys of its shards.
const (
	baseSortKey = "base"
	slotPrefix  = "slot#"
)

// The attributes of slots and bases. They are short because a read is charged by the size of what it finds.
const (
	attrUp   = "up"
	attrDown = "down"
	attrAdds = "adds"

	attrSeq    = "seq"    // of a slot
	attrAt     = "at"     // of a slot: when it was last written
	attrFrozen = "frozen" // of a slot: when it was frozen

	attrIncluded = "included" // of a base
	attrVersion  = "version"
	attrLevel    = "level"
	attrWidth    = "width"
	attrReset    = "reset"
	attrImported = "imported"
	attrImports  = "imports"
)

// ownAttributes are all of them: none can be a key of the table.
var ownAttributes = []string{
	attrUp, attrDown, attrAdds, attrSeq, attrAt, attrFrozen, attrIncluded, attrVersion, attrLevel, attrWidth, attrReset,
	attrImported, attrImports,
}

func (s *store) baseKey(key string) heatsink.Item {
	return heatsink.Item{s.options.PartitionKey: text(key), s.options.SortKey: text(baseSortKey)}
}

func (s *store) slotKey(key string, id slotID) (heatsink.Item, error) {
	shard, ok := id.shard()
	if !ok {
		return nil, fmt.Errorf("%w: counter %q: %q is not the name of a slot", ErrCorrupt, key, id)
	}
	shardKey, err := s.layout.ShardKey(key, time.Time{}, shard)
	if err != nil {
		return nil, err
	}
	return heatsink.Item{s.options.PartitionKey: text(shardKey), s.options.SortKey: text(slotPrefix + string(id))}, nil
}

func (s *store) decodeSlot(item heatsink.Item) (slot, error) {
	name, _ := item[s.options.SortKey].(*types.AttributeValueMemberS)
	if name == nil {
		return slot{}, fmt.Errorf("%w: a slot has no sort key", ErrCorrupt)
	}
	d := decoder{item: item, what: "slot " + name.Value}
	out := slot{
		id:     slotID(strings.TrimPrefix(name.Value, slotPrefix)),
		total:  amount{d.int64(attrUp), d.int64(attrDown), d.int64(attrAdds)},
		seq:    d.int64(attrSeq),
		at:     d.int64(attrAt),
		frozen: d.int64(attrFrozen),
	}
	if _, ok := out.id.shard(); !ok {
		d.wrong("its name has no shard")
	}
	return out, d.err
}

// decodeBase reads a base. Without an item it is the zero base.
func decodeBase(item heatsink.Item) (base, error) {
	d := decoder{item: item, what: "base"}
	out := base{
		sum:     sum{d.wide(attrUp), d.wide(attrDown), d.wide(attrAdds)},
		version: d.int64(attrVersion),
		level:   level(d.int64(attrLevel)),
		width:   int(d.int64(attrWidth)),

		imported: d.wide(attrImported),
		imports:  d.int64(attrImports),
	}
	if out.width < 0 || out.width > maxShards {
		d.wrong("its width is %d", out.width)
	}
	switch ids := item[attrIncluded].(type) {
	case nil:
	case *types.AttributeValueMemberSS:
		out.included = make(set, len(ids.Value))
		for _, id := range ids.Value {
			out.included[slotID(id)] = struct{}{}
		}
	default:
		d.wrong("%s is no set of strings", attrIncluded)
	}
	if token, ok := item[attrReset].(*types.AttributeValueMemberS); ok {
		out.reset = token.Value
	}
	return out, d.err
}

// decoder reads numbers out of an item and keeps the first fault.
type decoder struct {
	item heatsink.Item
	what string
	err  error
}

func (d *decoder) wrong(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s: %s", ErrCorrupt, d.what, fmt.Sprintf(format, args...))
	}
}

// wide returns an attribute, 0 if there is none.
func (d *decoder) wide(name string) wide {
	attribute, there := d.item[name]
	if !there {
		return wide{}
	}
	if n, ok := attribute.(*types.AttributeValueMemberN); ok {
		if w, ok := parseWide(n.Value); ok {
			return w
		}
	}
	d.wrong("%s is no whole number", name)
	return wide{}
}

func (d *decoder) int64(name string) int64 {
	n, ok := d.wide(name).int64()
	if !ok {
		d.wrong("%s is too large", name)
	}
	return n
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n wide) types.AttributeValue { return &types.AttributeValueMemberN{Value: n.String()} }

func names(ids []slotID) types.AttributeValue {
	set := &types.AttributeValueMemberSS{}
	for _, id := range ids {
		set.Value = append(set.Value, string(id))
	}
	return set
}
