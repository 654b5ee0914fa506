package gather

import (
	"context"
	"sync"
)

// LeastPages is how many full pages there is memory for, however little is allowed: with less, there would be a request at
// a time for entries that are hardly ever so large.
const LeastPages = 16

// reservation is how much memory a request's answer will take: as far as the sizes seen so far tell, and at most.
type reservation struct{ likely, worst int }

// memory is the memory that a read has for entries it has not returned: what it holds, and what is reserved for the
// requests under way. A request is sent when its reservation fits. When it is answered, the reservation turns into what
// the answer really takes.
//
// The invariant is held + reserved.likely ≤ most. Without bets, held + reserved.worst ≤ most as well: then it holds
// whatever arrives.
type memory struct {
	most     int // Config.Memory
	page     int // Config.MaxPage
	held     int
	reserved reservation // by all requests
}

// fits reports whether there is memory for a reservation, if so many full pages may come in spite of what is allowed.
func (m *memory) fits(r reservation, pages int) bool {
	return m.held+m.reserved.likely+r.likely <= m.most &&
		m.held+m.reserved.worst+r.worst <= max(m.most, pages*m.page)
}

// quiet reports whether so little is reserved that there would not be much more memory if it turned out to be nothing.
func (m *memory) quiet() bool {
	return m.reserved.likely <= m.most/4 && m.reserved.worst <= max(m.most, LeastPages*m.page)/4
}

// crowded returns how much is too much to hold for reading ahead: the rest is for entries that are waited for.
func (m *memory) crowded() int { return m.most / 4 * 3 }

// free returns how much is left, whatever the requests under way bring.
func (m *memory) free() int { return max(m.most-m.held-m.reserved.worst, 0) }

func (m *memory) reserve(r reservation) {
	m.reserved.likely += r.likely
	m.reserved.worst += r.worst
}

// release gives a reservation back: its request is over. What it brought is held from now on, if it is wanted.
func (m *memory) release(r reservation) {
	m.reserved.likely -= r.likely
	m.reserved.worst -= r.worst
}

// sharedMemory is the memory of a read whose shards are read independently of each other.
type sharedMemory struct {
	mu sync.Mutex
	memory
	freed chan struct{} // is closed when something has been given back
}

func newSharedMemory(most, page int) *sharedMemory {
	return &sharedMemory{memory: memory{most: most, page: page}, freed: make(chan struct{})}
}

// reserve waits until a reservation fits. One that is alone always does: whoever holds something gives it back without
// asking for more.
func (m *sharedMemory) reserve(ctx context.Context, r reservation, pages int) error {
	for {
		m.mu.Lock()
		if m.held == 0 && m.reserved == (reservation{}) || m.fits(r, pages) {
			m.memory.reserve(r)
			m.mu.Unlock()
			return nil
		}
		freed := m.freed
		m.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hold replaces a reservation by its real size, of which the caller is to give back every byte.
func (m *sharedMemory) hold(r reservation, size int) {
	m.change(func() {
		m.release(r)
		m.held += size
	})
}

// give gives back what is no longer held.
func (m *sharedMemory) give(size int) { m.change(func() { m.held -= size }) }

func (m *sharedMemory) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.freed)
	m.freed = make(chan struct{})
}
