package gather

import (
	"context"
	"errors"
)

// Gather merges shards. The cursor of every shard reads ahead, and the least of their first entries is the next to
// return. The merge therefore waits for a cursor that has run dry. Stages are read one after another, and the sources in
// Stages.Along are merged with all of them.
//
// Only one goroutine may call the methods of a Gather. The caller must close it.
type Gather[V any] struct {
	config   Config
	sizing   sizing
	stages   stages[V]
	requests requests[V]

	merge merge[V] // the cursors that have entries
	dry   int      // the number of cursors that have run dry and may have more, and one if Stages.More is awaited
	live  int      // the number of cursors of the first stage that have entries or may have more

	evicted int // the number of evicted cursors
	ceiling int // the maximum memory to hold for reading ahead; lower after a request did not fit

	last     *cursor[V] // the cursor of the last returned entry
	missing  []*cursor[V]
	complete int // the number of entries returned before the first cursor was missing
}

// errEnd ends a read: every entry was returned.
var errEnd = errors.New("end")

// New starts a read. It sends the first requests before it returns. Its error is the context's, that of Stages.Open, or
// an AllowanceError.
func New[V any](ctx context.Context, config Config, plan Stages[V]) (*Gather[V], error) {
	config = config.withDefaults()
	g := &Gather[V]{
		config: config, sizing: newSizing(config), merge: merge[V]{reverse: config.Reverse},
		stages: stages[V]{plan: plan, along: newCursors(plan.Along, nil), ahead: config.Prefetch},
	}
	r := &g.requests
	r.results, r.history = make(chan result[V]), config.History
	r.memory = memory{most: config.Memory, page: config.MaxPage}
	r.left = -1
	if config.MaxRequests > 0 {
		r.left = config.MaxRequests
	}
	g.ceiling = r.memory.mostAhead()
	r.ctx, r.cancel = context.WithCancel(ctx)
	if err := g.open(); err != nil {
		g.Close()
		return nil, err
	}
	if len(g.stages.opened) > 0 {
		g.enter(g.stages.along)
		g.begin(g.stages.opened[0])
	}
	return g, nil
}

// Close cancels all requests and calls of Stages.More, and waits for them.
func (g *Gather[V]) Close() { g.requests.stop() }

// Next returns the next entry, or false at the end. An error for which Config.Lost is false is returned unchanged, and so
// is an error of Stages.More. Other errors are a MissingError, an AllowanceError, a WaitError or the context's. After an
// error, only Missing and Close may be called.
func (g *Gather[V]) Next() (Entry[V], bool, error) {
	ready, err := g.Ready()
	if err != nil || !ready {
		return Entry[V]{}, false, err
	}
	cu := g.merge.first()
	e := cu.pop()
	g.requests.memory.held -= e.Size
	g.sizing.took()
	g.last = cu
	if cu.buffered() > 0 {
		g.merge.fix()
	} else {
		g.merge.remove()
		g.settle(cu)
	}
	g.prefetch(cu)
	return e, true, nil
}

// Ready waits until the next entry is available. It reports false at the end.
func (g *Gather[V]) Ready() (bool, error) {
	if g.sizing.want == 0 {
		return false, nil
	}
	switch err := g.await(); err {
	case nil:
		return true, nil
	case errEnd:
		return false, nil
	default:
		return false, err
	}
}

// Equal reports whether the next entry has the same sort value as the one that Next returned last. It waits for nothing, because
// Next has waited until every other shard has an entry to compare with, or has no more. A shard must not have a sort value twice.
func (g *Gather[V]) Equal() bool {
	return g.last != nil && !g.merge.empty() && g.merge.first().first().Sort == g.last.last
}

// Uncount makes the entry that Next returned last not count towards the limit, nor as returned. Call it at most once for an entry.
func (g *Gather[V]) Uncount() { g.sizing.untake() }

// Yield replaces Config.Yield for the requests that follow. share must be more than 0.
func (g *Gather[V]) Yield(share float64) { g.sizing.yield = min(max(share, leastRate), 1) }

// Sent returns the number of fetches so far, including hedged ones.
func (g *Gather[V]) Sent() int { return g.requests.sent }

// Place is the origin of an entry.
type Place struct {
	Stage   int
	Shards  int // the number of shards of the stage, without those that all stages share
	Ordinal int // of the source
}

// Place returns the origin of the entry that Next returned last. Next must have returned one.
func (g *Gather[V]) Place() Place {
	s := g.stages.opened[0]
	return Place{Stage: s.number, Shards: len(s.cursors), Ordinal: g.last.ordinal}
}

// More reports whether there may be more entries, regardless of the limit.
func (g *Gather[V]) More() bool { return !g.merge.empty() || g.dry > 0 || g.stages.pending() }

// Missing returns the shards that the read is missing so far, or nil.
func (g *Gather[V]) Missing() *MissingError {
	if len(g.missing) == 0 {
		return nil
	}
	return missingError(g.missing, g.stages.shards+len(g.stages.along), g.complete)
}

// await waits until the first cursor of the merge has the next entry.
func (g *Gather[V]) await() error {
	if g.ceiling < g.requests.memory.mostAhead() { // answers that have come may be smaller than what was reserved for them
		if err := g.drain(); err != nil {
			return err
		}
	}
	for {
		switch {
		case g.dry > 0:
			if err := g.wait(); err != nil {
				return err
			}
		case g.merge.empty() || g.live == 0 && g.stages.pending():
			if err := g.advance(); err != nil {
				return err
			}
		case g.merge.first().evicted:
			g.readAgain()
		default:
			return nil
		}
	}
}

// wait sends requests for all dry cursors and waits for one response, or for Stages.More.
func (g *Gather[V]) wait() error {
	r := &g.requests
	if r.left == 0 && r.underWay == 0 {
		if n := g.stages.unasked(); n > 0 {
			return exceeded(g, n)
		}
	}
	g.ask()
	select {
	case answer := <-r.results: // before it is taken to be late
		return g.deliver(answer)
	default:
	}
	hedge, stop := hedgeTimer(&g.config, &g.stages)
	defer stop()
	select {
	case answer := <-r.results:
		return g.deliver(answer)
	case <-hedge:
		r.hedge(&g.stages)
		return nil
	case <-r.ctx.Done():
		return ended(r.ctx, &g.stages)
	}
}

// drain takes in the responses that have already arrived.
func (g *Gather[V]) drain() error {
	for {
		select {
		case answer := <-g.requests.results:
			if err := g.deliver(answer); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// deliver takes in a response, or the answer of Stages.More.
func (g *Gather[V]) deliver(answer result[V]) error {
	if answer.added != nil {
		return g.extend(answer.added)
	}
	cu, r := answer.cursor, &g.requests
	wanted := r.over(answer)
	g.ceiling = r.memory.mostAhead()
	if !wanted {
		return nil
	}
	merged := cu.buffered() > 0 // it is in the merge, or waits for its stage
	if answer.err != nil {
		if err := g.fail(cu, answer.err); err != nil {
			return err
		}
	} else {
		cu.take(answer.page)
		r.memory.held += answer.page.Size
		r.history.passing.saw(g.config.Filter, answer.page.Scanned, len(answer.page.Entries)-answer.page.Dropped)
		if cu.stage != nil && !cu.done {
			cu.stage.large = true
		}
	}
	if !merged && g.stages.current(cu) && !cu.dry() {
		g.dry--
		g.join(cu)
	}
	return g.open()
}

// fail gives up a shard, or ends the read.
func (g *Gather[V]) fail(cu *cursor[V], err error) error {
	if g.requests.ctx.Err() != nil {
		return ended(g.requests.ctx, &g.stages)
	}
	if !g.config.Lost(err) {
		return err
	}
	cu.done, cu.err = true, err
	if g.config.Partial {
		return nil
	}
	g.missing = append(g.missing, cu)
	return g.Missing()
}

// advance moves on to the next stage, or to the end.
func (g *Gather[V]) advance() error {
	if !g.stages.pending() {
		return errEnd
	}
	g.stages.leave()
	if err := g.open(); err != nil {
		return err
	}
	next := g.stages.opened[0]
	g.begin(next)
	return next.err
}

// open opens the stages to read now: the first, and later ones that are certain to be needed or that Prefetch asks for.
func (g *Gather[V]) open() error {
	s, want, ahead := &g.stages, g.sizing.want, g.config.Prefetch
	if want < 0 || len(s.opened) > 0 && s.short(want) {
		ahead = max(ahead, s.ahead, 1)
	}
	for s.unopened() > 0 && (len(s.opened) == 0 || len(s.opened) <= ahead && !s.full) {
		if s.awaited() && g.requests.left >= 0 {
			return nil // the current stage may need the requests that are left
		}
		next, err := s.prepare(g.requests.ctx)
		if err != nil {
			return err
		}
		if n := s.firstRequests(next); !g.requests.allow(n) {
			if s.full = true; len(s.opened) == 0 {
				return exceeded(g, n)
			}
			return nil // it may not be needed
		}
		s.add(next)
		if s.plan.More != nil {
			g.requests.extend(next, s.plan.More)
		}
		for _, cu := range next.cursors {
			if !g.fetch(cu) {
				break
			}
		}
	}
	return nil
}

// begin adds the cursors of a stage to the merge. While Stages.More is awaited, the merge waits as for a dry cursor.
func (g *Gather[V]) begin(s *stage[V]) {
	g.enter(s.cursors)
	if s.awaited {
		g.dry++
	}
}

// enter adds cursors to the merge.
func (g *Gather[V]) enter(cursors []*cursor[V]) {
	for _, cu := range cursors {
		if cu.stage != nil {
			g.live++
		}
		g.join(cu)
	}
}

// join adds a cursor to the merge if it has entries, and settles it otherwise.
func (g *Gather[V]) join(cu *cursor[V]) {
	if cu.buffered() == 0 {
		g.settle(cu)
		return
	}
	g.merge.add(cu)
}

// settle accounts for a cursor that has no entries: it is dry, at its end, or missing.
func (g *Gather[V]) settle(cu *cursor[V]) {
	if !cu.done {
		g.dry++
		return
	}
	if cu.stage != nil {
		g.live--
	}
	if cu.err != nil {
		if len(g.missing) == 0 {
			g.complete = g.sizing.returned
		}
		g.missing = append(g.missing, cu)
	}
}
