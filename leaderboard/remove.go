package leaderboard

import (
	"context"
	"fmt"
	"sync"

	"github.com/heatsink-go/heatsink"
)

// Remove takes a player off the board with one request. It is no error if the player is not on the board. A later
// submission puts the player back. In mode Sum, a submission that was already counted is not counted again.
func (b Board) Remove(ctx context.Context, player string) error {
	if err := checkPlayer(player); err != nil {
		return err
	}
	x, err := b.box()
	if err == nil {
		err = x.remove(ctx, player)
	}
	if err != nil {
		return fmt.Errorf("remove player %q from board %q: %w", player, b.name, err)
	}
	return nil
}

func (x box) remove(ctx context.Context, player string) error {
	_, err := x.entries.Delete(ctx, x.like(player))
	return err
}

const (
	resetWorkers = 16
	resetPasses  = 3
)

// Reset removes every player from the board and returns how many it removed. It reads the board and deletes each entry
// with its own request, 16 at a time. That costs 2 write units per entry, and a read of the board before and after. If
// a board is reset at known times, a Period or a new name is cheaper.
//
// If progress is not nil, Reset calls it after each entry with the number of deleted entries, from one goroutine. When
// ctx ends, Reset returns the number so far; call it again to continue. Because the index is eventually consistent,
// Reset reads the board again until the index lists no entry, at most three times. It may count an entry twice. Scores
// that are submitted meanwhile may stay or be removed.
func (b Board) Reset(ctx context.Context, progress func(deleted int)) (deleted int, err error) {
	x, err := b.box()
	if err != nil {
		return 0, err
	}
	for range resetPasses {
		before := deleted
		err := x.clear(ctx, func() {
			if deleted++; progress != nil {
				progress(deleted)
			}
		})
		if err != nil {
			return deleted, fmt.Errorf("reset board %q: %w", x.key, err)
		}
		if deleted == before {
			break
		}
	}
	return deleted, nil
}

// clear deletes the entries that the index lists, and calls one after each.
func (x box) clear(ctx context.Context, one func()) error {
	ctx, cancel := context.WithCancel(ctx)
	players, results := make(chan string), make(chan error)
	defer func() { // also if one panics
		cancel()
		for range results {
		}
	}()
	var workers sync.WaitGroup
	for range resetWorkers {
		workers.Go(func() {
			for player := range players {
				results <- x.remove(ctx, player)
			}
		})
	}
	var listed error
	go func() { // over once results is closed
		listed = x.list(ctx, players)
		close(players)
		workers.Wait()
		close(results)
	}()
	var failed error
	for err := range results {
		switch {
		case err == nil:
			one()
		case failed == nil:
			failed = err
			cancel()
		}
	}
	if failed != nil {
		return failed
	}
	return listed
}

// list sends the players of a board, as the index has them, until ctx ends.
func (x box) list(ctx context.Context, players chan<- string) error {
	for item, err := range x.entries.Query(ctx, heatsink.Query{MaxRequests: anyNumber, Key: x.key}) {
		if err != nil {
			return err
		}
		select {
		case players <- textOf(item[x.options.Names.Player]):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
