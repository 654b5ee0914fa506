package heatsink

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// chooser draws the shard of a random write. While nothing is throttled that is one random number. Else it draws two
// shards and takes the one that was throttled less of late: the busiest partition is then left alone by all who can go
// elsewhere, which needs no agreement, as any shard will do.
//
// A shard's score counts its throttles, each of them worth half as much two seconds later:
//
//	score(t) = Σ 2^(−(t − tᵢ) / halfLife)
//
// Scores are kept in a table of fixed size under a hash of key and shard. Two that share an entry are avoided together,
// which costs a little evenness and nothing else.
type chooser struct {
	mu     sync.Mutex
	seeded *rand.Rand // nil: the process's own generator, which needs no lock

	start  time.Time       // times below are milliseconds since
	until  atomic.Int64    // when the last throttle will have been forgotten; 0: there is none to remember
	scores []atomic.Uint64 // when it was last changed, 32 bits, and the score then, a float32
}

const (
	halfLife = 2 * time.Second
	memory   = 15 * halfLife
	scores   = 4096
)

func newChooser(source rand.Source) *chooser {
	c := &chooser{start: time.Now(), scores: make([]atomic.Uint64, scores)}
	if source != nil {
		c.seeded = rand.New(source)
	}
	return c
}

// choose returns a shard of the key below width that is not among those tried already, if there is any other.
func (c *chooser) choose(key *spot, width int, tried []int) int {
	if width < 2 {
		return 0
	}
	first := c.untried(width, tried)
	until := c.until.Load()
	if until == 0 {
		return first
	}
	now := c.now()
	if now > until {
		c.until.CompareAndSwap(until, 0)
		return first
	}
	second := c.untried(width, tried)
	hash := key.hash()
	if c.score(hash, second, now) < c.score(hash, first, now) {
		return second
	}
	return first
}

// untried draws a shard, and another if that was tried before.
func (c *chooser) untried(width int, tried []int) int {
	shard := int(c.uint64N(uint64(width)))
	if len(tried) >= width {
		return shard
	}
	for slices.Contains(tried, shard) {
		shard = int(c.uint64N(uint64(width)))
	}
	return shard
}

// throttled takes note that a shard was too busy.
func (c *chooser) throttled(key *spot, shard int) {
	now := c.now()
	entry := c.entry(key.hash(), shard)
	for {
		old := entry.Load()
		score := float32(decayed(old, now)) + 1
		if entry.CompareAndSwap(old, uint64(uint32(now))<<32|uint64(math.Float32bits(score))) {
			break
		}
	}
	c.until.Store(now + memory.Milliseconds())
}

// score returns the score of a shard as it is now.
func (c *chooser) score(hash uint64, shard int, now int64) float64 {
	return decayed(c.entry(hash, shard).Load(), now)
}

func (c *chooser) entry(hash uint64, shard int) *atomic.Uint64 {
	// The finaliser of SplitMix64, so that neighbouring shards are far apart.
	h := hash + uint64(shard+1)*0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return &c.scores[(h^h>>31)%scores]
}

func decayed(entry uint64, now int64) float64 {
	score := math.Float32frombits(uint32(entry))
	if score == 0 {
		return 0
	}
	age := max(int32(uint32(now)-uint32(entry>>32)), 0) // another goroutine's now may be later than ours
	return float64(score) * math.Exp2(-float64(age)/float64(halfLife.Milliseconds()))
}

// now returns the time in milliseconds, from 1 on.
func (c *chooser) now() int64 { return time.Since(c.start).Milliseconds() + 1 }

// uint64N draws a number below n.
func (c *chooser) uint64N(n uint64) uint64 {
	if c.seeded == nil {
		return rand.Uint64N(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seeded.Uint64N(n)
}

// hash identifies the key and bucket that the shards belong to.
func (s *spot) hash() uint64 {
	return xxhash.Sum64String(s.key) ^ uint64(s.bucket.Unix())*0x9E3779B97F4A7C15
}
