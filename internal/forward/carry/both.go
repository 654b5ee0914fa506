package carry

import (
	"context"
	"sync"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
)

// ReadBoth is Operate for a Get of an id that may be in either home. It asks both at once: that takes the time of one request and the units of
// two. The first answer that decides is enough. The other request is canceled then, and what it takes is not metered. decided is
// false if only another read can tell, as of an id that moves at this moment: then Operate it.
func (c *Carrier) ReadBoth(ctx context.Context, at Place, u *express.User) (result Result, decided bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	type answered struct {
		home   forward.Home
		answer forward.Answer[express.Item]
		err    error
	}
	answers := make(chan answered, 2)
	for _, home := range []forward.Home{forward.Old, forward.New} {
		all.Go(func() {
			answer, _, err := c.ask(ctx, at, forward.Request[express.Item]{Home: home}, u, false, nil)
			answers <- answered{home, answer, err}
		})
	}
	var seen [2]forward.Seen[express.Item]
	for range seen {
		a := <-answers
		if a.err != nil {
			if err == nil {
				err = a.err
			}
			continue // the other may decide alone
		}
		seen[a.home] = forward.Seen[express.Item]{Slot: a.answer.Slot, Covered: true}
		switch is := forward.Resolve(at.Phase, seen[forward.Old], seen[forward.New]); is.Outcome {
		case forward.Running:
		case forward.Stale:
			return Result{}, true, staleAt(at, a.answer)
		default:
			return Result{Outcome: is.Outcome, Home: is.Home, Content: is.Content, Sight: sightOfBoth(is, seen)}, true, nil
		}
	}
	return Result{}, err != nil, err
}

// sightOfBoth returns where an id is that both homes were asked for.
func sightOfBoth(is forward.Resolved[express.Item], seen [2]forward.Seen[express.Item]) forward.Sight {
	if is.Outcome == forward.Found {
		return forward.SightOf(is.Home, seen[is.Home].Slot)
	}
	return forward.SightOf(forward.New, seen[forward.New].Slot)
}
