package leaderboard

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/heatsink-go/heatsink"
)

// Around returns a player's entry with up to n entries directly above and up to n directly below, in the board's order.
// The entries have no ranks; they can be counted from the result of Rank. The error is ErrNotFound if the player is not
// on the board. Around sends one request for the player, and then two short ones per shard.
func (b Board) Around(ctx context.Context, player string, n int) ([]Entry, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: %d entries above and below, want 0 or more", ErrInput, n)
	}
	x, self, err := b.find(ctx, player)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return []Entry{self}, nil
	}
	var above, below []Entry
	var errAbove, errBelow error
	var both sync.WaitGroup
	both.Go(func() { above, errAbove = x.beside(ctx, self, n, false) })
	both.Go(func() { below, errBelow = x.beside(ctx, self, n, true) })
	both.Wait()
	for _, err := range []error{errAbove, errBelow} {
		if err != nil {
			return nil, fmt.Errorf("around player %q on board %q: %w", player, x.key, err)
		}
	}
	slices.Reverse(above)
	return slices.Concat(above, []Entry{self}, below), nil
}

// maxPage is how many entries are asked for at a time, at most.
const maxPage = 10_000

// beside returns the n entries next to an entry, the nearest first.
func (x box) beside(ctx context.Context, self Entry, n int, below bool) ([]Entry, error) {
	q := heatsink.Query{MaxRequests: anyNumber, Key: x.key, Sort: heatsink.AtLeast(number(self.place)), Limit: min(n, maxPage) + 1}
	if below {
		q.Sort, q.Reverse = heatsink.AtMost(number(self.place)), true
	}
	var read []Entry
	for token := ""; ; {
		page, err := x.entries.Page(ctx, q, token)
		if err != nil {
			return nil, err
		}
		entries, err := x.decode(page.Items)
		if err != nil {
			return nil, err
		}
		read = append(read, entries...)
		next, certain := behind(read, self, below)
		if token = page.Next; token == "" || certain && len(next) >= n {
			return next[:min(n, len(next))], nil
		}
	}
}

// behind returns what comes after an entry in what was read from its place on, and whether more reading will not change
// that. Others may have the same place: those before it are on its other side. The index may not list it, or
// not here, if it has just changed: then those with the same place are taken to be below.
func behind(read []Entry, self Entry, below bool) (next []Entry, certain bool) {
	next = read
	here := func(e Entry) bool { return e.Player == self.Player && e.place == self.place }
	elsewhere := func(e Entry) bool { return e.place != self.place }
	switch {
	case slices.ContainsFunc(read, here):
		next, certain = read[slices.IndexFunc(read, here)+1:], true
	case below:
		certain = slices.ContainsFunc(read, elsewhere)
	case slices.ContainsFunc(read, elsewhere):
		next, certain = read[slices.IndexFunc(read, elsewhere):], true
	default:
		next = nil
	}
	return slices.DeleteFunc(slices.Clone(next), func(e Entry) bool { return e.Player == self.Player }), certain
}
