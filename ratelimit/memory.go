package ratelimit

import (
	"container/list"
	"sync"
	"time"
)

// memory is what a process knows of the keys it has checked lately. None of it is needed to be right: it saves requests
// whose answer is known, and makes guesses better.
type memory struct {
	most, shards int

	mu    sync.Mutex
	keys  map[string]*list.Element // of *entry
	order list.List                // the most recently used first
}

// entry is what is known of a key.
type entry struct {
	key string

	mu     sync.Mutex
	shards []memo
	lease  lease
}

// memo is what is known of a shard.
type memo struct {
	room      int       // how much it would let through when it was last seen
	roomUntil time.Time // when that says nothing any more

	refused int       // the least that it refused; 0 if it has not
	until   time.Time // how long that is believed without asking
	free    time.Time // when there is room for it

	hint int64 // see question
}

func newMemory(most, shards int) *memory {
	return &memory{most: most, shards: shards, keys: map[string]*list.Element{}}
}

// of returns the entry of a key, and makes one if there is none.
func (m *memory) of(key string) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.keys[key]; ok {
		m.order.MoveToFront(found)
		return found.Value.(*entry)
	}
	e := &entry{key: key, shards: make([]memo, m.shards)}
	m.keys[key] = m.order.PushFront(e)
	for m.order.Len() > m.most {
		last := m.order.Back()
		m.order.Remove(last)
		delete(m.keys, last.Value.(*entry).key)
	}
	return e
}

// forget drops what is known of a key.
func (m *memory) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.keys[key]; ok {
		m.order.Remove(found)
		delete(m.keys, key)
	}
}

// open returns the shards that may let n through: their share is enough, and they are not known to refuse it.
func (e *entry) open(shares []int, n int, now time.Time) []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	var open []int
	for shard, share := range shares {
		m := &e.shards[shard]
		if share >= n && (m.refused == 0 || n < m.refused || !now.Before(m.until)) {
			open = append(open, shard)
		}
	}
	return open
}

// note remembers how much a shard would let through.
func (e *entry) note(shard, room int, until time.Time, hint int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := &e.shards[shard]
	m.room, m.roomUntil, m.hint = room, until, hint
}

// refuse remembers that a shard has no room for n until a time, and believes it for a while.
func (e *entry) refuse(shard, n int, free time.Time, now time.Time, remember time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := &e.shards[shard]
	// From now on, and not until free: that is a time of others' clocks, and this process's may be set back.
	m.refused, m.free, m.until = n, free, now.Add(min(free.Sub(now), remember))
}

func (e *entry) hint(shard int) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shards[shard].hint
}

// remaining estimates how much all shards would let through. Shards that were not seen are taken to have all of their
// share.
func (e *entry) remaining(shares []int, now time.Time) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum := 0
	for shard, share := range shares {
		if m := &e.shards[shard]; now.Before(m.roomUntil) {
			share = min(share, m.room)
		}
		sum += share
	}
	return sum
}

// retryAfter returns how long to wait until some shard has room for n; 0 if it is not known.
func (e *entry) retryAfter(shares []int, n int, now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	var wait time.Duration
	for shard, share := range shares {
		m := &e.shards[shard]
		if d := m.free.Sub(now); share >= n && m.refused > 0 && n >= m.refused && d > 0 && (wait == 0 || d < wait) {
			wait = d
		}
	}
	return wait
}
