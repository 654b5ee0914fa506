package move_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// A move puts every item where a Put of the present layout would, from whatever layout it comes, and costs what was forecast.
func TestRunMovesBetweenLayouts(t *testing.T) {
	day := layout.Layout{Shards: 4, Strategy: layout.Calculated, Bucket: layout.Day}
	layouts := map[string]layout.Layout{
		"unsharded":        {},
		"4 shards":         {Shards: 4, Strategy: layout.Calculated},
		"16 shards":        sixteen,
		"16 shards by fnv": {Shards: 16, Strategy: layout.Calculated, Hash: layout.FNV},
		"spelt otherwise":  {Shards: 8, Strategy: layout.Calculated, Format: layout.SharpNumber()},
		"bare zero":        {Shards: 8, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}},
		"daily":            day,
		"hourly":           {Bucket: layout.Hour},
	}
	for from, before := range layouts {
		for to, now := range layouts {
			if from == to {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				db := start(t)
				client := db.Client()
				fill(t, client, collection(before), 150, 1400)
				put(t, client, "unlisted", "x", func(item heatsink.Item) { delete(item, "status") })
				m := mover(t, client, move.Options{Collection: collection(now, before), From: []layout.Layout{before}, RCU: 1e5, WCU: 1e5})
				forecast, err := m.Plan(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				result, err := m.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if forecast.Moves != result.Moved || result.Late != 0 || result.Right != 150 || result.Passes != 2 {
					t.Errorf("forecast %+v, result %+v", forecast, result)
				}
				if math.Abs(forecast.WriteUnits-result.WriteUnits) > 0.001 || math.Abs(forecast.ReadUnits-result.ReadUnits) > 0.1*result.ReadUnits {
					t.Errorf("forecast %v and %v write and read units, consumed %v and %v",
						forecast.WriteUnits, forecast.ReadUnits, result.WriteUnits, result.ReadUnits)
				}
				report, err := m.Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != 150 || report.Scanned != 151 {
					t.Errorf("verified %+v, %v", report, err)
				}
				got := stored(t, client)
				for i := range 150 {
					id := fmt.Sprintf("o%05d", i)
					at, err := time.Parse(time.RFC3339, created0(i))
					if err != nil {
						t.Fatal(err)
					}
					want, err := now.ShardKey([]string{"OPEN", "CLOSED"}[i%2], at, now.Shard(id))
					if err != nil || got[id] != want {
						t.Fatalf("%s is listed under %q, want %q: %v", id, got[id], want, err)
					}
				}
				if len(got) != 151 {
					t.Errorf("%d items, want 151", len(got))
				}
				again, err := m.Run(t.Context())
				if err != nil || again.Moved != 0 || again.WriteUnits != 0 {
					t.Errorf("the second run moved %d items: %v", again.Moved, err)
				}
			})
		}
	}
}

// Items of a Random layout, in any of its shards, are moved as well.
func TestRunMovesFromARandomLayout(t *testing.T) {
	client := start(t).Client()
	random := layout.Layout{Shards: 4}
	for i := range 40 {
		shard, err := random.ShardKey("OPEN", time.Time{}, i%4)
		if err != nil {
			t.Fatal(err)
		}
		put(t, client, fmt.Sprint("o", i), shard)
	}
	m := mover(t, client, move.Options{Collection: collection(sixteen, random)})
	result, err := m.Run(t.Context())
	if err != nil || result.Late != 0 || result.Right != 40 || result.Moved < 35 {
		t.Fatalf("%+v, %v", result, err)
	}
}

// Only the key or the prefix that was asked for is moved.
func TestRunMovesOnlyWhatWasAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		key, prefix string
		want        map[string]bool // by id: moved
	}{
		"key":    {key: "OPEN", want: map[string]bool{"a": true, "b": false, "c": false}},
		"prefix": {prefix: "OPEN", want: map[string]bool{"a": true, "b": true, "c": false}},
		"all":    {want: map[string]bool{"a": true, "b": true, "c": true}},
	} {
		t.Run(name, func(t *testing.T) {
			client := start(t).Client()
			put(t, client, "a", "OPEN")
			put(t, client, "b", "OPENED")
			put(t, client, "c", "CLOSED")
			m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), Key: test.key, Prefix: test.prefix})
			if _, err := m.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for id, status := range stored(t, client) {
				if moved := strings.Contains(status, "#SHARD_"); moved != test.want[id] {
					t.Errorf("%s is %q, want moved %t", id, status, test.want[id])
				}
			}
		})
	}
}

// An adaptive collection has each item where the present width of its key puts it, with the generation of its ledger.
func TestRunMovesToThePresentWidth(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{Shards: 4, Strategy: layout.Calculated}), 200, 10)
	now := collection(layout.Layout{Strategy: layout.Calculated}, layout.Layout{Shards: 4, Strategy: layout.Calculated})
	now.Adaptive = &heatsink.Adaptive{}
	c := open(t, client, now)
	if _, err := c.Ledgers().Grow(t.Context(), "OPEN", time.Time{}, 8, "test"); err != nil {
		t.Fatal(err)
	}
	before, changed := stored(t, client), 0
	m := mover(t, client, move.Options{Collection: now})
	result, err := m.Run(t.Context())
	if err != nil || result.Right != 200 || result.Late != 0 || result.Damaged() != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	want := layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}
	for id, status := range stored(t, client) {
		if layout.IsControl(id) {
			continue
		}
		shard := "CLOSED"
		if strings.HasPrefix(status, "OPEN") {
			if shard, err = want.ShardKey("OPEN", time.Time{}, want.Shard(id)); err != nil {
				t.Fatal(err)
			}
		}
		if status != shard {
			t.Errorf("%s is listed under %q, want %q", id, status, shard)
		}
		if shard != "CLOSED" && before[id] != shard {
			changed++
		}
	}
	now.Older = nil
	if err := open(t, client, now).Ledgers().Rewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(list(t, open(t, client, now), heatsink.Query{Key: "OPEN"})); got != 100 {
		t.Errorf("without the older layout, %d items are listed, want 100", got)
	}
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("orders"), FilterExpression: aws.String("attribute_exists(#g)"),
		ExpressionAttributeNames: map[string]string{"#g": "_hs_g"},
	})
	if err != nil || int(out.Count) != changed+1 { // and the ledger itself
		t.Errorf("%d items have a stamp, want %d: %v", out.Count, changed+1, err)
	}
	if _, err := c.Ledgers().Grow(t.Context(), "OPEN", time.Time{}, 16, "test"); err != nil {
		t.Fatal(err)
	}
	report, err := mover(t, client, move.Options{Collection: now, From: []layout.Layout{{}}}).Verify(t.Context())
	if err != nil || report.Narrower == 0 || report.Damaged() != 0 {
		t.Errorf("after growth: %+v, %v", report, err)
	}
}

// An index with a shard attribute gets the number of the shard, and the key stays as it is.
func TestRunSetsTheShardAttribute(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("shard"), AttributeType: "N"})
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String("byShard"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("shard", types.KeyTypeHash), key("created", types.KeyTypeRange)},
		})
	}).Client()
	fill(t, client, collection(layout.Layout{}), 50, 10)
	fill(t, client, collection(sixteen), 20, 10) // some are spelt with the shard
	now := collection(sixteen)
	now.Index = heatsink.Index{Name: "byShard", PartitionKey: "status", SortKey: "created", ShardAttribute: "shard"}
	m := mover(t, client, move.Options{Collection: now, From: []layout.Layout{{}, sixteen}})
	forecast, err := m.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result, err := m.Run(t.Context())
	if err != nil || result.Moved != 50 || result.Right != 50 || result.WriteUnits != forecast.WriteUnits {
		t.Fatalf("%+v, %v", result, err)
	}
	if got := len(list(t, open(t, client, now), heatsink.Query{Key: "OPEN"})); got != 25 {
		t.Errorf("%d items are listed, want 25", got)
	}
	put(t, client, "o00000", "OPEN", func(item heatsink.Item) { item["shard"] = number("99") })
	put(t, client, "o00001", "OPEN", func(item heatsink.Item) { item["shard"] = number(fmt.Sprint((sixteen.Shard("o00001") + 1) % 16)) })
	report, err := m.Verify(t.Context())
	if err != nil || report.Beyond != 1 || report.Misplaced != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// With Widths, items of all narrower widths are moved to the present one.
func TestRunMovesToWidths(t *testing.T) {
	client := start(t).Client()
	narrow := collection(layout.Layout{Strategy: layout.Calculated})
	narrow.Widths = layout.Width{Write: 4, Read: 16}
	fill(t, client, narrow, 100, 10)
	now := narrow
	now.Widths = layout.Width{Write: 16, Read: 16}
	m := mover(t, client, move.Options{Collection: now, From: []layout.Layout{{}}})
	before, err := m.Verify(t.Context())
	if err != nil || before.Narrower == 0 || before.Damaged() != 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	result, err := m.Run(t.Context())
	if err != nil || result.Moved != before.Narrower || result.Right != 100 {
		t.Errorf("%+v, %v", result, err)
	}
}

// Versions stay as they are: the writers of a collection with Version go on as if nothing had happened.
func TestRunKeepsVersions(t *testing.T) {
	client := start(t).Client()
	with := func(o heatsink.Options) heatsink.Options {
		o.Version, o.TTL, o.TTLAfter = "v", "ttl", time.Hour
		return o
	}
	fill(t, client, with(collection(layout.Layout{})), 30, 10)
	c := open(t, client, with(collection(layout.Layout{})))
	if _, err := c.Delete(t.Context(), order{ID: "o00000"}); err != nil {
		t.Fatal(err)
	}
	now := with(collection(sixteen, layout.Layout{}))
	result, err := mover(t, client, move.Options{Collection: now}).Run(t.Context())
	if err != nil || result.Moved != 29 || result.Right != 29 { // a tombstone is not listed
		t.Fatalf("%+v, %v", result, err)
	}
	moved := open(t, client, now)
	if _, err := moved.Update(t.Context(), order{ID: "o00002"}, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeNames = aws.String("SET #t = :t"), map[string]string{"#t": "text"}
		in.ExpressionAttributeValues = heatsink.Item{":t": text("changed")}
	}); err != nil {
		t.Fatal(err)
	}
	got, err := moved.Get(t.Context(), order{ID: "o00002"})
	if err != nil || got.Text != "changed" || got.Status != "OPEN" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := moved.Get(t.Context(), order{ID: "o00000"}); !errors.Is(err, heatsink.ErrNotFound) {
		t.Errorf("the deleted order: %v", err)
	}
}

// While items move, every order can be read by its id, each listing has an order once at most, and afterwards it has all of them.
func TestReadersWhileItemsMove(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 1000, 10)
	c := open(t, client, collection(sixteen, layout.Layout{}))
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	listings, gets := 0, 0
	readers.Go(func() {
		for ctx.Err() == nil {
			for id, n := range list(t, c, heatsink.Query{Key: "OPEN"}) {
				if n > 1 {
					t.Errorf("%s is listed %d times", id, n)
				}
			}
			listings++
		}
	})
	readers.Go(func() {
		for ctx.Err() == nil {
			id := fmt.Sprintf("o%05d", 2*(gets%500))
			if got, err := c.Get(context.Background(), order{ID: id}); err != nil || got.Status != "OPEN" {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
			gets++
		}
	})
	result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), WCU: 3000}).Run(t.Context())
	cancel()
	readers.Wait()
	if err != nil || result.Moved != 1000 {
		t.Fatalf("%+v, %v", result, err)
	}
	if listings < 2 || gets < 100 {
		t.Errorf("%d listings and %d gets are too few", listings, gets)
	}
	if got := len(list(t, c, heatsink.Query{Key: "OPEN"})); got != 500 {
		t.Errorf("%d orders are listed, want 500", got)
	}
}
