package leaderboard

import (
	"context"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// Get returns a player's current entry, without a Rank, with one strongly consistent GetItem. The error is ErrNotFound
// if the player is not on the board.
func (b Board) Get(ctx context.Context, player string) (Entry, error) {
	_, entry, err := b.find(ctx, player)
	return entry, err
}

// find returns a player's entry and the box it is in.
func (b Board) find(ctx context.Context, player string) (box, Entry, error) {
	if err := checkPlayer(player); err != nil {
		return box{}, Entry{}, err
	}
	x, err := b.box()
	if err != nil {
		return box{}, Entry{}, err
	}
	err = ErrNotFound
	var entry Entry
	if !x.over() {
		entry, err = x.get(ctx, player)
	}
	if err != nil {
		return box{}, Entry{}, fmt.Errorf("player %q on board %q: %w", player, x.key, err)
	}
	return x, entry, nil
}

func (x box) get(ctx context.Context, player string) (Entry, error) {
	item, err := x.entries.Get(ctx, x.like(player), func(in *dynamodb.GetItemInput) {
		in.ConsistentRead = aws.Bool(true)
	})
	if err != nil {
		return Entry{}, err
	}
	return x.entry(item)
}

// Top returns the first n entries with their ranks. An n of 0 is 100. It sends one request per shard. Together they
// read two to three times n items, and more for small n, because each shard may hold many of the first n.
func (b Board) Top(ctx context.Context, n int) ([]Entry, error) {
	n, err := count(n)
	if err != nil {
		return nil, err
	}
	var top []Entry
	for entry, err := range b.read(ctx, n) {
		if err != nil {
			return nil, err
		}
		top = append(top, entry)
	}
	return top, nil
}

// All returns all entries in order, with their ranks. Nothing is sent before the loop starts, and each loop reads
// again. An error is the last pair. Leaving the loop cancels running requests and waits for them.
func (b Board) All(ctx context.Context) iter.Seq2[Entry, error] { return b.read(ctx, 0) }

// read returns the first limit entries, or all.
func (b Board) read(ctx context.Context, limit int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		x, err := b.box()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		if x.over() {
			return
		}
		rank, last := 0, Entry{}
		for item, err := range x.entries.Query(ctx, heatsink.Query{MaxRequests: anyNumber, Key: x.key, Reverse: true, Limit: limit}) {
			var entry Entry
			if err == nil {
				entry, err = x.entry(item)
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("board %q: %w", x.key, err))
				return
			}
			rank++
			entry.Rank = rank
			if entry.place == last.place {
				entry.Rank = last.Rank
			}
			last = entry
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// Page is a part of a board.
type Page struct {
	Entries []Entry // without ranks

	// Next is the token of the next page, empty after the last page. The next page may be empty.
	Next string
}

// Page returns the next size entries after the page whose Next is token, or the first ones if token is empty. A size of
// 0 is 100. A token stays valid while the board changes; entries that move above its position are not returned any
// more. If boards have periods, a token belongs to the period it was read in. Use Board.At with the same time for all
// pages; otherwise tokens become invalid when the period ends.
func (b Board) Page(ctx context.Context, size int, token string) (Page, error) {
	size, err := count(size)
	if err != nil {
		return Page{}, err
	}
	x, err := b.box()
	if err != nil || x.over() {
		return Page{}, err
	}
	items, err := x.entries.Page(ctx, heatsink.Query{MaxRequests: anyNumber, Key: x.key, Reverse: true, Limit: size}, token)
	if err != nil {
		return Page{}, fmt.Errorf("board %q: %w", x.key, err)
	}
	page := Page{Next: items.Next}
	page.Entries, err = x.decode(items.Items)
	return page, err
}

// Count returns the number of players on the board. It reads the whole board, at about 60 entries per read unit.
func (b Board) Count(ctx context.Context) (int, error) {
	x, err := b.box()
	if err != nil || x.over() {
		return 0, err
	}
	n, err := x.entries.Count(ctx, heatsink.Query{MaxRequests: anyNumber, Key: x.key})
	if err != nil {
		return 0, fmt.Errorf("board %q: %w", x.key, err)
	}
	return n, nil
}

// decode returns the entries that items are.
func (x box) decode(items []heatsink.Item) ([]Entry, error) {
	entries := make([]Entry, len(items))
	for i, item := range items {
		var err error
		if entries[i], err = x.entry(item); err != nil {
			return nil, fmt.Errorf("board %q: %w", x.key, err)
		}
	}
	return entries, nil
}

// count returns how many entries to read.
func count(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("%w: %d entries", ErrInput, n)
	}
	if n == 0 {
		return defaultTop, nil
	}
	return n, nil
}
