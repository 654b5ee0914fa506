package gather

import (
	"context"
	"sync"
)

// LeastPages is the number of full pages that are always allowed, however small the memory is. With less, requests would
// be sent one at a time, for entries that are hardly ever that large.
const LeastPages = 16

// reservation is the memory that the response of a request will take: the likely size, from earlier sizes, and the
// maximum.
type reservation struct{ likely, worst int }

// memory is the memory of a read for entries that it has not returned: what it holds, and what is reserved for requests
// in flight. A request is sent when its reservation fits. Its response replaces the reservation by the actual size.
//
// The invariant is held + reserved.likely ≤ most. Without bets, held + reserved.worst ≤ most holds as well, whatever
// arrives.
type memory struct {
	most     int // Config.Memory
	page     int // Config.MaxPage
	held     int
	reserved reservation // by all requests
}

// fits reports whether there is memory for a reservation. So many full pages may arrive in spite of the limit.
func (m *memory) fits(r reservation, pages int) bool {
	return m.held+m.reserved.likely+r.likely <= m.most &&
		m.held+m.reserved.worst+r.worst <= max(m.most, pages*m.page)
}

// quiet reports whether little is reserved, so that waiting for responses would not free much memory.
func (m *memory) quiet() bool {
	return m.reserved.likely <= m.most/4 && m.reserved.worst <= max(m.most, LeastPages*m.page)/4
}

// mostAhead returns the maximum memory to hold for reading ahead. The rest is for entries that the merge waits for.
func (m *memory) mostAhead() int { return m.most / 4 * 3 }

// free returns the memory that is left, whatever the requests in flight bring.
func (m *memory) free() int { return max(m.most-m.held-m.reserved.worst, 0) }

func (m *memory) reserve(r reservation) {
	m.reserved.likely += r.likely
	m.reserved.worst += r.worst
}

// release ends a reservation when its request is over. The caller then holds the response, if it is wanted.
func (m *memory) release(r reservation) {
	m.reserved.likely -= r.likely
	m.reserved.worst -= r.worst
}

// sharedMemory is the memory of a read whose shards are read independently.
type sharedMemory struct {
	mu sync.Mutex
	memory
	freed chan struct{} // closed when memory is released
}

func newSharedMemory(most, page int) *sharedMemory {
	return &sharedMemory{memory: memory{most: most, page: page}, freed: make(chan struct{})}
}

// reserve waits until a reservation fits. A single reservation always fits, because every holder releases its memory
// without asking for more.
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

// hold replaces a reservation by its actual size, which the caller must give back.
func (m *sharedMemory) hold(r reservation, size int) {
	m.change(func() {
		m.release(r)
		m.held += size
	})
}

// give releases memory that is no longer held.
func (m *sharedMemory) give(size int) { m.change(func() { m.held -= size }) }

func (m *sharedMemory) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.freed)
	m.freed = make(chan struct{})
}
