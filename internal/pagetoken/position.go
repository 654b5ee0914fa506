// Package pagetoken encodes an item's position in the order of a Query as a token, and decodes such tokens.
//
//   - position.go has the Position of an item, and its bytes;
//   - ordinal.go has the Ordinal, a shard's number across layouts, which is part of a position;
//   - token.go seals a position and binds it to its query;
//   - fingerprint.go determines which queries a token is valid for.
//
// The package does not know what a position means for a collection. The format of tokens and fingerprints never changes
// within a Version, because callers may keep tokens indefinitely.
package pagetoken

import (
	"encoding/binary"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// Position is an item's position in the order of a Query. Shards that are added later join at the same position: the
// items after it are those that were not returned.
type Position struct {
	Bucket  time.Time       // the start of the bucket, at a full hour; zero without buckets
	Width   int             // the number of shards that were read there, without those of older layouts
	Ordinal Ordinal         // the ordinal of the item's shard
	Sort    sortkey.Value   // zero without a sort key
	Table   []sortkey.Value // the item's key in the table if this is an index, where sort keys are not unique

	// Older is the position of the last returned item of an older layout, if there are buckets. Each bucket starts with
	// the least sort key again, but the shards of older layouts continue. It has Ordinal, Sort and Table.
	Older *Position
}

// yearOne is the zero Time, and maxHours is from there to the year 10000.
const (
	yearOne  = -62135596800
	maxHours = 87_660_000
)

// append appends the position in the format of Token.
func (p Position) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64((p.Bucket.Unix()-yearOne)/3600))
	b = binary.AppendUvarint(b, uint64(p.Width))
	b = p.appendItem(b)
	if p.Older != nil {
		b = p.Older.appendItem(b)
	}
	return b
}

func (p Position) appendItem(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.Ordinal))
	b = appendValue(b, p.Sort)
	b = binary.AppendUvarint(b, uint64(len(p.Table)))
	for _, v := range p.Table {
		b = appendValue(b, v)
	}
	return b
}

func appendValue(b []byte, v sortkey.Value) []byte {
	text := v.Written()
	b = append(b, byte(v.Kind))
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// reader decodes a position. After an error it returns zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) position() Position {
	bucket := time.Unix(int64(r.uvarint(maxHours))*3600+yearOne, 0).UTC()
	width := int(r.uvarint(layout.MaxShards))
	p := r.item()
	p.Bucket, p.Width = bucket, width
	if len(r.rest) > 0 {
		older := r.item()
		p.Older = &older
	}
	return p
}

func (r *reader) item() Position {
	var p Position
	p.Ordinal = Ordinal(r.uvarint(uint64(LastOrdinal)))
	p.Sort = r.value()
	for range r.uvarint(2) {
		p.Table = append(p.Table, r.value())
	}
	return p
}

func (r *reader) value() sortkey.Value {
	if len(r.rest) == 0 {
		r.bad = true
		return sortkey.Value{}
	}
	kind := attr.Kind(r.rest[0])
	r.rest = r.rest[1:]
	n := r.uvarint(uint64(len(r.rest)))
	if n > uint64(len(r.rest)) {
		r.bad = true
		return sortkey.Value{}
	}
	v := sortkey.Value{Kind: kind, Text: string(r.rest[:n])}
	r.rest = r.rest[n:]
	switch kind {
	case attr.Invalid:
		r.bad = r.bad || v.Text != ""
	case attr.S:
		r.bad = r.bad || v.Text == "" || !utf8.ValidString(v.Text)
	case attr.B:
		r.bad = r.bad || v.Text == ""
	case attr.N:
		number, err := attr.ParseNumber(v.Text)
		r.bad = r.bad || err != nil || number.String() != v.Text
		v.Text = string(number)
	default:
		r.bad = true
	}
	return v
}

// uvarint decodes a number of at most most, in its shortest form.
func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > most || n > 1 && r.rest[n-1] == 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
