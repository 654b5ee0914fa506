package heatsink

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"
)

// fingerprintOf returns a hash of what makes this query return other items, or the same in another order. How many
// shards there are, how large pages are and how consistent reads are may change from page to page, and so may the range of
// time, which goes on where a position is.
func (r *reading) fingerprintOf() uint64 {
	q, o := r.query, r.core.options
	layout := o.Layout
	var f fingerprint
	f.text("1", o.Table, o.Index, o.PartitionKey, o.SortKey, layout.Bucket.String(), layout.Format.String())
	for _, older := range o.Older { // a position says which of them it is in
		f.text(older.String())
	}
	f.text(q.Key, q.Filter, q.Projection)
	f.flags(q.Reverse, q.Expired, r.interval.prefix)
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
	return xxhash.Sum64(f.b)
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
