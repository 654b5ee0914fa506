package layout

import (
	"crypto/md5"
	"fmt"
	"hash/crc32"
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// Hash maps an id to a shard of a Calculated layout: a number computed from the id, modulo the number of shards. Doubling
// the shards therefore splits each in two: an id in shard s of n is in shard s or s+n of 2n.
type Hash uint8

// The hashes. The zero value is XXHash, which is the fastest and spreads evenly. The others are for existing data, and
// for writers in languages that lack xxHash.
const (
	// XXHash is 64-bit xxHash with seed 0.
	XXHash Hash = iota

	// FNV is 64-bit FNV-1a. It is even on random ids, but less so on counters: user0 to user99999 fill 1,000 shards with
	// 49 to 135 ids each, which chance does not explain.
	FNV

	// CRC32 is the IEEE checksum.
	CRC32

	// MD5 is the MD5 digest as one 128-bit big-endian number: int(hashlib.md5(id).hexdigest(), 16) % n in Python. In FIPS
	// 140-only mode crypto/md5 panics, so choose another hash there.
	MD5

	// Product multiplies the Unicode code points of the id; the empty product is 1. An old AWS guide recommends it, but
	// it is very uneven. As soon as two characters contribute the factors of the number of shards, the id is in shard 0.
	// With 200 shards, every UUID is in shard 0: see Layout.Evenness. Open logs a warning. A byte that is not valid UTF-8
	// counts as U+FFFD.
	Product
)

var hashNames = [...]string{"xxhash", "fnv", "crc32", "md5", "product"}

// String returns the hash's name in lower case.
func (h Hash) String() string {
	if h.valid() {
		return hashNames[h]
	}
	return fmt.Sprintf("Hash(%d)", uint8(h))
}

// MarshalText returns the hash's name, as String does. The error wraps ErrInvalid.
func (h Hash) MarshalText() ([]byte, error) { return marshalName("hash", h, hashNames[:]) }

// UnmarshalText reads the name of a hash. The error wraps ErrInvalid, and leaves the hash as it was.
func (h *Hash) UnmarshalText(text []byte) error { return unmarshalName("hash", h, text, hashNames[:]) }

func (h Hash) valid() bool { return int(h) < len(hashNames) }

// Shard returns the shard of an id, from 0 to shards-1. It returns 0 if shards is less than 2. It does not allocate.
func (h Hash) Shard(id string, shards int) int {
	if shards < 2 {
		return 0
	}
	n := uint64(shards)
	switch h {
	case FNV:
		return int(fnv1a(id) % n)
	case CRC32:
		return int(uint64(crc32.ChecksumIEEE(bytesOf(id))) % n)
	case MD5:
		return int(md5Mod(id, n))
	case Product:
		return int(productMod(id, n))
	}
	return int(xxhash.Sum64String(id) % n)
}

// fnv1a is hash/fnv without its allocations.
func fnv1a(id string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(id) {
		h ^= uint64(id[i])
		h *= prime
	}
	return h
}

func md5Mod(id string, n uint64) uint64 {
	sum := md5.Sum(bytesOf(id))
	var hi, lo uint64
	for i := range 8 {
		hi = hi<<8 | uint64(sum[i])
		lo = lo<<8 | uint64(sum[i+8])
	}
	return bits.Rem64(hi, lo, n)
}

func productMod(id string, n uint64) uint64 {
	product := 1 % n
	for _, r := range id {
		hi, lo := bits.Mul64(product, uint64(r))
		product = bits.Rem64(hi, lo, n)
	}
	return product
}

// bytesOf returns the bytes of s without a copy, for functions that only read them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// textOf returns the bytes as a string without a copy, for functions that do not keep it.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
