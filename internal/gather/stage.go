package gather

import (
	"context"
	"iter"
)

// Stages says what to read: stage after stage, each of which is returned whole before the next begins.
type Stages[V any] struct {
	// Count is how many stages there are.
	Count int

	// Open returns the sources of a stage, counted from 0. It is called when the stage is about to be read, in order, and
	// again if it turned out that it could not be read yet.
	Open func(ctx context.Context, stage int) ([]Source[V], error)

	// Along are sources that are merged with all stages: their entries come as soon as they are the least. Without any
	// stage they are not read.
	Along []Source[V]
}

// stage is a stage's cursors.
type stage[V any] struct {
	number  int // from 0 on
	cursors []*cursor[V]
	large   bool // some shard had more than one page
}

// stages is which cursors there are.
type stages[V any] struct {
	plan   Stages[V]
	along  []*cursor[V]
	opened []*stage[V] // the first is being returned
	next   int         // the first that has not been opened
	ahead  int         // how many to open before their time
	full   bool        // the next takes more requests than are allowed
	shards int         // how many the stages had that have been opened
}

// maxAhead is the most stages that are read before their time without having been asked to.
const maxAhead = 8

func (s *stages[V]) unopened() int { return s.plan.Count - s.next }

// pending reports whether there is another stage to return.
func (s *stages[V]) pending() bool { return len(s.opened) > 1 || s.unopened() > 0 }

// leave ends the first stage.
func (s *stages[V]) leave() {
	if len(s.opened) == 0 {
		return
	}
	s.ahead = min(max(2*s.ahead, 1), maxAhead)
	if s.opened[0].large { // only stages that held little are worth looking further
		s.ahead = 1
	}
	s.opened = s.opened[1:]
}

// prepare returns the next stage. It counts as opened once it is added.
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

// firstRequests returns how many requests it takes at least to return the first entry of a stage: one for each shard that
// is to be read.
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

// reached returns the stage that is being returned, or that is to be the next.
func (s *stages[V]) reached() int {
	if len(s.opened) > 0 {
		return s.opened[0].number
	}
	return s.next
}

// current reports whether a cursor is part of the merge, not of a stage to come.
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

// beside returns how many cursors a cursor is merged with, itself included.
func (s *stages[V]) beside(cu *cursor[V]) int {
	n := len(s.along)
	if cu.stage != nil {
		n += len(cu.stage.cursors)
	} else if len(s.opened) > 0 {
		n += len(s.opened[0].cursors)
	}
	return max(n, 1)
}

// sharing returns how many cursors there are to share the memory, those of stages to be read ahead included.
func (s *stages[V]) sharing(cu *cursor[V], ahead int) int {
	stages := max(len(s.opened), min(ahead+1, len(s.opened)+s.unopened()), 1)
	return len(s.along) + stages*(s.beside(cu)-len(s.along))
}

// short reports whether the stages that are open hold less than is wanted, for certain.
func (s *stages[V]) short(want int) bool {
	have := 0
	for _, opened := range s.opened {
		for _, cu := range opened.cursors {
			if !cu.done {
				return false
			}
			have += cu.buffered()
		}
	}
	return have < want
}

// progress returns what sizing has to know of a cursor, in a read that asked for so many stages ahead.
func (s *stages[V]) progress(cu *cursor[V], ahead int) progress {
	p := progress{
		begun: cu.page > 0, returned: cu.returned, skips: cu.skips,
		beside: s.beside(cu), sharing: s.sharing(cu, ahead),
	}
	if cu.empty {
		p.filtered = cu.asked.entries
	}
	return p
}
