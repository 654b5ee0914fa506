package heatsink

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// The client's own middleware, which is how tracing and metrics get into the SDK, sees every request.
func TestMiddlewareSeesEveryRequest(t *testing.T) {
	var mu sync.Mutex
	seen := make(map[string]int)
	watch := middleware.InitializeMiddlewareFunc("watch", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		mu.Lock()
		seen[middleware.GetOperationName(ctx)]++
		mu.Unlock()
		return next.HandleInitialize(ctx, in)
	})
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := db.Client(func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(watch, middleware.Before)
		})
	})
	c := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	var meter Meter
	ctx := WithMeter(bg, &meter)
	for _, sk := range []string{"a", "b", "c"} {
		if _, err := c.Put(ctx, ov("pk", "k", "sk", sk)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Get(ctx, ov("pk", "k", "sk", "a")); err != nil {
		t.Fatal(err)
	}
	if got, err := all(ctx, c, Query{Key: "k"}, "sk"); err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	if _, err := c.Delete(ctx, ov("pk", "k", "sk", "a")); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for operation, want := range map[string]int{"PutItem": 3, "GetItem": 1, "Query": 4, "DeleteItem": 1} {
		sum += want
		if seen[operation] != want {
			t.Errorf("%d times %s, want %d", seen[operation], operation, want)
		}
	}
	if n := meter.Cost().Requests; n != sum {
		t.Errorf("the meter counts %d requests, want %d", n, sum)
	}
}
