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

// Requests of a BatchWriteItem that lack their item or key are told before the table is looked for.
func TestBatchWriteItemWantsItems(t *testing.T) {
	e := openEngine(t, Options{})
	const absent = "Value null at 'requestItems.tab.member.2.member.%s' failed to satisfy constraint: Member must not be null"
	for _, c := range []struct {
		bare BatchWrite
		want string
	}{
		{BatchWrite{Put: true, NoItem: true}, "1 validation error detected: " + fmt.Sprintf(absent, "putRequest.item")},
		{BatchWrite{Delete: true, NoKey: true}, "1 validation error detected: " + fmt.Sprintf(absent, "deleteRequest.key")},
		{
			BatchWrite{Put: true, NoItem: true, Delete: true, NoKey: true},
			"2 validation errors detected: " + fmt.Sprintf(absent, "deleteRequest.key") + "; " + fmt.Sprintf(absent, "putRequest.item"),
		},
	} {
		_, err := e.BatchWriteItem(t.Context(), &BatchWriteItemInput{Tables: []BatchWriteTable{{
			TableName: "tab", Writes: []BatchWrite{{Put: true, Item: fields("pk", "a")}, c.bare},
		}}})
		wantError(t, err, TypeValidation, c.want)
	}
}
