package gather

import "context"

// addition is what Stages.More returned for a stage.
type addition[V any] struct {
	stage   *stage[V]
	sources []Source[V]
	err     error
}

// extend calls Stages.More for a stage. Its answer arrives in results, like those of the requests.
func (r *requests[V]) extend(s *stage[V], more func(context.Context, int) ([]Source[V], error)) {
	s.awaited = true
	r.running.Go(func() {
		sources, err := more(r.ctx, s.number)
		select {
		case r.results <- result[V]{added: &addition[V]{stage: s, sources: sources, err: err}}:
		case <-r.ctx.Done():
		}
	})
}

// extend takes in the answer of Stages.More: its sources join their stage. If they are merged now, their first requests
// are sent. Those of later stages are sent when the merge waits. An error ends the read when its stage is reached.
func (g *Gather[V]) extend(a *addition[V]) error {
	s, r := &g.stages, &g.requests
	if a.err != nil && r.ctx.Err() != nil {
		return ended(r.ctx, s)
	}
	current := a.stage == s.opened[0]
	a.stage.awaited = false
	if current {
		g.dry--
	}
	if a.err != nil {
		a.stage.err, s.full = a.err, true // the read ends there: later stages are not needed
		if current {
			return a.err
		}
		return nil
	}
	added := s.extend(a.stage, a.sources)
	if current {
		g.enter(added)
		if n := s.unasked(); !r.allow(n) { // with fewer requests, no entry could be returned
			return exceeded(g, n)
		}
		for _, cu := range added { // before requests for later stages
			if !g.fetch(cu) {
				break
			}
		}
	}
	return g.open()
}
