package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
)

// shop has all that the service keeps in DynamoDB.
type shop struct {
	orders   *orders
	likes    *likes
	views    *views
	shoppers *shoppers
	limiter  *limiter
	log      *slog.Logger
}

// openShop creates the tables that are not there, and opens them.
func openShop(ctx context.Context, db *database, c config, log *slog.Logger) (*shop, error) {
	how := cool
	if c.naive {
		how = naive
	}
	tokenKey := []byte(c.tokenKey)
	if len(tokenKey) == 0 {
		tokenKey = []byte(rand.Text())
		log.Warn("page tokens are valid until this process ends, and in no other: set SHOP_TOKEN_KEY")
	}
	s := &shop{log: log}
	var err error
	if s.orders, err = openOrders(ctx, db, how, tokenKey); err != nil {
		return nil, fmt.Errorf("orders: %w", err)
	}
	if s.views, err = openViews(ctx, db, how, tokenKey); err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	if s.shoppers, err = openShoppers(ctx, db, how, tokenKey); err != nil {
		return nil, errors.Join(fmt.Errorf("shoppers: %w", err), s.close())
	}
	if s.limiter, err = openLimiter(ctx, db, how, c.limit); err != nil {
		return nil, errors.Join(fmt.Errorf("limiter: %w", err), s.close())
	}
	if s.likes, err = openLikes(ctx, db, how); err != nil {
		return nil, errors.Join(fmt.Errorf("likes: %w", err), s.close())
	}
	return s, nil
}

// close stores what is only in memory yet.
func (s *shop) close() error {
	if s.views != nil {
		s.views.counts.Close()
	}
	if s.likes == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return s.likes.close(ctx)
}
