package place

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// NewSimulatedChooser returns a chooser for a simulation, whose clock is since: the virtual time that has passed.
func NewSimulatedChooser(source rand.Source, since func() time.Duration) *Chooser {
	return &Chooser{seeded: rand.New(source), since: since, heats: make([]atomic.Uint64, heats)}
}

// Choose returns a shard of the key below width that is not among those tried, if there is one: as a write does.
func (c *Chooser) Choose(key *Key, width int, tried []int) int { return c.choose(key, width, tried) }

// Throttled records that a shard was throttled.
func (c *Chooser) Throttled(key *Key, shard int) { c.throttled(key, shard) }
