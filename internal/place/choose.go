package place

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Chooser draws the shard of a random write. While nothing is throttled, that is one random number. If the shard was
// throttled recently, the chooser draws a second one and takes the one that was throttled less. All writers that can
// choose then avoid the busiest partition, without coordination.
//
// A shard's score counts its throttles, and each loses half of its value in two seconds:
//
//	score(t) = Σ 2^((tᵢ − t) / halfLife) = 2^(−t / halfLife) · Σ 2^(tᵢ / halfLife)
//
// All scores decay alike, so only the sums decide which of two is larger. A shard's heat is the logarithm of its sum. It
// changes only with a throttle: after the first one, it is the time of that throttle in half-lives.
//
// Heats are in a table of fixed size, indexed by a hash of key and shard. Two shards with the same slot are avoided
// together, which costs a little evenness and nothing else.
type Chooser struct {
	mu     sync.Mutex
	seeded *rand.Rand // nil: the process's own generator, which needs no lock

	since func() time.Duration // how long ago start is; nil: by the process's clock

	start time.Time       // the times below are milliseconds since start
	until atomic.Int64    // when the last throttle expires; 0 if there is none
	heats []atomic.Uint64 // float64, in half-lives since start; 0 if never throttled
}

// HalfLife is the time in which a throttle loses half of its weight, and Memory that in which it is forgotten.
const (
	HalfLife = 2 * time.Second
	Memory   = 15 * HalfLife
)

// heats is the size of the table.
const heats = 4096

// NewChooser returns a chooser that draws from source, or from the process's generator if source is nil.
func NewChooser(source rand.Source) *Chooser {
	c := &Chooser{start: time.Now(), heats: make([]atomic.Uint64, heats)}
	if source != nil {
		c.seeded = rand.New(source)
	}
	return c
}

// choose returns a shard of the key below width that was not tried yet, if there is one.
func (c *Chooser) choose(key *Key, width int, tried []int) int {
	if width < 2 {
		return 0
	}
	first := c.untried(width, tried)
	until := c.until.Load()
	if until == 0 {
		return first
	}
	hash := key.hash()
	heat := c.heat(hash, first)
	if heat == 0 {
		return first // never throttled, so no other shard is better
	}
	now := c.now()
	if now > until {
		c.until.CompareAndSwap(until, 0)
		return first
	}
	if halfLives(now-Memory.Milliseconds()) > heat {
		return first
	}
	if second := c.untried(width, tried); c.heat(hash, second) < heat {
		return second
	}
	return first
}

// untried draws shards until one was not tried before.
func (c *Chooser) untried(width int, tried []int) int {
	for {
		shard := int(c.Uint64N(uint64(width)))
		if len(tried) >= width || !slices.Contains(tried, shard) {
			return shard
		}
	}
}

// throttled records that a shard was throttled.
func (c *Chooser) throttled(key *Key, shard int) {
	now := c.now()
	slot := c.slot(key.hash(), shard)
	for {
		old := slot.Load()
		heat := halfLives(now)
		if old != 0 {
			heat = addHeat(heat, math.Float64frombits(old))
		}
		if slot.CompareAndSwap(old, math.Float64bits(heat)) {
			break
		}
	}
	c.until.Store(now + Memory.Milliseconds())
}

// addHeat returns the logarithm of 2^a + 2^b.
func addHeat(a, b float64) float64 {
	return max(a, b) + math.Log2(1+math.Exp2(-math.Abs(a-b)))
}

// heat returns the heat of a shard, or 0 if it was never throttled.
func (c *Chooser) heat(hash uint64, shard int) float64 {
	return math.Float64frombits(c.slot(hash, shard).Load())
}

func (c *Chooser) slot(hash uint64, shard int) *atomic.Uint64 {
	// The finaliser of SplitMix64, so that neighbouring shards are far apart.
	h := hash + uint64(shard+1)*0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return &c.heats[(h^h>>31)%heats]
}

// now returns the time in milliseconds, from 1 on.
func (c *Chooser) now() int64 {
	if c.since != nil {
		return c.since().Milliseconds() + 1
	}
	return time.Since(c.start).Milliseconds() + 1
}

// halfLives converts milliseconds to half-lives.
func halfLives(ms int64) float64 { return float64(ms) / float64(HalfLife.Milliseconds()) }

// Uint64N draws a number below n.
func (c *Chooser) Uint64N(n uint64) uint64 {
	if c.seeded == nil {
		return rand.Uint64N(n)
	}
	return c.seededN(n)
}

func (c *Chooser) seededN(n uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seeded.Uint64N(n)
}

// hash identifies the key and bucket that the shards belong to.
func (k *Key) hash() uint64 {
	return xxhash.Sum64String(k.Text) ^ uint64(k.Bucket.Unix())*0x9E3779B97F4A7C15
}
