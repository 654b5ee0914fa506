package heatsink

import "slices"

// A cursor is hollow when its items have been dropped for want of memory: what is left of them is the sort key of the
// first, which is enough for the merge to know when to read them again. So a gather needs memory for what it returns
// next, and only keys for the rest, however many shards there are and however large their items.

// cut drops what a cursor has read but for the first entries; it is to be read again. It returns how many bytes that
// were: none if a request goes on from there, or if there is no way back.
func (r *reading) cut(cu *cursor, keep int) (freed int) {
	if cu.fetching || cu.buffered() <= keep {
		return 0
	}
	kept, dropped := cu.buffer[cu.head:cu.head+keep], cu.buffer[cu.head+keep:]
	first := dropped[0].sort
	if keep == 0 {
		if cu.returned && cu.last == first {
			return 0 // an index has others with this sort key, which were returned
		}
		cu.start, cu.hollow = nil, true
		if r.core.options.SortKey != "" {
			cu.left = cu.left.from(first, false, r.query.Reverse)
		}
	} else {
		last := kept[keep-1]
		table := make(Item, 4)
		for _, name := range r.core.options.TableKey {
			table[name] = last.item[name]
		}
		cu.start = r.startKey(cu, last.sort, table)
	}
	for _, e := range dropped {
		freed += e.size
	}
	clear(dropped)
	cu.buffer, cu.page, cu.done = cu.buffer[:cu.head+keep], keep, false
	if cu.hollow {
		cu.buffer, cu.head = []entry{{sort: first}}, 0
	}
	return freed
}

// evict drops items, those that are needed last first, until half of the memory is free: half of what the fullest
// shards have, half of that and so on, and at last the first of a shard, except for the very next.
func (g *gather) evict() {
	half := g.room.most / 2
	if g.room.held <= half {
		return
	}
	var spare []*cursor
	for _, s := range slices.Backward(g.opened[1:]) {
		spare = append(spare, s.cursors...)
	}
	merging := g.merge.sorted(g.merge.cursors)
	slices.Reverse(merging)
	spare = append(spare, merging...)
	longest := 1
	for _, cu := range spare {
		longest = max(longest, cu.buffered())
	}
	before := g.room.held
	for keep := longest; g.room.held > half && keep > 0; {
		if keep /= 2; keep == 0 && len(merging) > 0 {
			spare = spare[:len(spare)-1]
		}
		g.cutAll(spare, keep, half)
	}
	if g.room.held == before {
		return
	}
	g.read.core.options.Logger.DebugContext(g.ctx, "items dropped for want of memory, to be read again",
		"table", g.read.core.options.Table, "key", g.read.query.Key, "bytes", before-g.room.held)
}

// cutAll cuts one cursor after another, until no more than enough is held.
func (g *gather) cutAll(cursors []*cursor, keep, enough int) {
	for _, cu := range cursors {
		if g.room.held <= enough {
			return
		}
		if cu.hollow {
			continue
		}
		if g.room.held -= g.read.cut(cu, keep); cu.hollow {
			g.hollow++
		}
	}
}

// revive makes the next cursor, which is hollow, one that has run dry and is waited for; and those that follow it, as
// far as there is room for what they had.
func (g *gather) revive() {
	full := func(cu *cursor) bool { return !cu.hollow }
	hollow := g.merge.sorted(slices.DeleteFunc(slices.Clone(g.merge.cursors), full))
	free := g.room.most - g.room.held - g.room.coming.worst
	n := 1 + max(free, 0)/(2*g.read.parcel(g.size(hollow[0])).worst)
	if g.want > 0 {
		n = min(n, g.want)
	}
	for _, cu := range hollow[:min(n, len(hollow))] {
		cu.buffer, cu.hollow = nil, false
		g.hollow--
		g.lacking++
	}
	g.merge.filter(func(cu *cursor) bool { return cu.buffered() > 0 })
}
