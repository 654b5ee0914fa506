package heatsink

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/layout"
)

// TestMovableUpdatesOnce shows that an update which is not idempotent is not sent again after its answer was lost.
func TestMovableUpdatesOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t)
		ctx := context.Background()
		like := ov("pk", "k", "sk", "a")
		if _, err := c.Put(ctx, ov("pk", "k", "sk", "a", "n", 1)); err != nil {
			t.Fatal(err)
		}
		unlucky, err := Open[Item](faulty.On(t, client, faulty.Script(faulty.LostAnswer).Of("UpdateItem")), movables())
		if err != nil {
			t.Fatal(err)
		}
		_, err = unlucky.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression, in.ExpressionAttributeValues = aws.String("ADD n :one"), ov(":one", 1)
		})
		if _, unknown := errors.AsType[*UnknownOutcomeError](err); !unknown {
			t.Errorf("got %v, want an UnknownOutcomeError", err)
		}
		got, err := c.Get(ctx, like, func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
		if err != nil || got["n"].(*types.AttributeValueMemberN).Value != "2" {
			t.Errorf("%v after one ADD whose answer was lost: %v", got, err)
		}
	})
}

// TestMovableBatchGetBeginsAgain shows that a BatchGet whose lease is over reads its items one by one.
func TestMovableBatchGetBeginsAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t)
		ctx := context.Background()
		if _, err := c.Put(ctx, ov("pk", "k", "sk", "a", "v", "x")); err != nil {
			t.Fatal(err)
		}
		slow, err := Open[Item](slowBatches{client}, movables())
		if err != nil {
			t.Fatal(err)
		}
		got, err := slow.BatchGet(ctx, []Item{ov("pk", "k", "sk", "a")})
		if err != nil || len(got) != 1 || got[0]["v"] == nil {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// slowBatches is a client that takes two minutes before it signs a BatchGetItem.
type slowBatches struct{ *dynamodb.Client }

func (c slowBatches) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	time.Sleep(2 * time.Minute)
	return c.Client.BatchGetItem(ctx, in, o...)
}

// TestMovableDecode shows that stored items of both layouts of a move are decoded, and what a move leaves behind is not an item.
func TestMovableDecode(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		format, err := layout.ParseFormat("{key}|{shard}")
		if err != nil {
			t.Fatal(err)
		}
		next := layout.Layout{Strategy: layout.Calculated, Shards: 4, Format: format}
		c, client := openMovable(t, func(o *Options) { o.Layout = sixteen })
		ctx := context.Background()
		for _, id := range []string{"a", "b"} {
			if _, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", "x")); err != nil {
				t.Fatal(err)
			}
		}
		m := mover{t, c}
		m.enter(forward.Stage{Phase: forward.Split}, &next)
		m.move("k", "a")
		out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("items"), ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]int{}
		for _, stored := range out.Items {
			item, place, err := c.Decode(stored)
			switch {
			case errors.Is(err, ErrNotFound): // control items, and the stub of a
				keys["none"]++
			case err != nil || place.Key != "k" || item["pk"].(*types.AttributeValueMemberS).Value != "k" || len(item) != 3:
				t.Errorf("%v: got %v at %v, %v", stored, item, place, err)
			default:
				keys[item["sk"].(*types.AttributeValueMemberS).Value]++
			}
		}
		if keys["a"] != 1 || keys["b"] != 1 || keys["none"] != 3 {
			t.Errorf("decoded %v", keys)
		}
	})
}

// TestMovablePageThatIsCut shows that a page which MaxRequests cuts short has a Next, with which the rest comes.
func TestMovablePageThatIsCut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, _ := openMovable(t)
		ctx := context.Background()
		for i := range 400 {
			if _, err := c.Put(ctx, ov("pk", "k", "sk", fmt.Sprintf("%03d", i), "rest", i%20)); err != nil {
				t.Fatal(err)
			}
		}
		all, cut := 0, 0
		for token := ""; ; {
			page, err := c.Page(ctx, Query{Key: "k", Limit: 15, MaxRequests: 2, Filter: "rest = :none", Values: ov(":none", 0)}, token)
			if err != nil {
				t.Fatal(err)
			}
			all += len(page.Items)
			if token = page.Next; token == "" {
				break
			}
			if len(page.Items) < 15 {
				cut++
			}
		}
		if all != 20 || cut == 0 {
			t.Errorf("%d items, and %d pages were cut short: want 20, and some", all, cut)
		}
	})
}
