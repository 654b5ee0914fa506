package engine

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
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
// the lock, if a transaction holds the item, or with an error if ctx ends while
// it waits. Nobody waits for a lock that is free, whatever ctx says.
func (l *itemLocks) lock(ctx context.Context, key []byte, transaction bool) (bool, error) {
	w, conflict := l.enqueue(key, transaction)
	if conflict {
		return false, nil
	}
	if w.turn == nil {
		return true, nil
	}
	select {
	case <-w.turn:
		return true, nil
	case <-ctx.Done():
		l.leave(key, w)
		return false, fmt.Errorf("wait for the item: %w", ctx.Err())
	}
}

// enqueue takes the item if it is free, and else queues up, unless a transaction
// holds it. A waiter without a turn to wait for has the lock.
func (l *itemLocks) enqueue(key []byte, transaction bool) (w lockWaiter, conflict bool) {
	s := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[string(key)]
	switch {
	case held == nil:
		s.held[string(key)] = &itemLock{transaction: transaction}
		return lockWaiter{}, false
	case held.transaction:
		return lockWaiter{}, true
	}
	w = lockWaiter{transaction, make(chan struct{})}
	held.queue = append(held.queue, w)
	return w, false
}

// leave takes a waiter out of the queue. If its turn came at the same moment, the
// next one gets the item.
func (l *itemLocks) leave(key []byte, w lockWaiter) {
	s := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-w.turn:
		s.pass(key)
	default:
		held := s.held[string(key)] // by whoever is before us
		held.queue = slices.DeleteFunc(held.queue, func(o lockWaiter) bool { return o.turn == w.turn })
	}
}

// unlock gives the item to whoever is next.
func (l *itemLocks) unlock(key []byte) {
	s := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass(key)
}

// unlockAll unlocks the items of writes.
func (l *itemLocks) unlockAll(writes []*write) {
	for _, w := range writes {
		l.unlock(w.key)
	}
}

// pass gives a held item to whoever is next. The caller holds the stripe.
func (s *lockStripe) pass(key []byte) {
	held := s.held[string(key)]
	if len(held.queue) == 0 {
		delete(s.held, string(key))
		return
	}
	next := held.queue[0]
	held.queue[0] = lockWaiter{}
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
