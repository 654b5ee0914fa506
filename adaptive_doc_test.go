package heatsink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// controlled returns a client that takes note of the operations which name a control item.
func controlled(db *local.DB, seen *sync.Map) *dynamodb.Client {
	return db.Client(func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("controlled", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				if text, err := json.Marshal(in.Parameters); err != nil || strings.Contains(string(text), layout.ControlPrefix) {
					seen.Store(middleware.GetOperationName(ctx), true)
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.Before)
		})
	})
}

// The IAM policy of docs/adaptive.md has the actions that control items take, no more and no fewer: those of a key that is cold,
// gets hot, grows, and is read, frozen and repaired.
func TestAdaptivePolicy(t *testing.T) {
	page, err := os.ReadFile("docs/adaptive.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	var policy struct{ Statement []struct{ Action []string } }
	if err := json.Unmarshal([]byte(text), &policy); err != nil || len(policy.Statement) != 1 {
		t.Fatalf("%v in %s", err, text)
	}
	var seen sync.Map
	bubble.Test(t, func(t *testing.T) { useControlItems(t, &seen) })
	var got []string
	seen.Range(func(operation, _ any) bool {
		got = append(got, "dynamodb:"+operation.(string))
		return true
	})
	slices.Sort(got)
	if want := policy.Statement[0].Action; !slices.Equal(got, want) {
		t.Errorf("control items took %v, and the policy allows %v", got, want)
	}
}

// useControlItems does everything that a process does with control items, but list them.
func useControlItems(t *testing.T, seen *sync.Map) {
	db, err := local.New(local.Options{Physics: &local.Physics{OnDemandPartitions: 40, NoSplits: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	createOrders(t, db.Client())
	ctx := t.Context()
	grown := false
	c, err := Open[Item](controlled(db, seen), Options{
		Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Strategy: layout.Calculated},
		Adaptive: &Adaptive{Decided: func(_ context.Context, d Decision) { grown = grown || d.Reason == "grow" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	item := func(i int) Item {
		return Item{"pk": text("k"), "sk": text(fmt.Sprint(i)), "body": text(strings.Repeat("x", 8000))}
	}
	var puts sync.WaitGroup
	for i := range 3000 { // 4,000 units a second, for six seconds
		puts.Go(func() { c.Put(ctx, item(i)) })
		time.Sleep(2 * time.Millisecond)
	}
	puts.Wait()
	if !grown {
		t.Error("the key has not grown")
	}
	like := item(2999)
	set := func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET body = :b"), Item{":b": text("y")}
	}
	done := map[string]error{}
	done["BatchPut"] = c.BatchPut(ctx, []Item{item(5000), item(5001)})
	_, done["Get"] = c.Get(ctx, like)
	_, done["Update"] = c.Update(ctx, like, set)
	_, done["Count"] = c.Count(ctx, Query{Key: "k", Consistent: true})
	_, done["Page"] = c.Page(ctx, Query{Key: "k", Limit: 10}, "")
	_, done["Delete"] = c.Delete(ctx, like)
	_, done["Freeze"] = c.Ledgers().Freeze(ctx, "k", time.Time{}, "a test")
	_, done["Repair"] = c.Ledgers().Repair(ctx, "k", time.Time{}, 16, "a test")
	done["Rewrite"] = c.Ledgers().Rewrite(ctx)
	if err := errors.Join(slices.Collect(maps.Values(done))...); err != nil {
		t.Error(err)
	}
}
