package heatsink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/local"
)

// TestMovableTransactions moves units from account to account at each stage of a move, with accounts that have moved and others that
// have not. The sum stays, a part that is refused cancels all, and the reasons are in the order of the parts.
func TestMovableTransactions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t)
		ctx := context.Background()
		const accounts = 24
		id := func(i int) string { return fmt.Sprintf("%02d", i%accounts) }
		for i := range accounts {
			if _, err := c.Put(ctx, ov("pk", "k", "sk", id(i), "units", 100)); err != nil {
				t.Fatal(err)
			}
		}
		add := func(id string, units int) types.TransactWriteItem {
			t.Helper()
			part, err := c.TransactUpdate(ctx, ov("pk", "k", "sk", id), func(u *types.Update) {
				u.UpdateExpression, u.ConditionExpression = aws.String("ADD units :n"), aws.String("attribute_exists(pk) AND units >= :least")
				u.ExpressionAttributeValues = ov(":n", units, ":least", -units)
				u.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
			})
			if err != nil {
				t.Fatal(err)
			}
			return part
		}
		units := func(i int) (n int) {
			t.Helper()
			item, err := c.Get(ctx, ov("pk", "k", "sk", id(i)), func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
			if err != nil {
				t.Fatal(err)
			}
			fmt.Sscan(item["units"].(*types.AttributeValueMemberN).Value, &n)
			return n
		}
		m := mover{t, c}
		for round, stage := range append([]forward.Stage{{}}, stagesOfAMove...) {
			if round > 0 {
				next := &sixteen
				if stage.Phase != forward.Split {
					next = nil
				}
				m.enter(stage, next)
			}
			for i := range accounts {
				if stage.Phase == forward.Split && i%3 == 0 || stage.Phase == forward.Closed {
					m.move("k", id(i))
				}
				from, to := units(i), units(i+1)
				var tx Transaction
				tx.Add(c, add(id(i), -7), add(id(i+1), 7))
				tx.Add(nil, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("items"), Item: ov("pk", "log", "sk", fmt.Sprint(round, i))}})
				if err := tx.Write(ctx); err != nil {
					t.Fatalf("%v: %v", stage, err)
				}
				if a, b := units(i), units(i+1); a != from-7 || b != to+7 {
					t.Fatalf("%v: %d and %d after 7 units went from %d to %d", stage, a, b, from, to)
				}

				var over Transaction
				over.Add(c, add(id(i), 1000), add(id(i+1), -1000))
				err := over.Write(ctx)
				canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
				if !ok || len(canceled.CancellationReasons) != 2 || aws.ToString(canceled.CancellationReasons[1].Code) != "ConditionalCheckFailed" {
					t.Fatalf("%v: 1,000 units from an account that has less: %v", stage, err)
				}
				item := canceled.CancellationReasons[1].Item
				if item["pk"].(*types.AttributeValueMemberS).Value != "k" || len(item) != 3 {
					t.Fatalf("%v: the item of the reason is %v", stage, item)
				}
				if units(i) != from-7 {
					t.Fatalf("%v: a transaction that was cancelled has changed an account", stage)
				}
			}
			time.Sleep(63 * time.Minute)
		}
		out, err := client.Query(ctx, &dynamodb.QueryInput{TableName: aws.String("items"), KeyConditionExpression: aws.String("pk = :k"), ExpressionAttributeValues: ov(":k", "log")})
		if err != nil || out.Count != 6*accounts {
			t.Errorf("%d items of other parts, want %d: %v", out.Count, 6*accounts, err)
		}
	})
}

// TestMovablePartsAreNotSentAlone shows that a part of a movable collection is refused unless a Transaction sends it.
func TestMovablePartsAreNotSentAlone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t)
		ctx := context.Background()
		put, err := c.TransactPut(ctx, ov("pk", "k", "sk", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put}}); err == nil {
			t.Error("the SDK has sent a part of a movable collection, which names no home")
		}
		var empty Transaction
		if err := empty.Write(ctx); !errors.Is(err, ErrOptions) {
			t.Errorf("a transaction without parts: %v, want ErrOptions", err)
		}
		var twice Transaction
		twice.Add(c, put, put)
		if err := twice.Write(ctx); err == nil || !strings.Contains(err.Error(), "multiple operations on one item") {
			t.Errorf("two parts on one item: %v", err)
		}
		other, err := Open[Item](client, movables(func(o *Options) { o.Table, o.Name = "others", "others" }))
		if err != nil {
			t.Fatal(err)
		}
		var wrong Transaction
		wrong.Add(other, put)
		if err := wrong.Write(ctx); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "which has not made it: make it with the collection") {
			t.Errorf("a part of another collection: %v", err)
		}
		fixed, err := Open[Item](local.Start(t).Client(), Options{Table: "items", PartitionKey: "pk", SortKey: "sk"})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := fixed.TransactPut(ctx, ov("pk", "other", "sk", "a"))
		if err != nil {
			t.Fatal(err)
		}
		var both Transaction
		both.Add(c, put)
		both.Add(fixed, plain)
		if err := both.Write(ctx); err != nil {
			t.Error(err)
		}
	})
}
