package store

import (
	"hash/maphash"
	"sync/atomic"
)

// crowd finds ranges where there is more to step over than to read. Pebble keeps
// every version of a key, and every deletion, that came since its last flush, and
// whoever reads past the key steps over all of them. A flush leaves one version
// of each key, and makes files of deletions that Pebble then compacts by itself,
// until nothing is left of them.
//
// It looks from two sides. Writes are counted by key, as after a hundred thousand
// updates of a counter a range that holds nothing else would take milliseconds:
// the store is flushed when a key has had maxVersions. And reads tell what they
// stepped over, as keys may also be many and each of them gone, like those of a
// queue: the store is flushed after a read that met more than maxDead of them.
//
// Keys share counters by their hash. That two of them do costs a flush too many,
// once in maxVersions × counters writes that are spread evenly: never, as Pebble
// flushes by size long before.
type crowd struct {
	seed     maphash.Seed
	versions [4096]atomic.Uint32
	writes   atomic.Uint64 // all of them
}

const (
	maxVersions = 1024
	maxDead     = 8192 // less than a millisecond's worth
)

func newCrowd() *crowd { return &crowd{seed: maphash.MakeSeed()} }

// add counts a write, and reports whether it is time for a flush.
func (c *crowd) add(key []byte) bool {
	return c.versions[maphash.Bytes(c.seed, key)%uint64(len(c.versions))].Add(1) == maxVersions
}

// applied counts the writes of a batch, of whatever kind.
func (c *crowd) applied(writes uint32) { c.writes.Add(uint64(writes)) }

// passed takes note of a read that went past dead keys between live ones, and
// reports whether it is time for a flush. It is not if the dead ones cannot have
// come since the last: each that did was written then, or is the only one whose
// deletion was. So what a flush does not help against, such as deletions still
// to be compacted, cannot cause one after another.
func (c *crowd) passed(live, dead int) bool {
	if dead <= maxDead || dead <= live || 2*c.writes.Load() < uint64(dead) {
		return false
	}
	return 2*c.writes.Swap(0) >= uint64(dead) // or another reader came first
}

// clear starts over, after a flush.
func (c *crowd) clear() {
	for i := range c.versions {
		c.versions[i].Store(0)
	}
	c.writes.Store(0)
}
