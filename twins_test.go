package heatsink

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// moving is a client whose items are moved to their shards between the read of the bare key and the reads of the shards.
type moving struct {
	*dynamodb.Client
	move  func()
	once  sync.Once
	moved chan struct{}
}

func (m *moving) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	bare := false
	for _, v := range in.ExpressionAttributeValues {
		if s, ok := v.(*types.AttributeValueMemberS); ok && s.Value == "OPEN" {
			bare = true
		}
	}
	if !bare {
		<-m.moved
		return m.Client.Query(ctx, in, o...)
	}
	out, err := m.Client.Query(ctx, in, o...)
	m.once.Do(func() { m.move(); close(m.moved) })
	return out, err
}

// An item that moves while it is listed is listed once, with and without a limit, by items that share a sort key, too.
func TestItemsThatMoveAreListedOnce(t *testing.T) {
	for _, limit := range []int{0, 100, 25} {
		for _, sorts := range []int{1, 3, 20} {
			client := onItems(t, byIndex(false))
			options := Options{
				Table: "items", PartitionKey: "id", Index: Index{Name: "listing", PartitionKey: "pk", SortKey: "sk"},
				Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Older: []layout.Layout{{}},
			}
			fixed, err := Open[Item](client, options)
			if err != nil {
				t.Fatal(err)
			}
			var all []Item
			for i := range 20 {
				item := Item{"id": text(fmt.Sprint("i", i)), "pk": text("OPEN"), "sk": text(fmt.Sprint(i % sorts))}
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
					t.Fatal(err)
				}
				all = append(all, item)
			}
			m := &moving{Client: client, moved: make(chan struct{})}
			m.move = func() {
				if err := fixed.BatchPut(context.Background(), all); err != nil {
					t.Error(err)
				}
			}
			c, err := Open[Item](m, options)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]int{}
			q := Query{Key: "OPEN", Limit: limit}
			if limit == 0 {
				for item, err := range c.Query(t.Context(), q) {
					if err != nil {
						t.Fatal(err)
					}
					seen[item["id"].(*types.AttributeValueMemberS).Value]++
				}
			} else {
				for token := ""; ; {
					page, err := c.Page(t.Context(), q, token)
					if err != nil {
						t.Fatal(err)
					}
					inPage := map[string]bool{}
					for _, item := range page.Items {
						id := item["id"].(*types.AttributeValueMemberS).Value
						if inPage[id] {
							t.Errorf("limit %d, %d sort keys: %s is twice in a page", limit, sorts, id)
						}
						inPage[id] = true
						seen[id]++
					}
					if token = page.Next; token == "" {
						break
					}
				}
			}
			if len(seen) != 20 {
				t.Errorf("limit %d, %d sort keys: %d items are listed, want 20", limit, sorts, len(seen))
			}
			for id, n := range seen {
				if n > 1 && limit != 25 { // two pages may both have an item
					t.Errorf("limit %d, %d sort keys: %s is listed %d times", limit, sorts, id, n)
				}
			}
		}
	}
}
