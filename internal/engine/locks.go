package engine

import (
	"hash/maphash"
	"sync"
)

// itemLocks makes the writes of one item take turns. A transaction does not
// queue behind another: who meets an item that a transaction holds is turned
// away with a conflict, as on DynamoDB.
//
// Whoever locks several items locks them in the order of their keys, so that
// nobody waits in a circle.
type itemLocks struct {
	seed    maphash.Seed
	stripes [64]lockStripe
}

type lockStripe struct {
	mu   sync.Mutex
	held map[string]*itemLock
}

// itemLock is a held lock: what holds it, and who comes next.
type itemLock struct {
	transaction bool
	queue       []lockWaiter
}

type lockWaiter struct {
	transaction bool
	turn        chan struct{} // closed when the lock is the waiter's
}

func newItemLocks() *itemLocks {
	l := &itemLocks{seed: maphash.MakeSeed()}
	for i := range l.stripes {
		l.stripes[i].held = map[string]*itemLock{}
	}
	return l
}

func (l *itemLocks) stripe(key []byte) *lockStripe {
	return &l.stripes[maphash.Bytes(l.seed, key)%uint64(len(l.stripes))]
}

// lock takes the item, after those who came before. It returns false, without
// the lock, if a transaction holds the item.
func (l *itemLocks) lock(key []byte, transaction bool) bool {
	s := l.stripe(key)
	s.mu.Lock()
	held := s.held[string(key)]
	if held == nil {
		s.held[string(key)] = &itemLock{transaction: transaction}
		s.mu.Unlock()
		return true
	}
	if held.transaction {
		s.mu.Unlock()
		return false
	}
	w := lockWaiter{transaction, make(chan struct{})}
	held.queue = append(held.queue, w)
	s.mu.Unlock()
	<-w.turn
	return true
}

// unlock gives the item to whoever is next.
func (l *itemLocks) unlock(key []byte) {
	s := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[string(key)]
	if len(held.queue) == 0 {
		delete(s.held, string(key))
		return
	}
	next := held.queue[0]
	held.queue = held.queue[1:]
	held.transaction = next.transaction
	close(next.turn)
}

// inTransaction reports whether a transaction holds the item now.
func (l *itemLocks) inTransaction(key []byte) bool {
	s := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[string(key)]
	return held != nil && held.transaction
}
