package heatsink

import (
	"math/rand/v2"
	"sync/atomic"
)

// spellings remembers the shard keys that a collection uses most: those of a hot key are checked and put together once, and
// from then on found without an allocation.
//
// It is a table of fixed size under a hash of key, bucket and shard. How many shards a key has plays no part, as they are
// spelt the same when there are more. A shard key that is not found takes the place of another once in spellingOdds
// times. So what is used often is there, keys that come once leave it alone, and nothing has to be counted or locked.
type spellings [spellingSlots]atomic.Pointer[spelling]

const (
	spellingSlots = 1024
	spellingOdds  = 32

	// spellingBytes is how long a shard key may be to be remembered. So all of them have half a megabyte at most.
	spellingBytes = 256
)

// spelling is a shard key and what it is the shard key of. It is never changed.
type spelling struct {
	text   string
	key    int   // how many bytes of the text are the key, which itself may be a piece of something much larger
	bucket int64 // when it starts, in Unix seconds
	shard  int
}

// find returns the shard key of a shard if it is remembered.
func (m *spellings) find(s *spot, shard int) (shardKey string, ok bool) {
	if len(s.key) > spellingBytes {
		return "", false
	}
	e := m.entry(s, shard).Load()
	if e == nil || e.shard != shard || e.bucket != s.bucket.Unix() || e.text[:e.key] != s.key {
		return "", false
	}
	return e.text, shard < s.width.Read // which may have been more
}

// keep remembers a shard key that was not found, once in spellingOdds times.
func (m *spellings) keep(s *spot, shard int, shardKey string) {
	if len(shardKey) <= spellingBytes && rand.Uint32()%spellingOdds == 0 {
		m.entry(s, shard).Store(&spelling{shardKey, len(s.key), s.bucket.Unix(), shard})
	}
}

// entry returns where a shard key is if it is there. The shards of a key are neighbours. It takes high bits of the hash,
// as in the low ones buckets hardly differ.
func (m *spellings) entry(s *spot, shard int) *atomic.Pointer[spelling] {
	return &m[(s.hash()>>32+uint64(shard))%spellingSlots]
}
