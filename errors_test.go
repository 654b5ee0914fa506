package heatsink_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What DynamoDB throttled is told from everything else, whichever operation it was.
func TestThrottled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionReads: 1, PartitionWrites: 1, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		views := open[event](t, db.Client(), heatsink.Options{Layout: layout.Layout{Shards: 4}, Retry: heatsink.Retry{Attempts: 1}})
		client := db.Client()
		operations := map[string]func(context.Context) error{
			"Put": func(ctx context.Context) error { _, err := views.Put(ctx, event{Key: "k", At: "1"}); return err },
			"BatchPut": func(ctx context.Context) error {
				return views.BatchPut(ctx, []event{{Key: "k", At: "1"}, {Key: "k", At: "2"}, {Key: "k", At: "3"}})
			},
			"Count": func(ctx context.Context) error { _, err := views.Count(ctx, heatsink.Query{Key: "k"}); return err },
			"Get":   func(ctx context.Context) error { _, err := views.Get(ctx, event{Key: "k", At: "1"}); return err },
			"transaction": func(ctx context.Context) error {
				part, err := views.TransactPut(ctx, event{Key: "k", At: "1"})
				if err != nil {
					return err
				}
				_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}},
					func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
				return err
			},
		}
		for name, do := range operations {
			var err error
			for range 100 { // until the partitions have nothing left
				if err = do(t.Context()); err != nil && !errors.Is(err, heatsink.ErrNotFound) {
					break
				}
			}
			if !heatsink.Throttled(err) || !heatsink.Throttled(fmt.Errorf("orders: %w", err)) {
				t.Errorf("%s: got not throttled for %v", name, err)
			}
			if lost := (&heatsink.UnknownOutcomeError{Err: err}); heatsink.Throttled(lost) {
				t.Errorf("%s: got throttled for %v, which may have happened", name, lost)
			}
			time.Sleep(time.Minute)
		}
		_, empty := views.Put(t.Context(), event{})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, late := views.Put(ended, event{Key: "k", At: "1"})
		for _, err := range []error{nil, empty, late, heatsink.ErrNotFound} {
			if heatsink.Throttled(err) {
				t.Errorf("got throttled for %v", err)
			}
		}
	})
}
