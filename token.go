package heatsink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/layout"
)

// position is an item's place in a Query's order. Shards that come to be later join at the same place: the items behind the
// position are those that have not been returned.
type position struct {
	bucket time.Time // zero without buckets
	width  int       // how many shards were read there, without those of older layouts
	source ordinal
	sort   sortValue   // zero without a sort key
	table  []sortValue // the item's key in the table if this is an index, where sort keys are not unique

	// older is the place of the last item of an older layout, if there are buckets and such an item has been returned:
	// each bucket starts with the least sort key again, the older layouts' shards do not.
	older *position
}

// A page token is a position, bound to its query and sealed, in base64url without padding:
//
//	version 1 byte | fingerprint 8 bytes | position | seal 4 or 16 bytes
//	position = uvarint(bucket, in hours since the year 1) uvarint(width) place [ place of the last older item ]
//	place    = uvarint(source) value uvarint(values) { value }
//	value    = kind 1 byte, uvarint(len), bytes; numbers as digits
//
// The seal is an HMAC-SHA256 cut to 16 bytes with the first of the caller's keys, or else a CRC-32 against accidents.
const tokenVersion = 2

const macSize = 16

func (p position) token(query fingerprints, keys [][]byte) string {
	b := []byte{tokenVersion}
	b = binary.BigEndian.AppendUint64(b, query.at(p.width))
	b = p.append(b)
	if len(keys) == 0 {
		b = append(b, seal(b, nil)...)
	} else {
		b = append(b, seal(b, keys[0])...)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func (p position) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64((p.bucket.Unix()-yearOne)/3600))
	b = binary.AppendUvarint(b, uint64(p.width))
	b = p.appendPlace(b)
	if p.older != nil {
		b = p.older.appendPlace(b)
	}
	return b
}

func (p position) appendPlace(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.source))
	b = p.sort.append(b)
	b = binary.AppendUvarint(b, uint64(len(p.table)))
	for _, v := range p.table {
		b = v.append(b)
	}
	return b
}

func (v sortValue) append(b []byte) []byte {
	text := v.text
	if v.kind == attr.N {
		text = attr.Number(text).String()
	}
	b = append(b, byte(v.kind))
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

func seal(b, key []byte) []byte {
	if len(key) == 0 {
		return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(b)
	return mac.Sum(nil)[:macSize]
}

// maxToken is longer than any token: three keys of the longest kind.
const maxToken = 8 << 10

// parseToken is the inverse of token. A token that any of the keys has signed is good.
func parseToken(token string, query fingerprints, keys [][]byte) (position, error) {
	fail := func(why string) (position, error) { return position{}, fmt.Errorf("%w: %s", ErrToken, why) }
	if len(token) > maxToken {
		return fail(fmt.Sprintf("it has %d characters, and no token is as long", len(token)))
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || strings.ContainsAny(token, "\r\n") { // which base64 skips
		return fail("it is not base64url")
	}
	sealed := 4
	if len(keys) > 0 {
		sealed = macSize
	}
	if len(b) < 1+8+sealed {
		return fail("it is too short")
	}
	if b[0] != tokenVersion {
		return fail(fmt.Sprintf("it has version %d, this is version %d: begin with the first page", b[0], tokenVersion))
	}
	body, end := b[:len(b)-sealed], b[len(b)-sealed:]
	if !sealedBy(body, end, keys) {
		return fail("it was changed since it was issued, or was issued with another key")
	}
	r := tokenReader{rest: body[9:]}
	p := r.position()
	if r.bad || len(r.rest) > 0 {
		return fail("its position is malformed")
	}
	if binary.BigEndian.Uint64(body[1:]) != query.at(p.width) {
		return fail("it belongs to another query, or to another spelling of shard keys")
	}
	return p, nil
}

// sealedBy reports whether a token's end is the seal of its body, with any of the keys.
func sealedBy(body, end []byte, keys [][]byte) bool {
	if len(keys) == 0 {
		return hmac.Equal(end, seal(body, nil))
	}
	for _, key := range keys {
		if hmac.Equal(end, seal(body, key)) {
			return true
		}
	}
	return false
}

// tokenReader reads a position. Once bad, it reads zeros.
type tokenReader struct {
	rest []byte
	bad  bool
}

func (r *tokenReader) position() position {
	bucket := time.Unix(int64(r.uvarint(maxHours))*3600+yearOne, 0).UTC()
	width := int(r.uvarint(layout.MaxShards))
	p := r.place()
	p.bucket, p.width = bucket, width
	if len(r.rest) > 0 {
		older := r.place()
		p.older = &older
	}
	return p
}

func (r *tokenReader) place() position {
	var p position
	p.source = ordinal(r.uvarint(uint64(lastOrdinal)))
	p.sort = r.value()
	for range r.uvarint(2) {
		p.table = append(p.table, r.value())
	}
	return p
}

func (r *tokenReader) value() sortValue {
	if len(r.rest) == 0 {
		r.bad = true
		return sortValue{}
	}
	kind := attr.Kind(r.rest[0])
	r.rest = r.rest[1:]
	n := r.uvarint(uint64(len(r.rest)))
	if n > uint64(len(r.rest)) {
		r.bad = true
		return sortValue{}
	}
	v := sortValue{kind, string(r.rest[:n])}
	r.rest = r.rest[n:]
	switch kind {
	case attr.Invalid:
		r.bad = r.bad || v.text != ""
	case attr.S:
		r.bad = r.bad || v.text == "" || !utf8.ValidString(v.text)
	case attr.B:
		r.bad = r.bad || v.text == ""
	case attr.N:
		number, err := attr.ParseNumber(v.text)
		r.bad = r.bad || err != nil || number.String() != v.text
		v.text = string(number)
	default:
		r.bad = true
	}
	return v
}

// uvarint reads a number that is at most most, in as few bytes as it takes.
func (r *tokenReader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > most || n > 1 && r.rest[n-1] == 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// yearOne is the zero Time, and maxHours is from there to the year 10000.
const (
	yearOne  = -62135596800
	maxHours = 87_660_000
)

// attributes returns the values under their names, as in a key.
func attributes(names []string, values []sortValue) Item {
	key := make(Item, len(names))
	for i, name := range names {
		key[name] = values[i].attribute()
	}
	return key
}

// keyValues is the inverse of attributes.
func keyValues(names []string, item Item) ([]sortValue, error) {
	values := make([]sortValue, len(names))
	for i, name := range names {
		av, ok := item[name]
		if !ok {
			return nil, fmt.Errorf("item without its key attribute %q", name)
		}
		var err error
		if values[i], err = sortValueOf(av); err != nil {
			return nil, err
		}
	}
	return values, nil
}
