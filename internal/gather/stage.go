package gather

import (
	"context"
	"iter"
)

// Stages is what to read: one stage after another. All entries of a stage are returned before the next stage begins.
type Stages[V any] struct {
	// Count is the number of stages.
	Count int

	// Open returns the sources of a stage, counted from 0. It is called in order, when the stage is about to be read. It
	// is called again if the stage could not be read yet.
	Open func(ctx context.Context, stage int) ([]Source[V], error)

	// More returns further sources of a stage, or none. It may be nil. It is called once for each stage, in its own
	// goroutine, beside the first requests to the sources that Open returned. No entry of the stage is returned before
	// More has returned. Its error ends the read when the stage is reached, also with Config.Partial. The call does not
	// count as a request, but the requests to its sources do. The caller keeps ordinals unique.
	More func(ctx context.Context, stage int) ([]Source[V], error)

	// Along are sources that are merged with all stages: each of their entries is returned as soon as it is the least.
	// Without a stage they are not read.
	Along []Source[V]
}

// stage is the cursors of a stage.
type stage[V any] struct {
	number  int // from 0 on
	cursors []*cursor[V]
	large   bool  // some shard had more than one page
	awaited bool  // Stages.More has not returned
	err     error // of Stages.More
}

// stages holds the cursors of all open stages.
type stages[V any] struct {
	plan   Stages[V]
	along  []*cursor[V]
	opened []*stage[V] // the first is being returned
	next   int         // the first that has not been opened
	ahead  int         // how many to read ahead
	full   bool        // no stage is opened ahead: the next takes more requests than allowed, or an open one has failed
	shards int         // the number of shards of all stages that were opened
}

// maxAhead is the maximum number of stages to read ahead, unless Config.Prefetch is larger.
const maxAhead = 8

func (s *stages[V]) unopened() int { return s.plan.Count - s.next }

// pending reports whether there is another stage after the first.
func (s *stages[V]) pending() bool { return len(s.opened) > 1 || s.unopened() > 0 }

// leave ends the first stage.
func (s *stages[V]) leave() {
	if len(s.opened) == 0 {
		return
	}
	s.ahead = min(max(2*s.ahead, 1), maxAhead)
	if s.opened[0].large { // reading further ahead helps only after stages with few entries
		s.ahead = 1
	}
	s.opened = s.opened[1:]
}

// prepare returns the next stage, which is not open until it is added.
func (s *stages[V]) prepare(ctx context.Context) (*stage[V], error) {
	sources, err := s.plan.Open(ctx, s.next)
	if err != nil {
		return nil, err
	}
	next := &stage[V]{number: s.next}
	next.cursors = newCursors(sources, next)
	return next, nil
}

func (s *stages[V]) add(next *stage[V]) {
	s.next++
	s.opened = append(s.opened, next)
	s.shards += len(next.cursors)
}

// extend adds sources to an open stage.
func (s *stages[V]) extend(to *stage[V], sources []Source[V]) []*cursor[V] {
	added := newCursors(sources, to)
	to.cursors = append(to.cursors, added...)
	s.shards += len(added)
	return added
}

// firstRequests returns the minimum number of requests for the first entry of a stage: one for each shard to read.
func (s *stages[V]) firstRequests(next *stage[V]) int {
	n := 0
	for _, cu := range next.cursors {
		if !cu.done {
			n++
		}
	}
	for _, cu := range s.along {
		if !cu.done && !cu.begun && !cu.fetching {
			n++
		}
	}
	return n
}

// reached returns the number of the current stage, or of the next one if none is open.
func (s *stages[V]) reached() int {
	if len(s.opened) > 0 {
		return s.opened[0].number
	}
	return s.next
}

// current reports whether a cursor is part of the merge, and not of a later stage.
func (s *stages[V]) current(cu *cursor[V]) bool { return cu.stage == nil || cu.stage == s.opened[0] }

// merging yields the cursors of the merge.
func (s *stages[V]) merging() iter.Seq[*cursor[V]] {
	return func(yield func(*cursor[V]) bool) {
		for _, cu := range s.along {
			if !yield(cu) {
				return
			}
		}
		if len(s.opened) == 0 {
			return
		}
		for _, cu := range s.opened[0].cursors {
			if !yield(cu) {
				return
			}
		}
	}
}

// unasked returns the number of dry cursors of the merge for which no request is in flight.
func (s *stages[V]) unasked() int {
	n := 0
	for cu := range s.merging() {
		if cu.dry() && !cu.fetching {
			n++
		}
	}
	return n
}

// awaited reports whether the merge waits for Stages.More.
func (s *stages[V]) awaited() bool { return len(s.opened) > 0 && s.opened[0].awaited }

// beside returns the number of cursors that are merged with a cursor, including itself.
func (s *stages[V]) beside(cu *cursor[V]) int {
	n := len(s.along)
	if cu.stage != nil {
		n += len(cu.stage.cursors)
	} else if len(s.opened) > 0 {
		n += len(s.opened[0].cursors)
	}
	return max(n, 1)
}

// sharing returns the number of cursors that share the memory, including those of stages to read ahead.
func (s *stages[V]) sharing(cu *cursor[V], ahead int) int {
	stages := max(len(s.opened), min(ahead+1, len(s.opened)+s.unopened()), 1)
	return len(s.along) + stages*(s.beside(cu)-len(s.along))
}

// short reports whether the open stages certainly hold fewer entries than wanted.
func (s *stages[V]) short(want int) bool {
	have := 0
	for _, opened := range s.opened {
		if opened.awaited {
			return false
		}
		for _, cu := range opened.cursors {
			if !cu.done {
				return false
			}
			have += cu.buffered()
		}
	}
	return have < want
}

// progress returns what sizing needs to know about a cursor, in a read that prefetches ahead stages.
func (s *stages[V]) progress(cu *cursor[V], ahead int) progress {
	p := progress{
		begun: cu.page > 0, returned: cu.returned, skips: cu.skips, among: cu.among,
		beside: s.beside(cu), sharing: s.sharing(cu, ahead),
	}
	if cu.empty {
		p.filtered = cu.asked.entries
	}
	return p
}
