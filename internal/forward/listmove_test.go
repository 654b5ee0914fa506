package forward

import (
	"fmt"
	"testing"
)

// shelf is three shards of a list, two of which are given up, and what runs on it: three ListMoves, any of which may stop.
type shelf struct {
	old   [2]Slot[int]
	moved Slot[int]
	moves [3]ListMove[int]
	of    [3]int // which of the old shards a move is for
	dups  [2]int // late duplicates of the appends that are still to arrive
}

// send does what a move asks for.
func (s *shelf) send(n int) {
	m := s.moves[n]
	r := m.Next()
	slot := &s.old[s.of[n]]
	if r.Home == New {
		slot = &s.moved
	}
	before := *slot
	after, done := Apply(r, User[int]{}, before, &Breaks{})
	*slot = after
	a := Answer[int]{Done: done, Slot: after}
	if done && r.Act != Freeze {
		a.Slot = before
	}
	s.moves[n] = m.Take(a)
}

// has reports whether a content is still somewhere.
func (s *shelf) has(content int) bool {
	for _, slot := range []Slot[int]{s.old[0], s.old[1], s.moved} {
		if (slot.State == Live || slot.State == Frozen) && slot.Content == content {
			return true
		}
	}
	return false
}

func (s *shelf) key() string {
	all := []any{s.old, s.moved, s.dups}
	for _, m := range s.moves {
		all = append(all, m.Over, m.Clash, m.Stale, m.step, m.content)
	}
	return fmt.Sprint(all...)
}

// Three moves of two items with one sort key, in all interleavings, with late duplicates of the appends: no content is ever lost, a clash
// is noticed, and whatever stops, one more move of each item ends.
func TestListMovesLoseNothing(t *testing.T) {
	same := func(a, b int) bool { return a == b }
	for name, test := range map[string]struct {
		contents [2]int // 0 is none
		there    int    // what the new home has
	}{
		"one item":                         {[2]int{7, 0}, 0},
		"two with one content":             {[2]int{7, 7}, 0},
		"two with two contents":            {[2]int{7, 8}, 0},
		"a copy of one of two":             {[2]int{7, 8}, 8},
		"somebody else's in the new home":  {[2]int{7, 0}, 9},
		"three with three contents":        {[2]int{7, 8}, 9},
		"a duplicate of what has moved on": {[2]int{7, 0}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			start := shelf{of: [3]int{0, 0, 1}}
			var contents []int
			for i, c := range test.contents {
				if c != 0 {
					start.old[i], start.dups[i] = Slot[int]{State: Live, Content: c}, 1
					contents = append(contents, c)
				}
			}
			if test.there != 0 {
				start.moved = Slot[int]{State: Live, Content: test.there}
				contents = append(contents, test.there)
			}
			for i := range start.moves {
				start.moves[i] = NewListMove(same)
			}
			seen, clashes := map[string]bool{}, 0
			all := []shelf{start}
			for len(all) > 0 {
				s := all[len(all)-1]
				all = all[:len(all)-1]
				if seen[s.key()] {
					continue
				}
				seen[s.key()] = true
				for _, c := range contents {
					if !s.has(c) {
						t.Fatalf("content %d is lost: %+v", c, s)
					}
				}
				clashes += s.endsWithOthers(t, same)
				for n, m := range s.moves {
					if m.Stale {
						t.Fatalf("stale: %+v", s)
					}
					if !m.Over && !m.Clash {
						next := s
						next.send(n)
						all = append(all, next)
					}
				}
				for i, left := range s.dups {
					if left > 0 { // an append has no condition
						next := s
						next.dups[i]--
						next.old[i] = Slot[int]{State: Live, Content: test.contents[i]}
						all = append(all, next)
					}
				}
			}
			different := test.contents[1] != 0 && test.contents[0] != test.contents[1] || test.there != 0 && test.there != test.contents[0]
			if (clashes > 0) != different {
				t.Errorf("%d clashes in %d states, want some: %t", clashes, len(seen), different)
			}
			t.Logf("%d states, %d with a clash", len(seen), clashes)
		})
	}
}

// endsWithOthers stops all moves, and runs new ones until they end. It returns 1 if there was a clash.
func (s shelf) endsWithOthers(t *testing.T, same func(a, b int) bool) (clash int) {
	t.Helper()
	for i := range s.old {
		s.of[0], s.moves[0] = i, NewListMove(same)
		for n := 0; !s.moves[0].Over; n++ {
			if n > 20 {
				t.Fatalf("a move does not end: %+v", s)
			}
			if s.send(0); s.moves[0].Clash {
				if s.old[i].State != Live || s.old[i].Content == s.moved.Content {
					t.Fatalf("a clash left %+v", s)
				}
				clash = 1
				break
			}
		}
	}
	return clash
}
