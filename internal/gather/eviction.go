package gather

import "slices"

// A cursor is evicted when all its entries have been dropped for want of memory. What is left of them is the sort value of
// the first, which is enough for the merge to know when to read them again. So a read needs memory for what it returns
// next, and only sort values for the rest, however many shards there are and however large their entries.

// evict drops what a cursor has read but for the first entries; it is to be read again. It returns how many bytes that
// were: none if a request goes on from there, or if there is no way back.
func (cu *cursor[V]) evict(keep int) (freed int) {
	if cu.fetching || cu.evicted || cu.buffered() <= keep {
		return 0
	}
	kept, dropped := cu.buffer[cu.head:cu.head+keep], cu.buffer[cu.head+keep:]
	first := dropped[0]
	if keep == 0 {
		if cu.hasLast && cu.last == first.Sort {
			return 0 // others with this sort value have been returned
		}
		cu.shard, cu.evicted = cu.shard.From(first), true
	} else {
		cu.shard = cu.shard.Behind(kept[keep-1])
	}
	for _, e := range dropped {
		freed += e.Size
	}
	clear(dropped)
	cu.buffer, cu.page, cu.done = cu.buffer[:cu.head+keep], keep, false
	if cu.evicted {
		cu.buffer, cu.head = []Entry[V]{{Sort: first.Sort}}, 0
	}
	return freed
}

// evict drops entries, those that are needed last first, until half of the memory is free: half of what the fullest
// cursors have, half of that and so on, and at last the first of a cursor, except for the very next.
func (g *Gather[V]) evict() {
	m := &g.requests.memory
	half := m.most / 2
	if m.held <= half {
		return
	}
	var spare []*cursor[V]
	for _, s := range slices.Backward(g.stages.opened[1:]) {
		spare = append(spare, s.cursors...)
	}
	merging := g.merge.sorted(g.merge.cursors)
	slices.Reverse(merging)
	spare = append(spare, merging...)
	longest := 1
	for _, cu := range spare {
		longest = max(longest, cu.buffered())
	}
	before := m.held
	for keep := longest; m.held > half && keep > 0; {
		if keep /= 2; keep == 0 && len(merging) > 0 {
			spare = spare[:len(spare)-1]
		}
		for _, cu := range spare {
			if m.held <= half {
				break
			}
			g.evictOf(cu, keep)
		}
	}
	if m.held < before && g.config.Evicted != nil {
		g.config.Evicted(before - m.held)
	}
}

// evictOf drops what a cursor has but for the first entries.
func (g *Gather[V]) evictOf(cu *cursor[V], keep int) {
	was := cu.evicted
	g.requests.memory.held -= cu.evict(keep)
	if cu.evicted && !was {
		g.evicted++
	}
}

// Evict drops entries that have been read and not returned, as happens when memory runs out: of each shard that has some,
// all but as many as keep says. They are read again when they are needed. It returns how many shards have none left. It is
// for tests, to see that a Shard comes back to any place.
func (g *Gather[V]) Evict(keep func() int) (emptied int) {
	before := g.evicted
	for _, cu := range g.stages.along {
		g.evictOf(cu, keep())
	}
	for _, s := range g.stages.opened {
		for _, cu := range s.cursors {
			g.evictOf(cu, keep())
		}
	}
	return g.evicted - before
}

// readAgain makes the next cursor, which is evicted, one that has run dry and is waited for; and those that follow it, as
// far as there is memory for what they had.
func (g *Gather[V]) readAgain() {
	full := func(cu *cursor[V]) bool { return !cu.evicted }
	evicted := g.merge.sorted(slices.DeleteFunc(slices.Clone(g.merge.cursors), full))
	s := &g.sizing
	n := 1 + g.requests.memory.free()/(2*s.reservation(s.page(g.stages.progress(evicted[0], g.config.Prefetch))).worst)
	if s.want > 0 {
		n = min(n, s.want)
	}
	for _, cu := range evicted[:min(n, len(evicted))] {
		cu.buffer, cu.evicted = nil, false
		g.evicted--
		g.dry++
	}
	g.merge.filter(func(cu *cursor[V]) bool { return cu.buffered() > 0 })
}
