package gather

import "time"

// cursor reads one shard, and holds the entries that have been read and not returned.
type cursor[V any] struct {
	name    string
	ordinal int
	skips   int
	stage   *stage[V] // nil if it runs along all stages

	shard Shard[V] // what to fetch next; as it was fetched last, if done
	done  bool     // there is no next page
	begun bool     // there was a first page
	empty bool     // the last page had no entries
	err   error    // why the shard was given up

	buffer   []Entry[V]
	head     int // of buffer
	page     int // how many entries the last page had that had any
	returned int

	evicted bool   // the only entry of the buffer is a place in the order, and is to be read again
	last    string // the sort value of what was returned last, if there is hasLast
	hasLast bool

	round    int // counts the answers; what comes for an older round is no longer wanted
	fetching bool
	hedged   bool // a second request was sent
	flights  int  // how many of the two are under way
	since    time.Time
	asked    request // the last
}

// newCursors returns cursors of a stage, or of those that run along all stages.
func newCursors[V any](sources []Source[V], s *stage[V]) []*cursor[V] {
	all, list := make([]cursor[V], len(sources)), make([]*cursor[V], len(sources))
	for i, source := range sources {
		cu := &all[i]
		list[i] = cu
		cu.name, cu.ordinal, cu.skips, cu.stage = source.Name, source.Ordinal, source.Skips, s
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

// take takes a page in.
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

// dry reports whether there is nothing to return, but there may be more to read.
func (cu *cursor[V]) dry() bool { return cu.buffered() == 0 && !cu.done }
