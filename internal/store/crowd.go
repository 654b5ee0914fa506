package store

import (
	"hash/maphash"
	"sync/atomic"
)

// crowd finds keys that are written over and over. Pebble keeps every version of
// a key that came since its last flush, and whoever reads past the key steps
// over all of them: after a hundred thousand updates of a counter, a range that
// holds nothing else would take milliseconds. So the store is flushed, which
// leaves one version, when a key has had maxVersions.
//
// Keys share counters by their hash. That two of them do costs a flush too many,
// once in maxVersions × counters writes that are spread evenly: never, as Pebble
// flushes by size long before.
type crowd struct {
	seed   maphash.Seed
	writes [4096]atomic.Uint32
}

const maxVersions = 1024

func newCrowd() *crowd { return &crowd{seed: maphash.MakeSeed()} }

// add counts a write, and reports whether it is time for a flush.
func (c *crowd) add(key []byte) bool {
	return c.writes[maphash.Bytes(c.seed, key)%uint64(len(c.writes))].Add(1) == maxVersions
}

// clear starts over, after a flush.
func (c *crowd) clear() {
	for i := range c.writes {
		c.writes[i].Store(0)
	}
}
