package eventlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"
)

// position is a place in a log. It is a sort key and names neither shards nor buckets: whatever the log has grown to
// when reading goes on, the events behind the position are those that have not been returned.
type position struct {
	kind     positionKind
	key      string
	returned bool // the event with the key itself is not behind the position
}

// positionKind is what a position is for: each is good for that only.
type positionKind byte

const (
	pageForwards  positionKind = 'f'
	pageBackwards positionKind = 'b'
	tailed        positionKind = 't'
)

// A token is a position, bound to its log and sealed, in base64url without padding:
//
//	version 1 byte | kind 1 byte | log 8 bytes | returned 1 byte | key | seal 4 or 16 bytes
//
// The log is a hash of the names of table and log. The seal is an HMAC-SHA256 cut to 16 bytes with the first of the
// caller's keys, or else a CRC-32 against accidents.
const (
	tokenVersion = 1
	tokenHead    = 1 + 1 + 8 + 1
	macSize      = 16
	maxToken     = 2048
)

// token returns a position in a log as text.
func (c *core) token(p position, log string) string {
	b := make([]byte, 0, tokenHead+len(p.key)+macSize)
	b = append(b, tokenVersion, byte(p.kind))
	b = binary.BigEndian.AppendUint64(b, c.logHash(log))
	if p.returned {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = append(b, p.key...)
	b = append(b, seal(b, c.tokenKeys()[0])...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePosition is the inverse of token.
func (c *core) parsePosition(token string, kind positionKind, log string) (position, error) {
	fail := func(why string) (position, error) {
		return position{}, fmt.Errorf("%w: log %q: %s", ErrToken, log, why)
	}
	if len(token) > maxToken {
		return fail("it is too long")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || strings.ContainsAny(token, "\r\n") { // which base64 skips
		return fail("it is not base64url")
	}
	keys := c.tokenKeys()
	size := len(seal(nil, keys[0]))
	if len(b) < tokenHead+1+size {
		return fail("it is too short")
	}
	if b[0] != tokenVersion {
		return fail(fmt.Sprintf("it has version %d; this is version %d", b[0], tokenVersion))
	}
	body, end := b[:len(b)-size], b[len(b)-size:]
	signed := func(key []byte) bool { return hmac.Equal(end, seal(body, key)) }
	if !slices.ContainsFunc(keys, signed) {
		return fail("it was changed since it was issued, or issued with another key")
	}
	if positionKind(b[1]) != kind || binary.BigEndian.Uint64(b[2:]) != c.logHash(log) {
		return fail("it belongs to something else: another log, direction, or kind of read")
	}
	p := position{kind: kind, key: string(body[tokenHead:]), returned: b[tokenHead-1] == 1}
	if b[tokenHead-1] > 1 || len(p.key) > maxSortKey || !utf8.ValidString(p.key) {
		return fail("it is malformed")
	}
	return p, nil
}

// tokenKeys returns the keys that tokens are signed with, one that is nil if they are not.
func (c *core) tokenKeys() [][]byte {
	if len(c.options.TokenKeys) == 0 {
		return [][]byte{nil}
	}
	return c.options.TokenKeys
}

func seal(b, key []byte) []byte {
	if len(key) == 0 {
		return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(b)
	return mac.Sum(nil)[:macSize]
}

func (c *core) logHash(log string) uint64 {
	h := fnv.New64a()
	for _, name := range []string{c.options.Table, c.options.Prefix, log} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return h.Sum64()
}
