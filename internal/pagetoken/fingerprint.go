package pagetoken

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// Query is everything that determines which items a query returns, and in which order. The number of shards, the page
// size and the consistency may change from page to page, so they are not part of it. Neither is the time range, because a
// read continues from a position.
type Query struct {
	Table, Index, PartitionKey, SortKey string

	ShardAttribute string          // the attribute with the shard's number, "" where it is in the key
	Layout         layout.Layout   // of which the buckets and the spelling of keys count
	FirstSuffix    string          // what the key of shard 0 has behind key and bucket
	Older          []layout.Layout // read along; a position says which of them it is in

	Key, Filter, Projection string
	Reverse, Expired        bool
	Interval                sortkey.Interval
	Names                   map[string]string
	Values                  map[string]types.AttributeValue
}

// Fingerprints are two hashes of a query. A position in a single shard depends on the key of that shard, and any other
// position depends on the format of all shard keys. Tokens therefore stay valid when a key gets its first shards.
type Fingerprints struct{ One, Many uint64 }

// At returns the fingerprint for a position among width shards.
func (f Fingerprints) At(width int) uint64 {
	if width > 1 {
		return f.Many
	}
	return f.One
}

// Fingerprints hashes the query.
func (q *Query) Fingerprints() Fingerprints {
	format := q.Layout.Format.WithDefaults()
	h := hashed{make([]byte, 0, 256)} // enough for most
	h.text("2", q.Table, q.Index, q.PartitionKey, q.SortKey, q.Layout.Bucket.String())
	if q.Layout.Bucket != layout.NoBucket {
		h.text(format.BucketPrefix, format.HourMark)
	}
	h.text(q.ShardAttribute, q.FirstSuffix)
	for _, older := range q.Older {
		h.text(older.String())
	}
	h.text(q.Key, q.Filter, q.Projection)
	h.flags(q.Reverse, q.Expired, q.Interval.Prefix)
	for _, end := range []sortkey.Bound{q.Interval.Lo, q.Interval.Hi} {
		h.flags(end.Set, end.Open)
		h.b = appendValue(h.b, end.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Names)) {
		h.text(name, q.Names[name])
	}
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		h.text(name)
		h.value(q.Values[name])
	}
	one := xxhash.Sum64(h.b)
	if q.ShardAttribute == "" {
		h.text(format.ShardPrefix)
		h.b = append(h.b, byte(format.First), byte(format.Width))
	}
	return Fingerprints{one, xxhash.Sum64(h.b)}
}

// hashed collects the bytes to hash, each part with its length, so that different queries have different bytes.
type hashed struct{ b []byte }

func (h *hashed) text(texts ...string) {
	for _, s := range texts {
		h.b = binary.AppendUvarint(h.b, uint64(len(s)))
		h.b = append(h.b, s...)
	}
}

func (h *hashed) flags(flags ...bool) {
	for _, set := range flags {
		if set {
			h.b = append(h.b, 1)
		} else {
			h.b = append(h.b, 0)
		}
	}
}

func (h *hashed) value(value types.AttributeValue) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		h.text("S", v.Value)
	case *types.AttributeValueMemberN:
		h.text("N", v.Value)
	case *types.AttributeValueMemberB:
		h.text("B", string(v.Value))
	case *types.AttributeValueMemberSS:
		h.set("SS", v.Value)
	case *types.AttributeValueMemberNS:
		h.set("NS", v.Value)
	case *types.AttributeValueMemberBS:
		elements := make([]string, len(v.Value))
		for i, b := range v.Value {
			elements[i] = string(b)
		}
		h.set("BS", elements)
	case *types.AttributeValueMemberBOOL:
		h.text("BOOL")
		h.flags(v.Value)
	case *types.AttributeValueMemberNULL:
		h.text("NULL")
	case *types.AttributeValueMemberL:
		h.text("L")
		h.b = binary.AppendUvarint(h.b, uint64(len(v.Value)))
		for _, e := range v.Value {
			h.value(e)
		}
	case *types.AttributeValueMemberM:
		h.text("M")
		h.b = binary.AppendUvarint(h.b, uint64(len(v.Value)))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			h.text(name)
			h.value(v.Value[name])
		}
	}
}

func (h *hashed) set(kind string, elements []string) {
	h.text(kind)
	h.b = binary.AppendUvarint(h.b, uint64(len(elements)))
	h.text(slices.Sorted(slices.Values(elements))...)
}
