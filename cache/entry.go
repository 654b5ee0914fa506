package cache

import "time"

// An entry is a value and its place in the ring.
type entry[V any] struct {
	key        string
	value      V
	expires    time.Duration // since the cache's epoch
	prev, next *entry[V]
}

func (e *entry[V]) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}

func (e *entry[V]) linkAfter(other *entry[V]) {
	e.prev, e.next = other, other.next
	e.prev.next, e.next.prev = e, e
}
