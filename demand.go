package heatsink

import "time"

// demand is how much a request asks for, and the room it needs.
type demand struct {
	items int
	parcel
}

// prefetch reads on where half of what was read has been returned, unless the rest will do. It reports false if there
// is no room.
func (g *gather) prefetch(cu *cursor) bool {
	n := cu.buffered()
	if g.hollow > 0 || g.room.held > g.ceiling {
		return false
	}
	if n == 0 || 2*n > max(cu.page, 2) || g.want >= 0 && g.share(cu)*float64(g.want) <= float64(n) {
		return true
	}
	return g.fetch(cu)
}

// ask gets every cursor going that has run dry, then those that soon will, then those of buckets to come. If the first
// have no room and too little is under way to make some, what is needed last gives way; and one is asked in any case.
func (g *gather) ask() {
	if g.allowed == 0 {
		return
	}
	g.ceiling = g.room.crowded()
	dry := g.firstDry()
	if dry != nil && (g.awaited == 0 || g.room.quiet()) {
		g.evict()
		if dry = g.firstDry(); dry != nil && g.awaited == 0 {
			asked, _ := g.demand(dry)
			g.send(dry, asked)
		}
	}
	if dry != nil {
		return
	}
	for _, cu := range g.merge.cursors {
		if !g.prefetch(cu) {
			return
		}
	}
	for _, s := range g.opened[1:] {
		for _, cu := range s.cursors {
			if cu.buffered() == 0 && !g.fetch(cu) {
				return
			}
		}
	}
}

// firstDry starts requests for the cursors of the merge that have run dry, and returns the first for which there is no
// room.
func (g *gather) firstDry() *cursor {
	for cu := range g.merging() {
		if cu.buffered() == 0 && !g.fetch(cu) {
			return cu
		}
	}
	return nil
}

// fetch starts a request for a cursor's next page, if there is one, it is not hollow, and none is under way. It
// reports false if there is no room, or if no more requests may be sent.
func (g *gather) fetch(cu *cursor) bool {
	if cu.done || cu.fetching || cu.hollow {
		return true
	}
	if g.allowed == 0 {
		return false
	}
	asked, fits := g.demand(cu)
	if !fits {
		g.ceiling = g.room.held - g.room.most/64
		return false
	}
	g.send(cu, asked)
	return true
}

// demand returns what to ask a shard for, and whether there is room for the most that it can bring. A first page is a
// bet that it does not.
func (g *gather) demand(cu *cursor) (asked demand, fits bool) {
	asked.items = g.size(cu)
	asked.parcel = g.read.parcel(asked.items)
	if g.room.fits(asked.parcel, leastPages) {
		return asked, true
	}
	if cu.begun {
		return asked, false
	}
	if g.want < 0 {
		asked.items = min(asked.items, max(int(fewBytes/g.read.core.sizes.estimate().mean), 1))
		asked.parcel = g.read.parcel(asked.items)
	}
	return asked, g.room.fits(asked.parcel, firstPages)
}

// send sends a cursor's request.
func (g *gather) send(cu *cursor, asked demand) {
	cu.fetching, cu.since, cu.asked = true, time.Now(), asked
	g.awaited++
	g.launch(cu)
}

// start sends a cursor's request a second time, if there is room.
func (g *gather) start(cu *cursor) {
	if g.allowed != 0 && g.room.fits(cu.asked.parcel, leastPages) {
		g.launch(cu)
	}
}

func (g *gather) launch(cu *cursor) {
	shard, round := *cu, cu.round // as it is now
	g.room.expect(cu.asked.parcel)
	cu.flights++
	g.sent++
	if g.allowed > 0 {
		g.allowed--
	}
	g.running.Go(func() {
		began := time.Now()
		f, err := g.read.fetch(g.ctx, &shard, shard.start, shard.asked.items)
		r := result{cursor: cu, round: round, asked: shard.asked, took: time.Since(began), fetched: f, err: err}
		select {
		case g.results <- r:
		case <-g.ctx.Done():
		}
	})
}

// share estimates which part of the next items is a shard's, from what it had of the last.
func (g *gather) share(cu *cursor) float64 {
	return float64(cu.emitted+1) / float64(g.emitted+g.shards(cu))
}

// shards returns how many shards a cursor shares its bucket with.
func (g *gather) shards(cu *cursor) int {
	n := len(g.older)
	if cu.stage != nil {
		n += len(cu.stage.cursors)
	} else if len(g.opened) > 0 {
		n += len(g.opened[0].cursors)
	}
	return max(n, 1)
}

// sharing returns how many cursors there are to share the memory, those of buckets ahead included.
func (g *gather) sharing(cu *cursor) int {
	stages := max(len(g.opened), min(g.read.query.Ahead+1, len(g.opened)+len(g.buckets)), 1)
	return len(g.older) + stages*(g.shards(cu)-len(g.older))
}

// size returns how many items to ask a shard for. All shards together, with what is under way, are likely to fit into
// memory.
func (g *gather) size(cu *cursor) int {
	c := g.read.core
	most := g.read.fitting(g.sharing(cu))
	var items float64
	switch {
	case g.want < 0:
		items = float64(most)
	case cu.page == 0 && cu.emitted == 0:
		items = float64(pageSize(g.want, g.shards(cu)))
	default: // for one shard, a few more than its share will do
		items = g.share(cu)*float64(g.want) + 2
	}
	if g.want >= 0 {
		items = min(items, float64(g.want))
		if cu.skips {
			items++
		}
		items = min(items/c.passing.rate(g.read.query.Filter), float64(most))
	}
	if cu.empty { // all of the last page was filtered out: look further
		items = max(items, min(2*float64(cu.asked.items), 1<<20))
	}
	return max(int(items), 1)
}
