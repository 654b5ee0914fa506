package ratelimit

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// A table may be that of an adaptive collection as well: limits count their own items only, a Reset leaves the others, and
// no limit has the key of a control item.
func TestTableOfAnAdaptiveCollection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		options := Options{Table: "limits", Limit: 3, Window: time.Hour, Shards: 2}
		if err := Setup(t.Context(), client, options); err != nil {
			t.Fatal(err)
		}
		orders, err := heatsink.Open[heatsink.Item](client, heatsink.Options{
			Table: "limits", PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{},
		})
		if err != nil {
			t.Fatal(err)
		}
		before, err := orders.Ledgers().Grow(t.Context(), "k", time.Time{}, 8, "a test")
		if err != nil {
			t.Fatal(err)
		}
		item := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: "k"}, "sk": &types.AttributeValueMemberS{Value: "1"}}
		if _, err := orders.Put(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		limiter, err := Open(client, options)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for i := range 4 {
				if d, err := limiter.Allow(t.Context(), "k"); err != nil || d.Allowed != (i < 3) {
					t.Errorf("check %d: got %+v, %v", i, d, err)
				}
			}
			if err := limiter.Reset(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}
		after, err := orders.Ledgers().Show(t.Context(), "k", time.Time{})
		if err != nil || after.Generation != before.Generation || after.Width != before.Width {
			t.Errorf("the ledger is %+v, %v, want %+v", after, err, before)
		}
		if n, err := orders.Count(t.Context(), heatsink.Query{Key: "k", Consistent: true}); err != nil || n != 1 {
			t.Errorf("counted %d orders, %v, want 1", n, err)
		}
		options.Prefix = "_hs#C#"
		if _, err := Open(client, options); !errors.Is(err, ErrOptions) {
			t.Errorf("a prefix of control items: got %v", err)
		}
	})
}
