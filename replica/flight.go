package replica

import (
	"sync"
	"time"
)

// patience is how long readers wait for the read of a primary that another reader has sent. Then one of them sends
// another. It is also how long a reader waits for the write of a copy, or for the refresh of a copy that it can use as it
// is. It is several times what DynamoDB takes, so that a slow answer does not make many readers send.
const patience = 250 * time.Millisecond

// flights are the refreshes of copies that are under way in this process: one for each copy.
type flights struct {
	maxStale time.Duration

	mu sync.Mutex
	by map[string]*flight // by the key of the copy
}

// flight reads the primary for one copy. Whoever else meets that copy waits for it instead of reading the primary too.
type flight struct {
	began time.Time
	read  chan struct{} // closed when the fields below are set

	record    *record // what the primary has; shared, so never changed
	err       error
	abandoned bool // by the context of the one who leads: err says nothing about the primary
}

// overdue reports whether nobody should wait for a flight or use it any more. Either the primary has not answered, or the
// write of the copy has not been answered since what was read became too old.
func (f *flight) overdue(maxStale time.Duration) bool {
	age := time.Since(f.began)
	select {
	case <-f.read:
		return age > maxStale
	default:
		return age >= patience
	}
}

// join returns the flight for a copy, and whether the caller leads it: then it must close read, and call end. A flight
// that is overdue is replaced.
func (f *flights) join(key string) (joined *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if under := f.by[key]; under != nil && !under.overdue(f.maxStale) {
		return under, false
	}
	under := &flight{began: time.Now(), read: make(chan struct{})}
	f.by[key] = under
	return under, true
}

// under reports whether there is a flight for a copy that can be waited for.
func (f *flights) under(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	under := f.by[key]
	return under != nil && !under.overdue(f.maxStale)
}

// end lets the next who meets the copy begin another flight. A flight that has replaced this one goes on. It may be called
// more than once.
func (f *flights) end(key string, ended *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by[key] == ended {
		delete(f.by, key)
	}
}
