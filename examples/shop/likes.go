package main

import (
	"context"

	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/layout"
)

// likes counts the likes of products.
type likes struct {
	counter interface {
		Add(ctx context.Context, key string, delta int64) error
		Total(ctx context.Context, key string) (int64, error)
	}
	close func(context.Context) error
}

func openLikes(ctx context.Context, db *database, how spread) (*likes, error) {
	table := how.prefix + "likes"
	if !how.counters {
		// What everybody writes first: an item with the name of the product, and ADD count 1.
		options := counter.TallyOptions{Table: table, Shards: 1, Format: layout.Format{BareZero: true}}
		if err := counter.SetupTally(ctx, db.client, options); err != nil {
			return nil, err
		}
		tally, err := counter.OpenTally(db.client, options)
		return &likes{counter: tally, close: func(context.Context) error { return nil }}, err
	}
	options := counter.Options{Table: table}
	if err := counter.Setup(ctx, db.client, options); err != nil {
		return nil, err
	}
	many, err := counter.Open(db.client, options)
	if err != nil {
		return nil, err
	}
	return &likes{counter: many, close: many.Close}, nil
}
