package heatsink

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

// A strong Count notices that a ledger was deleted, also in a process that never saw it: the items that it does find say so.
func TestAdaptiveCountNoticesLoss(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	ctx := t.Context()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	open := func() *Collection[Item] {
		c, err := Open[Item](db.Client(), Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Adaptive: &Adaptive{}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	writer := open()
	if _, err := writer.Ledgers().Grow(ctx, "k", time.Time{}, 8, "a test"); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if _, err := writer.Put(ctx, Item{"pk": text("k"), "sk": text(fmt.Sprintf("%03d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	strong := Query{Key: "k", Consistent: true}
	if n, err := open().Count(ctx, strong); n != 100 || err != nil {
		t.Errorf("before: got %d, %v, want 100", n, err)
	}
	_, err := db.Client().DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String("orders"), Key: Item{"pk": text("_hs#L#table##k"), "sk": text("-")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := open().Count(ctx, strong); !errors.Is(err, ErrLedgerLost) {
		t.Errorf("got %d, %v, want ErrLedgerLost", n, err)
	}
	if e, err := open().Distribution(ctx, strong); !errors.Is(err, ErrLedgerLost) {
		t.Errorf("got %v, %v, want ErrLedgerLost", e, err)
	}
}
