package place

import (
	"errors"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/layout"
)

// An update may set what an item's place is worked out from to what like has, and to nothing else.
func TestCheckAssignments(t *testing.T) {
	calculated := layout.Layout{Shards: 8, Strategy: layout.Calculated}
	byUser := options{Layout: calculated, ShardBy: []string{"user"}}
	byDay := options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}}
	index := options{Index: "listing", TableKey: []string{"id"}, Layout: calculated, ShardBy: []string{"user"}, ShardAttribute: "shard"}
	like := ov("pk", "k", "sk", "1", "id", "i", "user", "u1", "at", "2026-06-22T08:00:00Z")
	values := ov(":u1", "u1", ":u2", "u2", ":evening", "2026-06-22T20:00:00Z", ":tomorrow", "2026-06-23T08:00:00Z")
	for _, c := range []struct {
		options    options
		like       Item
		expression string
		refused    string // the attribute, "" if it is accepted
	}{
		{byUser, like, "SET n = :u1", ""},
		{byUser, like, "SET pk = :u1", ""}, // for DynamoDB to refuse
		{byUser, like, "SET n = :u1, user = :u2", "user"},
		{byUser, like, "SET user = :u1", ""},
		{byUser, like, "SET user = if_not_exists(user, :u1)", ""},
		{byUser, like, "REMOVE user", "user"},
		{byUser, like, "SET user.x = :u1", "user"},
		{byUser, ov("pk", "k", "sk", "1"), "SET user = :u1", "user"},
		{options{Layout: layout.Layout{Shards: 8}, ShardBy: []string{"user"}}, like, "SET user = :u2", ""},
		{byDay, like, "SET at = :evening", ""},
		{byDay, like, "SET at = :tomorrow", "at"},
		{byDay, like, "SET at = :u1", "at"},
		{byDay, like, "ADD at :u1", "at"},
		{index, like, "SET pk = :u1", "pk"},
		{index, like, "SET shard = :u1", "shard"},
		{index, like, "REMOVE sk", "sk"},
		{index, like, "SET user = :u1", ""},
		{index, like, "SET user = if_not_exists(user, :u1)", "user"}, // the item that is there may have another
		{index, ov("id", "i"), "SET user = :u1", "user"},
		{index, ov("id", "i"), "REMOVE pk SET user = :u2", ""}, // taken off the list
	} {
		err := schemaOf(c.options).CheckAssignments(compose.Assignments(c.expression, nil, values), c.like)
		if c.refused == "" && err != nil || c.refused != "" && (!errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `changes "`+c.refused+`"`)) {
			t.Errorf("%s with like %s: got %v, want %q to be refused", c.expression, showItem(c.like), err, c.refused)
		}
	}
}
