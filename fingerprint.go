package heatsink

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/layout"
)

// fingerprints are hashes of what makes a query return other items, or the same in another order. A position in the only
// shard depends on where that is, and any other on how all are spelt: so a key that gets its first shards keeps its tokens.
type fingerprints struct{ one, many uint64 }

// at returns the fingerprint for a position where there were so many shards.
func (f fingerprints) at(width int) uint64 {
	if width > 1 {
		return f.many
	}
	return f.one
}

// fingerprintsOf hashes a query. How many shards there are, how large pages are and how consistent reads are may change from
// page to page, and so may the range of time, which goes on where a position is.
func fingerprintsOf(r *reading) fingerprints {
	q, o := &r.query, &r.core.options
	own := o.Layout
	format := own.Format.WithDefaults()
	f := fingerprint{make([]byte, 0, 256)} // enough for most
	f.text("2", o.Table, o.Index, o.PartitionKey, o.SortKey, own.Bucket.String())
	if own.Bucket != layout.NoBucket {
		f.text(format.BucketPrefix, format.HourMark)
	}
	f.text(o.ShardAttribute, r.core.firstSuffix())
	for _, older := range o.Older { // a position says which of them it is in
		f.text(older.String())
	}
	f.text(q.Key, q.Filter, q.Projection)
	f.flags(q.Reverse, q.IncludeExpired, r.interval.prefix)
	for _, end := range []bound{r.interval.lo, r.interval.hi} {
		f.flags(end.set, end.open)
		f.b = end.value.append(f.b)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Names)) {
		f.text(name, q.Names[name])
	}
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		f.text(name)
		f.value(q.Values[name])
	}
	one := xxhash.Sum64(f.b)
	if o.ShardAttribute == "" {
		f.text(format.ShardPrefix)
		f.b = append(f.b, byte(format.First), byte(format.Width))
	}
	return fingerprints{one, xxhash.Sum64(f.b)}
}

// firstSuffix returns what the key of shard 0 has behind key and bucket.
func (c *core) firstSuffix() string {
	own := c.options.Layout
	if c.adaptive() {
		own.Shards = max(own.Shards, 1)
	}
	if c.options.ShardAttribute != "" || own.Shards == 0 {
		return ""
	}
	return own.Suffix(0)
}

// fingerprint collects what is hashed, each part with its length, so that no two queries look the same.
type fingerprint struct{ b []byte }

func (f *fingerprint) text(texts ...string) {
	for _, s := range texts {
		f.b = binary.AppendUvarint(f.b, uint64(len(s)))
		f.b = append(f.b, s...)
	}
}

func (f *fingerprint) flags(flags ...bool) {
	for _, set := range flags {
		if set {
			f.b = append(f.b, 1)
		} else {
			f.b = append(f.b, 0)
		}
	}
}

func (f *fingerprint) value(value types.AttributeValue) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		f.text("S", v.Value)
	case *types.AttributeValueMemberN:
		f.text("N", v.Value)
	case *types.AttributeValueMemberB:
		f.text("B", string(v.Value))
	case *types.AttributeValueMemberSS:
		f.set("SS", v.Value)
	case *types.AttributeValueMemberNS:
		f.set("NS", v.Value)
	case *types.AttributeValueMemberBS:
		elements := make([]string, len(v.Value))
		for i, b := range v.Value {
			elements[i] = string(b)
		}
		f.set("BS", elements)
	case *types.AttributeValueMemberBOOL:
		f.text("BOOL")
		f.flags(v.Value)
	case *types.AttributeValueMemberNULL:
		f.text("NULL")
	case *types.AttributeValueMemberL:
		f.text("L")
		f.b = binary.AppendUvarint(f.b, uint64(len(v.Value)))
		for _, e := range v.Value {
			f.value(e)
		}
	case *types.AttributeValueMemberM:
		f.text("M")
		f.b = binary.AppendUvarint(f.b, uint64(len(v.Value)))
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			f.text(name)
			f.value(v.Value[name])
		}
	}
}

func (f *fingerprint) set(kind string, elements []string) {
	f.text(kind)
	f.b = binary.AppendUvarint(f.b, uint64(len(elements)))
	f.text(slices.Sorted(slices.Values(elements))...)
}
