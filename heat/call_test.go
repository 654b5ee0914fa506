package heat

import (
	"hash/maphash"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// Half of a key's hash is the same in every process, and half is nobody else's.
func TestKeyHash(t *testing.T) {
	key := []byte("USER#12345")
	defer func(was maphash.Seed) { seed = was }(seed)
	lower := make(map[uint32]bool)
	for range 8 {
		seed = maphash.MakeSeed()
		hash := keyHash(key)
		if hash>>32 != xxhash.Sum64(key)>>32 || itemHash(key) == 0 {
			t.Errorf("%x is not of the key's", hash)
		}
		lower[uint32(hash)] = true
	}
	if len(lower) < 7 {
		t.Errorf("%d different hashes with eight seeds", len(lower))
	}
}
