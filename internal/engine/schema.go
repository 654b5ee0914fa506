package engine

import (
	"encoding/binary"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// keySchema says which attributes place an item: those that are hashed and
// those that are sorted by. A table has one hash part and at most one sort part;
// a global index may have up to four of each.
type keySchema struct {
	hash  []expr.KeyPart
	sort  []expr.KeyPart
	parts []expr.KeyPart // hash, then sort
}

func newKeySchema(elements []KeyElement, definitions []AttributeDefinition) keySchema {
	var k keySchema
	for _, e := range elements {
		part := expr.KeyPart{Name: e.AttributeName}
		for _, d := range definitions {
			if d.AttributeName == e.AttributeName {
				part.Kind = attr.KindOf(d.AttributeType)
			}
		}
		if e.KeyType == "HASH" {
			k.hash = append(k.hash, part)
		} else {
			k.sort = append(k.sort, part)
		}
	}
	k.parts = slices.Concat(k.hash, k.sort)
	return k
}

// has reports whether the attribute is part of the key.
func (k keySchema) has(name string) bool {
	return slices.ContainsFunc(k.parts, func(p expr.KeyPart) bool { return p.Name == name })
}

// of returns the key attributes of an item that has them all.
func (k keySchema) of(it attr.Item) attr.Item {
	fields := make([]attr.Field, 0, len(k.parts))
	for _, p := range k.parts {
		fields = append(fields, attr.Field{Name: p.Name, Value: it.Get(p.Name)})
	}
	return attr.NewItem(fields...)
}

// hashLength is how many bytes the hash of a key takes in front of it.
const hashLength = 8

// appendHash appends the place of a whole collection, the items with the same
// hash attributes: the hash of their values and the values. Collections lie in
// the order of their hashes, as on DynamoDB, whose partitions are ranges of
// them.
func appendHash(dst []byte, parts []expr.KeyPart, it attr.Item) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, hashLength)...)
	for _, p := range parts {
		dst = attr.AppendKey(dst, it.Get(p.Name))
	}
	binary.BigEndian.PutUint64(dst[start:], xxhash.Sum64(dst[start+hashLength:]))
	return dst
}

// appendPlace appends the place of one item: its collection and sort attributes.
func (k keySchema) appendPlace(dst []byte, it attr.Item) []byte {
	dst = appendHash(dst, k.hash, it)
	for _, p := range k.sort {
		dst = attr.AppendKey(dst, it.Get(p.Name))
	}
	return dst
}

// index is a secondary index. Its entries are items of their own, with the
// attributes projected into it, under the index's key followed by the table's.
type index struct {
	id    uint16
	name  string
	local bool
	table uint32
	keys  keySchema
	base  keySchema
	all   bool            // all attributes are projected
	kept  map[string]bool // the projected attributes otherwise, keys included
	usage usage

	// filling says that its backfill goes on: some items do not have their entry
	// yet. It changes while its table is held for writing.
	filling bool
	passed  atomic.Uint64 // the greatest hash of a partition key that the backfill has come to
	whole   time.Time     // when its backfill ended; zero: before the engine was opened, or there was none

	partitions *partition.Set // of a global index; nil without physics
}

// covers reports whether the item belongs into the index: it must have every key
// attribute of it, with the right type, not empty and not too long. An item that
// has others is older than the index.
func (x *index) covers(it attr.Item) bool {
	return fits(x.keys.hash, it, maxHashKey) && fits(x.keys.sort, it, maxSortKey)
}

func fits(parts []expr.KeyPart, it attr.Item, most int) bool {
	size := 0
	for _, p := range parts {
		v := it.Get(p.Name)
		if v.Kind != p.Kind || emptyKey(v) != "" {
			return false
		}
		size += v.Size()
	}
	return size <= most
}

// coversRaw is covers for an item as it is stored.
func (x *index) coversRaw(raw attr.Raw) bool {
	fields := make([]attr.Field, 0, len(x.keys.parts))
	for _, p := range x.keys.parts {
		fields = append(fields, attr.Field{Name: p.Name, Value: raw.Get(p.Name)})
	}
	return x.covers(attr.NewItem(fields...))
}

// project returns the part of an item that the index holds.
func (x *index) project(it attr.Item) attr.Item {
	if x.all {
		return it
	}
	var out attr.Item
	for _, f := range it {
		if x.kept[f.Name] {
			out = append(out, f)
		}
	}
	return out
}

// lacks returns those of the attributes that the index does not hold.
func (x *index) lacks(names iter.Seq2[string, bool]) (lacking []string) {
	for name := range names {
		if !x.all && !x.kept[name] && !slices.Contains(lacking, name) {
			lacking = append(lacking, name)
		}
	}
	return lacking
}

// entryKey returns the key of an item's entry in the index. A sort key alone
// need not be unique, so the table's own key follows.
func (x *index) entryKey(it attr.Item) []byte {
	key := store.AppendIndex(make([]byte, 0, 96), x.table, x.id)
	key = x.keys.appendPlace(key, it)
	for _, p := range x.base.parts {
		key = attr.AppendKey(key, it.Get(p.Name))
	}
	return key
}

// positionKeys are the attributes that make up an entry's position, as
// LastEvaluatedKey shows it: the index's key and the table's.
func (x *index) positionKeys(it attr.Item) attr.Item {
	return attr.NewItem(slices.Concat(x.keys.of(it), x.base.of(it))...)
}
