package heatsink

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/layout"
)

// A table without a sort key holds one item in each shard. What would lose items there is refused, and the rest is not.
func TestOptionsWithoutSortKey(t *testing.T) {
	calculated := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	by := []string{"part"}
	for _, c := range []struct {
		name    string
		options Options
		says    string // "": it opens
	}{
		{"random", Options{Layout: layout.Layout{Shards: 4}}, "Random layout with 4 shards needs a SortKey"},
		{"random, one per shard", Options{Layout: layout.Layout{Shards: 4}, OnePerShard: true}, "Random layout with 4 shards needs a SortKey"},
		{"random widths", Options{Widths: layout.Width{Write: 1, Read: 2}}, "Random layout with Widths needs a SortKey"},
		{"calculated", Options{Layout: calculated, ShardBy: by}, "set OnePerShard if that is intended"},
		{"calculated widths", Options{Layout: layout.Layout{Strategy: layout.Calculated}, ShardBy: by, Widths: layout.Width{Write: 2, Read: 2}}, "Calculated layout with Widths needs a SortKey"},
		{"calculated from nothing", Options{Layout: calculated, OnePerShard: true}, "needs ShardBy"},
		{"older calculated from nothing", Options{Older: []layout.Layout{calculated}}, "Older[0] is Calculated and has no sort key, so it needs ShardBy"},
		{"one per shard with a sort key", Options{SortKey: "sk", Layout: calculated, OnePerShard: true}, "leave OnePerShard out"},

		{"not spread", Options{}, ""},
		{"one shard", Options{Layout: layout.Layout{Shards: 1}}, ""},
		{"by day", Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}}, ""},
		{"parts", Options{Layout: calculated, ShardBy: by, OnePerShard: true}, ""},
		{"parts that grow", Options{Layout: calculated, ShardBy: by, OnePerShard: true, Widths: layout.Width{Write: 4, Read: 8}}, ""},
		{"index", Options{Index: Index{Name: "listing", PartitionKey: "status"}, Layout: calculated}, ""},
		{"sort key", Options{SortKey: "sk", Layout: layout.Layout{Shards: 4}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Table, c.options.PartitionKey = "items", "pk"
			_, err := Open[Item](&dynamodb.Client{}, c.options)
			if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// The parts of an item are read as one from a table without a sort key.
func TestOnePerShard(t *testing.T) {
	ctx := t.Context()
	client := onItems(t, func(in *dynamodb.CreateTableInput) {
		in.KeySchema, in.AttributeDefinitions = in.KeySchema[:1], in.AttributeDefinitions[:1]
	})
	spread := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	profiles := openItems(t, client, Options{SortKey: "-", Layout: spread, ShardBy: []string{"part"}, OnePerShard: true})
	shards := map[int]bool{}
	for i := 0; len(shards) < 4; i++ {
		part := fmt.Sprint(i)
		shards[spread.Shard(part)] = true
		if _, err := profiles.Put(ctx, ov("pk", "user", "part", part, fmt.Sprint("a", spread.Shard(part)), 1)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := profiles.GetMerged(ctx, ov("pk", "user"))
	if err != nil || got["a0"] == nil || got["a1"] == nil || got["a2"] == nil || got["a3"] == nil {
		t.Errorf("got %s, %v, want four parts", showItem(got), err)
	}
}

// Open says that Product is uneven, and nothing about other layouts.
func TestOpenWarnsOfProduct(t *testing.T) {
	product := layout.Layout{Shards: 200, Strategy: layout.Calculated, Hash: layout.Product}
	var ids []string
	for i := range 10_000 {
		ids = append(ids, fmt.Sprintf("order-%05d", i))
	}
	if e := product.Evenness(slices.Values(ids)); e.Max != len(ids) {
		t.Errorf("the fullest shard has %d of %d ids: the warning is out of date", e.Max, len(ids))
	}
	for name, c := range map[string]struct {
		options Options
		warns   bool
	}{
		"product":              {Options{Layout: product}, true},
		"product with widths":  {Options{Layout: product.WithShards(0), Widths: layout.Width{Write: 4, Read: 8}}, true},
		"product of one shard": {Options{Layout: product.WithShards(1)}, false},
		"random":               {Options{Layout: layout.Layout{Shards: 200, Hash: layout.Product}}, false},
		"xxhash":               {Options{Layout: layout.Layout{Shards: 200, Strategy: layout.Calculated}}, false},
		"older product":        {Options{Layout: layout.Layout{Shards: 200, Strategy: layout.Calculated, Format: layout.SharpNumber()}, Older: []layout.Layout{product}}, false},
	} {
		var log bytes.Buffer
		c.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		openItems(t, &dynamodb.Client{}, c.options)
		if warns := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "XXHash"); warns != c.warns || !c.warns && log.Len() > 0 {
			t.Errorf("%s: logged %q, want a warning: %t", name, &log, c.warns)
		}
	}
}
