package main

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

type view struct {
	Client   string `dynamodbav:"client"`
	Referrer string `dynamodbav:"referrer,omitempty"`
}

// views are a log for each product, with new keys every day. Nobody knows which product goes viral, so that a log has one key
// until its load needs more.
type views struct {
	log    *eventlog.Log[view]
	counts *cache.Cache[int] // counting reads a whole day, so it is done once in a while for all who ask
}

func openViews(ctx context.Context, db *database, how spread, tokenKey []byte) (*views, error) {
	options := eventlog.Options{
		Table: how.prefix + "views", Bucket: layout.Day, Retention: 30 * day, TokenKeys: [][]byte{tokenKey},
	}
	if how.adaptive {
		options.Adaptive = &heatsink.Adaptive{Decided: func(_ context.Context, d heatsink.Decision) {
			db.recorder.Decided(heat.Decision{ // the page draws a line where a key gets shards
				Resource: heat.Resource{Table: d.Table, Index: d.Index}, Key: d.Key, Reason: d.Reason, From: d.From, To: d.To,
				Rate: d.Rate, Throttled: d.Throttled, Text: d.Text,
			})
		}}
	}
	if err := eventlog.Setup(ctx, db.client, options); err != nil {
		return nil, err
	}
	log, err := eventlog.Open[view](db.client, options)
	if err != nil {
		return nil, err
	}
	return &views{log, cache.New[int](cache.Options{TTL: 5 * time.Second})}, nil
}

const day = 24 * time.Hour

func (v *views) add(ctx context.Context, product string, by view) error {
	_, err := v.log.Append(ctx, eventlog.Event[view]{Log: product, Body: by})
	return err
}

// list returns the views of a product in a day, the newest first.
func (v *views) list(ctx context.Context, product string, of time.Time, limit int, token string) (eventlog.Page[view], error) {
	return v.log.Page(ctx, eventlog.Query{Log: product, From: of, To: of.Add(day), Newest: true, Limit: limit}, token)
}

// count returns how many views a product had in a day, a few seconds ago.
func (v *views) count(ctx context.Context, product string, of time.Time) (int, error) {
	return v.counts.Get(ctx, product+"/"+of.Format(time.DateOnly), func(ctx context.Context) (int, error) {
		return v.log.Count(ctx, eventlog.Query{Log: product, From: of, To: of.Add(day)})
	})
}
