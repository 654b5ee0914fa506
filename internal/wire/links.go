package wire

import (
	"container/list"
	"sync"
	"time"
)

// links are the connections of a server, of which there may be only so many at a
// time: each takes a file descriptor, and the store needs some as well.
type links struct {
	most int

	mu    sync.Mutex
	all   list.List // of *link, in the order in which they came
	place map[*link]*list.Element
	left  chan struct{} // told when one is gone
}

const (
	// defaultMaxConns are as many connections as take some hundred megabytes at
	// most, each with the largest head, body and answer that are not counted.
	defaultMaxConns = 1024
	// provenIdle is how long an authenticated connection idles before another may
	// take its place.
	provenIdle = 5 * time.Second
	// freshTime is how long a new connection has for its first request to be seen.
	freshTime = 250 * time.Millisecond
	// strangerTime is how long one that is not may be about a request.
	strangerTime = 2 * time.Second
	// crowdedTime is how often it is looked whether there is a place.
	crowdedTime = 20 * time.Millisecond
)

func newLinks(most int) *links {
	return &links{most: most, place: make(map[*link]*list.Element), left: make(chan struct{}, 1)}
}

// enter waits until there is a place for a connection, and ends another one if
// that can be done without harm. It returns false if closed is, before that.
func (l *links) enter(k *link, closed <-chan struct{}) bool {
	if l.add(k) {
		return true
	}
	look := time.NewTicker(crowdedTime)
	defer look.Stop()
	for {
		l.displace(time.Now())
		select {
		case <-l.left:
		case <-look.C:
		case <-closed:
			return false
		}
		if l.add(k) {
			return true
		}
	}
}

func (l *links) add(k *link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all.Len() >= l.most {
		return false
	}
	l.place[k] = l.all.PushBack(k)
	return true
}

// leave frees a connection's place. Its descriptor must be free already.
func (l *links) leave(k *link) {
	l.mu.Lock()
	if e, ok := l.place[k]; ok {
		l.all.Remove(e)
		delete(l.place, k)
	}
	l.mu.Unlock()
	select {
	case l.left <- struct{}{}:
	default:
	}
}

// displace ends a connection that is of the least use: the oldest of those that
// wait for a request without ever having been authenticated; otherwise the oldest
// of those that do not get through with their first. If there are only
// authenticated ones, it is the one that has idled longest.
func (l *links) displace(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var slow, idle *link
	strangers := false
	for e := l.all.Front(); e != nil; e = e.Next() {
		k := e.Value.(*link)
		state, waited := k.state.Load(), now.Sub(time.Unix(0, k.since.Load()))
		switch {
		case k.proven.Load():
			if state == stateIdle && waited >= provenIdle && (idle == nil || k.since.Load() < idle.since.Load()) {
				idle = k
			}
		case state == stateActive:
			strangers = true
			if slow == nil && waited >= strangerTime {
				slow = k
			}
		case waited >= freshTime && k.retire(state):
			return
		default:
			strangers = true // one of them will be in time
		}
	}
	switch {
	case slow != nil:
		slow.drop()
	case idle != nil && !strangers:
		idle.retire(stateIdle)
	}
}
