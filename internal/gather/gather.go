package gather

import (
	"context"
	"errors"
)

// Gather merges shards. Every shard of a stage is read ahead by its cursor, and the least of their first entries is the
// next to return: so a cursor that has run dry has to be waited for. Stages come one after another, the sources in
// Stages.Along go along with all of them.
//
// Only the goroutine that calls its methods touches a Gather. It has to be closed.
type Gather[V any] struct {
	config   Config
	sizing   sizing
	stages   stages[V]
	requests requests[V]

	merge merge[V] // of the cursors with something to return
	dry   int      // how many cursors have run dry and may have more
	live  int      // how many cursors of the first stage are one or the other

	evicted int // how many cursors are
	ceiling int // the most memory to hold for reading ahead: less after there was none for it

	last     *cursor[V] // whose entry was returned last
	missing  []*cursor[V]
	complete int // how many entries were returned before the first cursor was missing
}

// errEnd ends a read: every entry was returned.
var errEnd = errors.New("end")

// New starts to read. The first requests have been sent when it returns, unless there is an error: the context's, that of
// Stages.Open, or an AllowanceError.
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
	g.ceiling = r.memory.crowded()
	r.ctx, r.cancel = context.WithCancel(ctx)
	if err := g.open(); err != nil {
		g.Close()
		return nil, err
	}
	if len(g.stages.opened) > 0 {
		g.enter(g.stages.along)
		g.enter(g.stages.opened[0].cursors)
	}
	return g, nil
}

// Close stops everything and waits for it.
func (g *Gather[V]) Close() { g.requests.stop() }

// Next returns the next entry, false if there is none. Its errors are those that Config.Lost does not know, as they are, and
// a MissingError, an AllowanceError, a WaitError or the context's. After an error, only Missing and Close are of use.
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

// Ready waits until the next entry is there to be returned. It reports false if there is none.
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

// Place is where an entry came from.
type Place struct {
	Stage   int
	Shards  int // how many the stage has, without those that run along
	Ordinal int // of the source
}

// Place returns where the entry came from that Next returned last. There must have been one.
func (g *Gather[V]) Place() Place {
	s := g.stages.opened[0]
	return Place{Stage: s.number, Shards: len(s.cursors), Ordinal: g.last.ordinal}
}

// More reports whether there may be more to return, whatever the limit.
func (g *Gather[V]) More() bool { return !g.merge.empty() || g.dry > 0 || g.stages.pending() }

// Missing returns which shards the read went without so far, nil if none.
func (g *Gather[V]) Missing() *MissingError {
	if len(g.missing) == 0 {
		return nil
	}
	return missingError(g.missing, g.stages.shards+len(g.stages.along), g.complete)
}

// await waits until the first of the merge is the next to return.
func (g *Gather[V]) await() error {
	if g.ceiling < g.requests.memory.crowded() { // answers that have come may be smaller than what was reserved for them
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

// wait gets every dry cursor going and waits for one of them.
func (g *Gather[V]) wait() error {
	r := &g.requests
	if r.left == 0 && r.underWay == 0 {
		return exceeded(g, g.dry)
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

// drain takes in what has come already.
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

// deliver takes in what a request brought.
func (g *Gather[V]) deliver(answer result[V]) error {
	cu, r := answer.cursor, &g.requests
	wanted := r.over(answer)
	g.ceiling = r.memory.crowded()
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
		r.history.passing.saw(g.config.Filter, answer.page.Scanned, len(answer.page.Entries))
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

// fail gives a shard up, or everything.
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

// advance goes on to the next stage, or to the end.
func (g *Gather[V]) advance() error {
	if !g.stages.pending() {
		return errEnd
	}
	g.stages.leave()
	if err := g.open(); err != nil {
		return err
	}
	g.enter(g.stages.opened[0].cursors)
	return nil
}

// open opens the stages that are to be read now: the first, and those ahead of it that are certain to be needed, or were
// asked for.
func (g *Gather[V]) open() error {
	s, want, ahead := &g.stages, g.sizing.want, g.config.Prefetch
	if want < 0 || len(s.opened) > 0 && s.short(want) {
		ahead = max(ahead, s.ahead, 1)
	}
	for s.unopened() > 0 && (len(s.opened) == 0 || len(s.opened) <= ahead && !s.full) {
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
		for _, cu := range next.cursors {
			if !g.fetch(cu) {
				break
			}
		}
	}
	return nil
}

// enter makes cursors part of the merge.
func (g *Gather[V]) enter(cursors []*cursor[V]) {
	for _, cu := range cursors {
		if cu.stage != nil {
			g.live++
		}
		g.join(cu)
	}
}

// join puts a cursor where it belongs: among those that have something to return, or not.
func (g *Gather[V]) join(cu *cursor[V]) {
	if cu.buffered() == 0 {
		g.settle(cu)
		return
	}
	g.merge.add(cu)
}

// settle decides what to do about a cursor that has nothing to return.
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
