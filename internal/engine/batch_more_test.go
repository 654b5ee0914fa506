package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// A BatchGetItem asks once before it returns more than a megabyte, and leaves the
// rest unprocessed if there is no room.
func TestBatchGetItemAsksForMore(t *testing.T) {
	e := openEngine(t, Options{})
	name := "items"
	createTable(t, e, newTableInput(name, "pk:S"))
	var keys []attr.Item
	for i := range 60 { // more than a batch may return
		key := attr.Field{Name: "pk", Value: attr.String(fmt.Sprint(i))}
		keys = append(keys, attr.Item{key})
		item := attr.Item{key, {Name: "v", Value: attr.String(strings.Repeat("x", 300<<10))}}
		if _, err := e.PutItem(t.Context(), &PutItemInput{TableName: &name, Item: item, HasItem: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name              string
		keys              int
		more              bool
		returned, askedOf int
	}{
		{"little", 3, false, 3, 0},
		{"no room", 10, false, 3, 1},
		{"room", 10, true, 10, 1},
		{"more than there is ever room for", 60, true, maxBatchGetBytes / (300<<10 + 100), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			out, err := e.BatchGetItem(t.Context(), &BatchGetItemInput{
				Tables: []BatchGetTable{{TableName: name, Keys: keys[:c.keys]}},
				More: func(context.Context) bool {
					asked++
					return c.more
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			left := 0
			for _, u := range out.Unprocessed {
				left += len(u.Keys)
			}
			if got := len(out.Responses[0].Items); got != c.returned || left != c.keys-c.returned || asked != c.askedOf {
				t.Errorf("got %d items and %d unprocessed after asking %d times, want %d, %d, %d",
					got, left, asked, c.returned, c.keys-c.returned, c.askedOf)
			}
		})
	}
}
