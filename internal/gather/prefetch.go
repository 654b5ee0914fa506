package gather

// ask sends requests for the cursors that have run dry, then for those that soon will, then for later stages. If there is
// no memory for the first, and little is in flight that could free some, ask evicts entries that are needed last. It
// always sends at least one request.
func (g *Gather[V]) ask() {
	r := &g.requests
	if r.left == 0 {
		return
	}
	g.ceiling = r.memory.mostAhead()
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
	g.askAhead()
}

// askAhead sends requests for later stages. With an allowance it stops at a stage that waits for Stages.More, because
// that stage may need the requests that are left.
func (g *Gather[V]) askAhead() {
	for i, s := range g.stages.opened[1:] {
		if before := g.stages.opened[i]; before.awaited && g.requests.left >= 0 {
			return
		}
		for _, cu := range s.cursors {
			if cu.buffered() == 0 && !g.fetch(cu) {
				return
			}
		}
	}
}

// askDry sends requests for the dry cursors of the merge. It returns the first cursor for which there is no memory.
func (g *Gather[V]) askDry() *cursor[V] {
	for cu := range g.stages.merging() {
		if cu.buffered() == 0 && !g.fetch(cu) {
			return cu
		}
	}
	return nil
}

// prefetch reads on when half of a page was returned, unless the rest is enough. It reports false if there is no memory.
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

// fetch sends a request for a cursor's next page. It sends nothing if the cursor is at its end, evicted, or waiting for a
// response. It reports false if there is no memory, or no request left.
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

// request returns what to request from a shard, and whether there is memory for the largest possible response. The first
// page is a bet that the response is smaller.
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
