package pagetoken

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// Version is the first byte of a token. Tokens of another version have another format.
const Version = 2

const (
	crcSize = 4
	macSize = 16

	// maxToken is longer than any token, which holds at most three keys of the maximum length.
	maxToken = 8 << 10
)

// Reasons to refuse a token, besides a *LengthError and a *VersionError.
var (
	ErrEncoding = errors.New("it is not valid base64url")
	ErrShort    = errors.New("it is too short")
	ErrSeal     = errors.New("it was changed after it was issued, or was signed with another key")
	ErrPosition = errors.New("its position is malformed")
	ErrQuery    = errors.New("it belongs to another query, or to another format of shard keys")
)

// LengthError refuses a token that is longer than any valid token.
type LengthError struct{ Characters int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("it has %d characters, want at most %d", e.Characters, maxToken)
}

// VersionError refuses a token of another Version. Such tokens are met while processes of two versions run side by side.
type VersionError struct{ Version byte }

func (e *VersionError) Error() string {
	if e.Version > Version {
		return fmt.Sprintf("it has the newer version %d, and this process understands version %d: upgrade heatsink in this process, or begin with the first page",
			e.Version, Version)
	}
	return fmt.Sprintf("it has version %d, want version %d: begin with the first page", e.Version, Version)
}

// Token encodes the position as a token, bound to its query and sealed, in base64url without padding:
//
//	version 1 byte | fingerprint 8 bytes | position | seal 4 or 16 bytes
//	position = uvarint(bucket, in hours since the year 1) uvarint(width) item [ last older item ]
//	item     = uvarint(ordinal) value uvarint(values) { value }
//	value    = kind 1 byte, uvarint(len), bytes; numbers as digits
//
// The seal is an HMAC-SHA256 with the first key, truncated to 16 bytes. Without keys it is a CRC-32, which detects only
// accidental damage.
func (p Position) Token(query Fingerprints, keys [][]byte) string {
	b := []byte{Version}
	b = binary.BigEndian.AppendUint64(b, query.At(p.Width))
	b = p.append(b)
	if len(keys) == 0 {
		b = append(b, seal(b, nil)...)
	} else {
		b = append(b, seal(b, keys[0])...)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Parse is the inverse of Token. It accepts a token that any of the keys signed or, without keys, one that is not
// damaged. The caller must check whether the query can have an item at the position.
func Parse(token string, query Fingerprints, keys [][]byte) (Position, error) {
	if len(token) > maxToken {
		return Position{}, &LengthError{len(token)}
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || strings.ContainsAny(token, "\r\n") { // which base64 skips
		return Position{}, ErrEncoding
	}
	sealed := crcSize
	if len(keys) > 0 {
		sealed = macSize
	}
	if len(b) < 1+8+sealed {
		return Position{}, ErrShort
	}
	if b[0] != Version {
		return Position{}, &VersionError{b[0]}
	}
	body, end := b[:len(b)-sealed], b[len(b)-sealed:]
	if !sealedBy(body, end, keys) {
		return Position{}, ErrSeal
	}
	r := reader{rest: body[9:]}
	p := r.position()
	if r.bad || len(r.rest) > 0 {
		return Position{}, ErrPosition
	}
	if binary.BigEndian.Uint64(body[1:]) != query.At(p.Width) {
		return Position{}, ErrQuery
	}
	return p, nil
}

func seal(b, key []byte) []byte {
	if len(key) == 0 {
		return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(b)
	return mac.Sum(nil)[:macSize]
}

// sealedBy reports whether end is the seal of body with any of the keys.
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
