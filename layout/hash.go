package layout

import (
	"crypto/md5"
	"fmt"
	"hash/crc32"
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// Hash says how a calculated layout finds the shard of an id. All of them take a number computed from the id modulo the
// number of shards, so doubling the shards splits each in two: an id of shard s of n is in shard s or s+n of 2n.
type Hash uint8

// The hashes. The zero value is XXHash, which is both the fastest and even; the others are for data that is already
// placed by them, or for writers in languages where they are at hand.
const (
	// XXHash is 64-bit xxHash with seed 0.
	XXHash Hash = iota

	// FNV is 64-bit FNV-1a. It is even on random ids, less so on counters: user0 to user99999 fill 1,000 shards with 49 to
	// 135 each, which chance does not explain.
	FNV

	// CRC32 is the IEEE checksum.
	CRC32

	// MD5 is the digest as one 128-bit big-endian number: int(hashlib.md5(id).hexdigest(), 16) % n in Python.
	// A process in FIPS 140-only mode must choose another, as crypto/md5 panics there.
	MD5

	// Product multiplies the Unicode code points of the id; the empty product is 1. It is the rule of an old AWS guide
	// and very uneven: as soon as two characters bring in the factors of the number of shards, the id is in shard 0.
	// Of 200 shards, every UUID ends there; see Layout.Evenness. Open warns about it. A byte that is not valid UTF-8 counts as U+FFFD.
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

// Shard returns the shard of an id, from 0 to shards-1, and 0 if shards is below 2. It does not allocate.
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

// bytesOf returns the bytes of s itself, for functions that only read them: a conversion would copy them to the heap.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// textOf returns a string of the bytes themselves, for functions that do not keep it.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
