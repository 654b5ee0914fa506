package gather

// ask gets every cursor going that has run dry, then those that soon will, then those of stages to come. If the first
// have no memory and too little is under way to make some, what is needed last is evicted; and one is asked in any case.
func (g *Gather[V]) ask() {
	r := &g.requests
	if r.left == 0 {
		return
	}
	g.ceiling = r.memory.crowded()
	dry := g.askDry()
	if dry != nil && (r.underWay == 0 || r.memory.quiet()) {
		g.evict()
		if dry = g.askDry(); dry != nil && r.underWay == 0 {
			asked, _ := g.request(dry)
			r.send(dry, asked)
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
	for _, s := range g.stages.opened[1:] {
		for _, cu := range s.cursors {
			if cu.buffered() == 0 && !g.fetch(cu) {
				return
			}
		}
	}
}

// askDry starts requests for the cursors of the merge that have run dry, and returns the first for which there is no
// memory.
func (g *Gather[V]) askDry() *cursor[V] {
	for cu := range g.stages.merging() {
		if cu.buffered() == 0 && !g.fetch(cu) {
			return cu
		}
	}
	return nil
}

// prefetch reads on where half of a page has been returned, unless the rest will do. It reports false if there is no
// memory.
func (g *Gather[V]) prefetch(cu *cursor[V]) bool {
	if g.evicted > 0 || g.requests.memory.held > g.ceiling {
		return false
	}
	n, s := cu.buffered(), &g.sizing
	if n == 0 || 2*n > max(cu.page, 2) {
		return true
	}
	if s.want >= 0 && s.share(g.stages.progress(cu, g.config.Prefetch))*float64(s.want) <= float64(n) {
		return true
	}
	return g.fetch(cu)
}

// fetch starts a request for a cursor's next page, if there is one, nothing of the cursor is evicted, and no request is
// under way. It reports false if there is no memory, or if no more requests may be sent.
func (g *Gather[V]) fetch(cu *cursor[V]) bool {
	if cu.done || cu.fetching || cu.evicted {
		return true
	}
	if g.requests.left == 0 {
		return false
	}
	asked, fits := g.request(cu)
	if !fits {
		g.ceiling = g.requests.memory.held - g.requests.memory.most/64
		return false
	}
	g.requests.send(cu, asked)
	return true
}

// request returns what to ask a shard for, and whether there is memory for the most that it can bring. A first page is a
// bet that it does not.
func (g *Gather[V]) request(cu *cursor[V]) (asked request, fits bool) {
	s, m := &g.sizing, &g.requests.memory
	asked.entries = s.page(g.stages.progress(cu, g.config.Prefetch))
	asked.reservation = s.reservation(asked.entries)
	if m.fits(asked.reservation, LeastPages) {
		return asked, true
	}
	if cu.begun {
		return asked, false
	}
	if s.want < 0 {
		asked.entries = min(asked.entries, s.few())
		asked.reservation = s.reservation(asked.entries)
	}
	return asked, m.fits(asked.reservation, g.config.FirstPages)
}
