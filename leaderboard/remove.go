package leaderboard

import (
	"context"
	"fmt"
	"sync"

	"github.com/heatsink-go/heatsink"
)

// Remove takes a player off the board, who need not be on it: one request. A submission after it puts the player back;
// of a Sum, one that was counted before is not counted again.
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

// Reset takes every player off the board and returns how many it was. It reads the board and deletes each entry by a
// request of its own, 16 at a time: 2 write units an entry, and reads of the board before and after. A board that is
// reset at known times is cheaper with a Period, or under a new name.
//
// progress, if not nil, is told after each entry how many are deleted so far, from one goroutine. When ctx ends, Reset
// returns what is done; calling it again goes on. It goes through the board until the index lists nobody, for the index
// may be late, but three times at most; it may count an entry twice that the index is late to drop. Scores that are
// submitted meanwhile may stay or go.
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
