package heatsink

import "time"

// demand is how much a request asks for.
type demand struct {
	items   int
	sharing int // how many requests share the memory; 0: only this one's items are known to fit
}

// prefetch reads on where half of what was read has been returned, unless the rest will do.
func (g *gather) prefetch(cu *cursor) {
	if cu.done || cu.fetching || 2*cu.buffered() > cu.page {
		return
	}
	if g.want >= 0 && g.share(cu)*float64(g.want) <= float64(cu.buffered()) {
		return
	}
	if g.want != 0 && cu.buffered() > 0 {
		g.fetch(cu)
	}
}

// fetch starts a request for a cursor's next page, if there is one and none is under way.
func (g *gather) fetch(cu *cursor) {
	if cu.done || cu.fetching {
		return
	}
	sharing := g.sharing(cu)
	cu.fetching, cu.since, cu.asked = true, time.Now(), demand{items: g.size(cu, sharing), sharing: sharing}
	g.start(cu)
}

func (g *gather) start(cu *cursor) {
	start, round, asked := cu.start, cu.round, cu.asked
	cu.flights++
	g.running.Go(func() {
		began := time.Now()
		f, err := g.read.fetch(g.ctx, cu, start, asked)
		select {
		case g.results <- result{cursor: cu, round: round, took: time.Since(began), fetched: f, err: err}:
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

// size returns how many items to ask a shard for. All shards together, with what is under way, fit into memory, except
// that each is asked for one.
func (g *gather) size(cu *cursor, sharing int) int {
	c := g.read.core
	n := g.shards(cu)
	most := g.read.fitting(sharing)
	if g.want < 0 {
		return most
	}
	var items float64
	if cu.page == 0 && cu.emitted == 0 {
		items = float64(pageSize(g.want, n))
	} else { // for one shard, a few more than its share will do
		items = g.share(cu)*float64(g.want) + 2
	}
	items = min(items, float64(g.want))
	if cu.skips {
		items++
	}
	items /= c.passing.rate(g.read.query.Filter)
	return max(int(min(items, float64(most))), 1)
}
