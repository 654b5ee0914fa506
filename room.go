package heatsink

import (
	"context"
	"sync"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// What DynamoDB sends at most, in bytes as it counts them: a page ends with the item that makes it a megabyte.
const (
	maxItemBytes = 400 << 10
	maxPageBytes = 1<<20 + maxItemBytes
)

const (
	// leastPages is how many full pages there is room for, however little memory is allowed: less of it would be a
	// request at a time for items that are hardly ever so large.
	leastPages = 16

	// firstPages is how many full pages all that shards are first asked for may come to. It is a bet that they are not
	// full: most reads end with these pages, and one round of requests is faster than several.
	firstPages = dispatch.FirstConcurrency

	// unseenItem is how large items are taken to be by limited reads of a collection that has not seen any.
	unseenItem = 64 << 10

	// fewBytes is about how much a shard is first asked for as a bet, by reads without a limit.
	fewBytes = 64 << 10
)

// parcel is how much memory a request's answer will take: as far as the sizes of items seen so far tell, and at most.
type parcel struct{ likely, worst int }

// parcel returns what a request for so many items brings. What Go adds to an item is estimated even for the worst: no
// limit of DynamoDB's is of any use there.
func (r *reading) parcel(items int) parcel {
	seen, n := r.core.sizes.estimate(), float64(items)
	worst := min(n*maxItemBytes, maxPageBytes) + min(n*seen.extra, float64(r.core.options.ReadMemory)/2)
	likely := worst
	switch {
	case seen.known:
		likely = 1.5*n*r.core.passing.rate(r.query.Filter)*seen.mean + seen.largest
	case r.query.Limit > 0:
		likely = n * unseenItem
	}
	return parcel{likely: int(min(likely, worst)), worst: int(worst)}
}

// room is the memory that a read has for items it has not returned: what it holds, and what the requests under way may
// bring. A request is sent when its parcel fits; the parcel turns into what it really is when it arrives.
//
// The invariant is held + coming.likely ≤ most, and held + coming.worst ≤ most where bets are off: then it holds
// whatever arrives.
type room struct {
	most   int // Options.ReadMemory
	held   int
	coming parcel // all of them
}

// fits reports whether there is room for a parcel, if pages full pages may come in spite of what is allowed.
func (m *room) fits(p parcel, pages int) bool {
	return m.held+m.coming.likely+p.likely <= m.most &&
		m.held+m.coming.worst+p.worst <= max(m.most, pages*maxPageBytes)
}

// quiet reports whether so little is under way that there would not be much room if it turned out to be nothing.
func (m *room) quiet() bool {
	return m.coming.likely <= m.most/4 && m.coming.worst <= max(m.most, leastPages*maxPageBytes)/4
}

// crowded returns how much is too much to hold for reading ahead: the rest is for what is waited for.
func (m *room) crowded() int { return m.most / 4 * 3 }

// expect keeps room for a parcel.
func (m *room) expect(p parcel) {
	m.coming.likely += p.likely
	m.coming.worst += p.worst
}

// arrived gives a parcel's room back. What was in it is held from now on, if it is wanted.
func (m *room) arrived(p parcel) {
	m.coming.likely -= p.likely
	m.coming.worst -= p.worst
}

// sharedRoom is the memory of a read whose shards are read independently of each other.
type sharedRoom struct {
	mu sync.Mutex
	room
	freed chan struct{} // is closed when something has been given back
}

func newSharedRoom(most int) *sharedRoom {
	return &sharedRoom{room: room{most: most}, freed: make(chan struct{})}
}

// expect waits for room for a parcel. One that is alone always fits: whoever holds something gives it back without
// asking for more.
func (m *sharedRoom) expect(ctx context.Context, p parcel, pages int) error {
	for {
		m.mu.Lock()
		if m.held == 0 && m.coming == (parcel{}) || m.fits(p, pages) {
			m.room.expect(p)
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

// arrived replaces a parcel by its real size, of which the caller is to give back every byte.
func (m *sharedRoom) arrived(p parcel, size int) {
	m.change(func() {
		m.room.arrived(p)
		m.held += size
	})
}

// give gives back what is no longer held.
func (m *sharedRoom) give(size int) { m.change(func() { m.held -= size }) }

func (m *sharedRoom) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.freed)
	m.freed = make(chan struct{})
}
