package replica

import (
	"sync"
	"time"
)

// flights are the refreshes of copies that are under way in this process: one for each copy.
type flights struct {
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

// join returns the flight for a copy, and whether the caller leads it: then it must call land and end.
func (f *flights) join(key string) (joined *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if under := f.by[key]; under != nil {
		return under, false
	}
	under := &flight{began: time.Now(), read: make(chan struct{})}
	f.by[key] = under
	return under, true
}

// under reports whether there is a flight for a copy.
func (f *flights) under(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[key] != nil
}

// end lets the next who meets the copy begin another flight.
func (f *flights) end(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, key)
}
