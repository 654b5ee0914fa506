package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// A page through a local index that fetches whole items ends at a megabyte of
// those, not of the index's small entries.
func TestFetchedItemsFillAPage(t *testing.T) {
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx := context.Background()
	keys := func(sort string) []engine.KeyElement {
		return []engine.KeyElement{{AttributeName: "pk", KeyType: "HASH"}, {AttributeName: sort, KeyType: "RANGE"}}
	}
	_, err = e.CreateTable(ctx, &engine.CreateTableInput{
		TableName:            new("big"),
		AttributeDefinitions: []engine.AttributeDefinition{{"pk", "S"}, {"sk", "S"}, {"other", "S"}},
		HasDefinitions:       true,
		KeySchema:            keys("sk"), HasKeySchema: true,
		LocalIndexes: []engine.IndexInput{{
			IndexName: new("by-other"), KeySchema: keys("other"), HasKeySchema: true,
			Projection: &engine.Projection{Type: new("KEYS_ONLY")},
		}},
		HasLocalIndexes: true,
		BillingMode:     new("PAY_PER_REQUEST"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, sk := range []string{"a", "b", "c", "d", "e", "f"} {
		_, err := e.PutItem(ctx, &engine.PutItemInput{
			TableName: new("big"), HasItem: true,
			Item: attr.NewItem(
				attr.Field{Name: "pk", Value: attr.String("p")}, attr.Field{Name: "sk", Value: attr.String(sk)},
				attr.Field{Name: "other", Value: attr.String(sk)}, attr.Field{Name: "body", Value: attr.String(strings.Repeat("x", 390_000))}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	in := &engine.ReadInput{
		TableName: new("big"), IndexName: new("by-other"), Select: "ALL_ATTRIBUTES",
		Expressions: engine.Expressions{
			KeyCondition: new("pk = :p"), HasValues: true,
			Values: attr.NewItem(attr.Field{Name: ":p", Value: attr.String("p")}),
		},
	}
	var pages []int
	for {
		out, err := e.Query(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, len(out.Items))
		if out.LastEvaluatedKey == nil {
			break
		}
		in.ExclusiveStartKey, in.HasStartKey = out.LastEvaluatedKey, true
	}
	if len(pages) != 3 || pages[0] != 3 || pages[1] != 3 || pages[2] != 0 {
		t.Errorf("got pages of %v items, want 3, 3 and the end", pages)
	}
}
