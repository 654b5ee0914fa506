package heatsink

import (
	"context"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
)

// As Get does, Update and Delete pass over copies that have expired.
func TestLocateSkipsExpired(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		past := int(time.Now().Add(-time.Hour).Unix())
		load(t, client, "items", []Item{
			ov("pk", "a#SHARD_0", "sk", "1", "ttl", past), ov("pk", "a#SHARD_2", "sk", "1", "n", 1),
			ov("pk", "b#SHARD_0", "sk", "1", "ttl", past), ov("pk", "b", "sk", "1", "n", 1),
		})
		random := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}, TTL: "ttl"})
		moved := openItems(t, client, Options{Layout: layout.Layout{Shards: 1, Strategy: layout.Calculated}, Older: []layout.Layout{{}}, TTL: "ttl"})
		for key, c := range map[string]struct {
			items *Collection[Item]
			in    string
			again error
		}{
			"a": {random, "a#SHARD_2", ErrNotFound},
			"b": {moved, "b", nil},
		} {
			like := ov("pk", key, "sk", "1")
			if w, err := c.items.Update(ctx, like, expression("ADD n :one", ":one", 1)); err != nil || w.ShardKey != c.in {
				t.Errorf("update: got %q, %v, want %s", w.ShardKey, err, c.in)
			}
			got, err := c.items.Get(ctx, like)
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "read", got, ov("pk", key, "sk", "1", "n", 2))
			if w, err := c.items.Delete(ctx, like); err != nil || w.ShardKey != c.in {
				t.Errorf("delete: got %q, %v, want %s", w.ShardKey, err, c.in)
			}
			if _, err := c.items.Get(ctx, like); err != ErrNotFound {
				t.Errorf("read again: got %v, want ErrNotFound", err)
			}
			if _, err := c.items.Delete(ctx, like); err != c.again {
				t.Errorf("deleted again: got %v, want %v", err, c.again)
			}
		}
	})
}
