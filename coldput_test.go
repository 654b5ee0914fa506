package heatsink

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// asking notes which PutItem requests ask for what they consume.
type asking struct {
	*dynamodb.Client
	puts, asked int
}

func (c *asking) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.puts++
	if in.ReturnConsumedCapacity != "" {
		c.asked++
	}
	return c.Client.PutItem(ctx, in, o...)
}

// A Put of a cold key sends what the bare SDK sends. Only a hot key's asks for what it consumes, for the law.
func TestColdPutsAskForNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		client := &asking{Client: db.Client()}
		c, err := Open[Item](client, Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Adaptive: &Adaptive{}})
		if err != nil {
			t.Fatal(err)
		}
		put := func(n int) {
			item := Item{"pk": &types.AttributeValueMemberS{Value: "k"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(n)}}
			if _, err := c.Put(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		put(0) // creates the charter
		client.puts, client.asked = 0, 0
		for n := range 20 {
			put(n)
			time.Sleep(100 * time.Millisecond)
		}
		if client.puts != 20 || client.asked != 0 {
			t.Errorf("a cold key: %d of %d puts ask for what they consume, want none of 20", client.asked, client.puts)
		}
		for n := range 1000 {
			put(n)
			time.Sleep(time.Millisecond)
		}
		if client.asked < 900 {
			t.Errorf("a hot key: %d of 1000 puts ask for what they consume, want most", client.asked)
		}
	})
}
