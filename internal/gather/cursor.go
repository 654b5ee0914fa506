package gather

import "time"

// cursor reads one shard, and holds the entries that were read but not returned.
type cursor[V any] struct {
	name    string
	ordinal int
	skips   int
	among   int
	stage   *stage[V] // nil if all stages share it

	shard Shard[V] // what to fetch next, or what was fetched last if done
	done  bool     // there is no next page
	begun bool     // there was a first page
	empty bool     // the last page had no entries
	err   error    // why the shard is missing

	buffer   []Entry[V]
	head     int // the first entry of buffer that was not returned
	page     int // the number of entries in the last page that was not empty
	returned int

	evicted bool   // the only entry of the buffer marks a position, and must be read again
	last    string // the sort value of the last returned entry, if hasLast
	hasLast bool

	round    int // counts the responses; a response of an older round is dropped
	fetching bool
	hedged   bool // a second request was sent
	flights  int  // how many of the two are in flight
	since    time.Time
	asked    request // the last request
}

// newCursors returns the cursors of a stage, or those that all stages share if s is nil.
func newCursors[V any](sources []Source[V], s *stage[V]) []*cursor[V] {
	all, list := make([]cursor[V], len(sources)), make([]*cursor[V], len(sources))
	for i, source := range sources {
		cu := &all[i]
		list[i] = cu
		cu.name, cu.ordinal, cu.skips, cu.among, cu.stage = source.Name, source.Ordinal, source.Skips, source.Among, s
		cu.shard, cu.done = source.Shard, source.Shard == nil
		if source.Last != nil {
			cu.last, cu.hasLast = *source.Last, true
		}
	}
	return list
}

func (cu *cursor[V]) buffered() int { return len(cu.buffer) - cu.head }

func (cu *cursor[V]) first() *Entry[V] { return &cu.buffer[cu.head] }

func (cu *cursor[V]) pop() Entry[V] {
	e := cu.buffer[cu.head]
	cu.buffer[cu.head] = Entry[V]{}
	cu.head++
	cu.returned++
	cu.last, cu.hasLast = e.Sort, true
	return e
}

func (cu *cursor[V]) push(entries []Entry[V]) {
	if cu.buffered() == 0 {
		cu.buffer, cu.head = entries, 0
		return
	}
	cu.buffer = append(cu.buffer[cu.head:], entries...)
	cu.head = 0
}

// take adds a page to the buffer.
func (cu *cursor[V]) take(p Page[V]) {
	cu.begun, cu.empty = true, len(p.Entries) == 0
	if cu.done = p.Next == nil; !cu.done {
		cu.shard = p.Next
	}
	if !cu.empty {
		cu.page = len(p.Entries)
		cu.push(p.Entries)
	}
}

// dry reports whether the buffer is empty but the shard may have more.
func (cu *cursor[V]) dry() bool { return cu.buffered() == 0 && !cu.done }
