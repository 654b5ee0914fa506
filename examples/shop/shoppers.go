package main

import (
	"context"
	"errors"
	"time"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/leaderboard"
)

// shoppers is the board of those who paid most in a week.
type shoppers struct {
	board leaderboard.Board
}

func openShoppers(ctx context.Context, db *database, how spread, tokenKey []byte) (*shoppers, error) {
	const week, weeks = 7 * day, 4
	options := leaderboard.Options{
		Table: how.prefix + "shoppers", Shards: how.board, Mode: leaderboard.Sum,
		Period: layout.Week, Retention: weeks * week,
		EventTTL:  (weeks + 2) * week, // an order counts once for as long as its board is there
		TokenKeys: [][]byte{tokenKey},
	}
	if err := leaderboard.Setup(ctx, db.client, options); err != nil {
		return nil, err
	}
	boards, err := leaderboard.Open(db.client, options)
	if err != nil {
		return nil, err
	}
	board, err := boards.Board("shoppers")
	return &shoppers{board}, err
}

// bought adds an order to its shopper's score. An order counts once, however often this is repeated.
func (s *shoppers) bought(ctx context.Context, o order) error {
	created, err := time.Parse(time.RFC3339Nano, o.Created)
	if err != nil {
		return err
	}
	_, err = s.board.Submit(ctx, leaderboard.Submission{Player: o.Customer, Score: o.cents(), At: created, ID: o.ID})
	if errors.Is(err, leaderboard.ErrOver) {
		return nil // nobody sees the board of that week any more
	}
	return err
}
