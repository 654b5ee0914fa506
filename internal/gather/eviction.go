package gather

import "slices"

// A cursor is evicted when all its entries were dropped to save memory. The sort value of the first entry stays, so that
// the merge knows when to read them again. A read thus needs memory for the entries that it returns next, and only sort
// values for the rest. This holds for any number of shards and any size of entries.

// evict drops a cursor's entries except for the first keep, and returns their size in bytes. They will be read again. It
// drops none if a request continues from there, or if the shard cannot go back.
func (cu *cursor[V]) evict(keep int) (freed int) {
	if cu.fetching || cu.evicted || cu.buffered() <= keep {
		return 0
	}
	kept, dropped := cu.buffer[cu.head:cu.head+keep], cu.buffer[cu.head+keep:]
	first := dropped[0]
	if keep == 0 {
		if cu.hasLast && cu.last == first.Sort {
			return 0 // an entry with the same sort value was already returned
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

// evict drops the entries that are needed last, until half of the memory is free. It halves the longest buffers
// repeatedly. At the end it also drops first entries, except for that of the very next cursor.
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

// evictOf drops a cursor's entries except for the first keep.
func (g *Gather[V]) evictOf(cu *cursor[V], keep int) {
	was := cu.evicted
	g.requests.memory.held -= cu.evict(keep)
	if cu.evicted && !was {
		g.evicted++
	}
}

// Evict drops entries that were read but not returned, as if memory had run out. It keeps keep() entries of each shard.
// They are read again when needed. It returns the number of shards without entries. Tests use it to check that a Shard
// can go back anywhere.
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

// readAgain makes the next cursor, which is evicted, a dry one that the merge waits for. It does the same for the cursors
// after it, as far as there is memory for their entries.
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
