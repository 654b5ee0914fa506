package plan_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/plan"
	"github.com/heatsink-go/heatsink/replica"
)

// snippets are workloads whose plans come with a snippet, and the layout that it has to be.
var snippets = []struct {
	workload plan.Workload
	strategy plan.Strategy
	layout   layout.Layout
}{
	{plan.Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 1}, plan.Random, layout.Layout{Shards: 17}},
	{
		plan.Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 1, Existing: true},
		plan.Random,
		layout.Layout{Shards: 17, Format: layout.Format{BareZero: true}},
	},
	{
		plan.Workload{Key: "a\n\"b\"`", Writes: 5000, Existing: true, Names: plan.Names{Format: layout.DotFromOne(), Table: "t\"\n"}},
		plan.Random,
		layout.Layout{Shards: 17, Format: layout.Format{ShardPrefix: ".", First: 1, BareZero: true}},
	},
	{
		plan.Workload{Key: "ORDERS", Writes: 2000, Existing: true, Read: plan.Reading{Pattern: plan.Points}, Table: plan.Table{Partitions: 50}},
		plan.Calculated,
		layout.Layout{Shards: 6, Strategy: layout.Calculated},
	},
	{
		plan.Workload{Key: "OPS_LOG", Writes: 0.1, Existing: true, Read: plan.Reading{Pattern: plan.Times, Window: 7 * 24 * time.Hour}},
		plan.Bucketed,
		layout.Layout{Bucket: layout.Day},
	},
	{
		plan.Workload{Key: "EVENTS", Writes: 1500, Existing: true, Read: plan.Reading{Pattern: plan.Times, Window: time.Hour}, Names: plan.Names{Format: layout.SharpNumber()}},
		plan.BucketedShards,
		layout.Layout{Shards: 10, Bucket: layout.Hour, Format: layout.SharpNumber()},
	},
	{
		plan.Workload{Key: "EVENTS#7", Writes: 1500, Read: plan.Reading{Pattern: plan.Times, Window: time.Hour}, Names: plan.Names{Format: layout.Format{ShardPrefix: "/", First: 1, Width: 3, BucketPrefix: "@", HourMark: "-"}}},
		plan.BucketedShards,
		layout.Layout{Shards: 10, Bucket: layout.Hour, Format: layout.Format{ShardPrefix: "/", First: 1, Width: 3, BucketPrefix: "@", HourMark: "-"}},
	},
	{
		plan.Workload{Key: "tenant-456", Writes: 300, ItemsPerDay: 100, Unpredictable: true, Read: plan.Reading{Window: 28 * 24 * time.Hour}, Names: plan.Names{Format: layout.PlainNumber()}},
		plan.BucketedShards,
		layout.Layout{Shards: 5, Bucket: layout.Week, Format: layout.PlainNumber()},
	},
	{
		plan.Workload{Key: "THREAT#abc", Writes: 0.0003, Read: plan.Reading{Pattern: plan.Times, Window: 90 * 24 * time.Hour}},
		plan.Bucketed,
		layout.Layout{Bucket: layout.Month},
	},
	{
		plan.Workload{Key: "AUDIT", Writes: 0.00001, Read: plan.Reading{Pattern: plan.Times, Window: 3650 * 24 * time.Hour}},
		plan.Bucketed,
		layout.Layout{Bucket: layout.Year},
	},
	{
		plan.Workload{Key: "STATUS#ACTIVE", Writes: 2000, Reads: 1, Table: plan.Table{Index: true, Partitions: 50}, Names: plan.Names{Index: "StatusIndex", PartitionKey: "statusShard", SortKey: "id"}},
		plan.ShardedIndex,
		layout.Layout{Shards: 6, Strategy: layout.Calculated},
	},
	{
		plan.Workload{Key: "leaderboard#game-1", Writes: 2300, Processes: 100, Read: plan.Reading{Pattern: plan.Counters}, Table: plan.Table{Partitions: 40}, Names: plan.Names{Format: layout.PlainNumber()}},
		plan.Counter,
		layout.Layout{Shards: 10, Format: layout.PlainNumber()},
	},
	{
		plan.Workload{Key: "likes", Writes: 1e6, Processes: 100_000, Existing: true, Read: plan.Reading{Pattern: plan.Counters}},
		plan.Counter,
		layout.Layout{Shards: 1024},
	},
	{plan.Workload{Key: "POST#viral", Writes: 1, Reads: 20_000, Read: plan.Reading{Pattern: plan.Mostly, Stale: 1500 * time.Millisecond}}, plan.Cached, layout.Layout{}},
	{
		plan.Workload{Key: "POST#viral", Writes: 1, Reads: 20_000, Table: plan.Table{Partitions: 50}, Read: plan.Reading{Pattern: plan.Mostly, Stale: -1}},
		plan.Replicated,
		layout.Layout{Shards: 24}, // in a new table, however many partitions the item's has
	},
	{
		plan.Workload{Key: "POST#viral", Reads: 2e6, Table: plan.Table{Partitions: 5000}, Read: plan.Reading{Pattern: plan.Mostly, Stale: -1}},
		plan.Replicated,
		layout.Layout{Shards: 1000},
	},
}

// fatal is what is needed of a *testing.T or a *rapid.T.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// opens opens what the options of a recipe's snippet describe.
func opens(t fatal, p plan.Plan) {
	t.Helper()
	client := &dynamodb.Client{}
	var err error
	switch p.Strategy {
	case plan.Counter:
		_, err = counter.Open(client, evaluate[counter.Options](t, p.Snippet, "options"))
	case plan.Replicated:
		_, err = replica.Open[heatsink.Item](client, evaluate[replica.Options](t, p.Snippet, "options"))
	default:
		_, err = heatsink.Open[heatsink.Item](client, evaluate[heatsink.Options](t, p.Snippet, "options"))
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", p.Strategy, err, p.Snippet)
	}
}

func makePlan(t *testing.T, w plan.Workload) plan.Plan {
	t.Helper()
	p, err := plan.For(w)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The literal means what the plan says: its layout is the plan's, its keys are those of the comment, and it opens.
func TestSnippetsMeanWhatTheySay(t *testing.T) {
	for _, s := range snippets {
		p := makePlan(t, s.workload)
		t.Run(string(p.Strategy)+" "+s.workload.Key, func(t *testing.T) {
			if p.Strategy != s.strategy {
				t.Fatalf("got %s, want %s", p.Strategy, s.strategy)
			}
			if formatted, err := format.Source([]byte(p.Snippet)); err != nil || string(formatted) != p.Snippet {
				t.Errorf("not formatted, %v:\n%s\nwant:\n%s", err, p.Snippet, formatted)
			}
			switch p.Strategy {
			case plan.Cached:
				if !strings.Contains(p.Snippet, "TTL: 1500 * time.Millisecond") {
					t.Errorf("got %s", p.Snippet)
				}
				return
			case plan.Replicated:
				o := evaluate[replica.Options](t, p.Snippet, "options")
				if o.Copies != s.layout.Shards || o.Table != "items-copies" {
					t.Errorf("got %+v, want %d copies", o, s.layout.Shards)
				}
				opens(t, p)
				return
			case plan.Counter:
				o := evaluate[counter.Options](t, p.Snippet, "options")
				if o.Shards != s.layout.Shards || o.Format != s.layout.Format || o.Table != "items" || o.PartitionKey != "pk" || o.SortKey != "sk" {
					t.Errorf("got %+v, want %+v", o, s.layout)
				}
				opens(t, p)
				return
			}
			o := evaluate[heatsink.Options](t, p.Snippet, "options")
			if o.Layout != s.layout || max(o.Layout.Shards, 1) != p.Shards {
				t.Errorf("got %+v, want %+v, for %d shards", o.Layout, s.layout, p.Shards)
			}
			at := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
			for _, shard := range []int{0, p.Shards - 1} {
				key, err := o.Layout.ShardKey(s.workload.Key, at, shard)
				if err != nil || !strings.Contains(p.Snippet, strconv.Quote(key)) {
					t.Errorf("no %q, %v in\n%s", key, err, p.Snippet)
				}
			}
			db := local.Start(t)
			if _, err := heatsink.Open[heatsink.Item](db.Client(), o); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of many keys only the hot one gets shards: the others stay under their own key, and so do the items that it has.
func TestSnippetOfOneOfMany(t *testing.T) {
	p := makePlan(t, plan.Workload{Key: "TENANT#7", Writes: 3000, OneOfMany: true, Table: plan.Table{Partitions: 50}})
	if formatted, err := format.Source([]byte(p.Snippet)); err != nil || string(formatted) != p.Snippet {
		t.Errorf("not formatted, %v:\n%s", err, p.Snippet)
	}
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	before, err := heatsink.Open[heatsink.Item](db.Client(), heatsink.Options{Table: "items", PartitionKey: "pk", SortKey: "sk"})
	if err != nil {
		t.Fatal(err)
	}
	after, err := heatsink.Open[heatsink.Item](db.Client(), evaluate[heatsink.Options](t, p.Snippet, "options"))
	if err != nil {
		t.Fatalf("%v in\n%s", err, p.Snippet)
	}
	stored := make(map[string]bool)
	for i := range 200 {
		for _, key := range []string{"TENANT#7", "TENANT#8"} {
			item := func(n int) heatsink.Item {
				return heatsink.Item{"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(n)}}
			}
			if _, err := before.Put(t.Context(), item(i)); err != nil {
				t.Fatal(err)
			}
			put, err := after.Put(t.Context(), item(1000+i))
			if err != nil {
				t.Fatal(err)
			}
			stored[put.ShardKey] = true
		}
	}
	for _, key := range []string{"TENANT#7", "TENANT#8"} {
		n := 0
		for _, err := range after.Query(t.Context(), heatsink.Query{Key: key}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 400 {
			t.Errorf("%d items of %s, want 400", n, key)
		}
	}
	if len(stored) != p.Shards+1 || !stored["TENANT#8"] {
		t.Errorf("stored under %v, want %d shards of one key, and the other key", stored, p.Shards)
	}
}

// Whatever the workload is, its snippet opens.
func TestEverySnippetOpens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := plan.Workload{
			Writes: rapid.SampledFrom([]float64{1, 900, 1500, 20_000}).Draw(r, "writes"), Reads: rapid.SampledFrom([]float64{0, 1, 50_000}).Draw(r, "reads"),
			Throttles: rapid.SampledFrom([]int{0, 50}).Draw(r, "throttles"), Unpredictable: rapid.Bool().Draw(r, "unpredictable"),
			Existing: rapid.Bool().Draw(r, "existing"), Shards: rapid.SampledFrom([]int{0, 1, 4, 300}).Draw(r, "shards"),
			Read: plan.Reading{
				Pattern: rapid.SampledFrom([]plan.Pattern{plan.Points, plan.Times, plan.Lists, plan.Counters, plan.Mostly}).Draw(r, "pattern"),
				Stale:   rapid.SampledFrom([]time.Duration{0, -1}).Draw(r, "stale"),
			},
			Names: plan.Names{Format: rapid.SampledFrom([]layout.Format{{}, layout.SharpNumber(), layout.PlainNumber(), layout.DotFromOne(), {ShardPrefix: "/", Width: 3, BucketPrefix: "@", HourMark: "-"}}).Draw(r, "format")},
		}
		w.Table.Index = w.Read.Pattern != plan.Counters && rapid.Bool().Draw(r, "index")
		p := makePlan(t, w)
		if !strings.Contains(p.Snippet, "var options") {
			return
		}
		opens(r, p)
		if p.Strategy == plan.Counter || p.Strategy == plan.Replicated {
			return
		}
		o := evaluate[heatsink.Options](r, p.Snippet, "options")
		if max(o.Layout.Shards, 1) != p.Shards || (o.Index.Name != "") != w.Table.Index {
			r.Errorf("%s over %d shards, index %v:\n%s", p.Strategy, p.Shards, w.Table.Index, p.Snippet)
		}
	})
}

// What was there before a plan with Existing is found after it.
func TestSnippetsFindWhatExists(t *testing.T) {
	type item struct {
		Key string `dynamodbav:"pk"`
		At  string `dynamodbav:"sk"`
	}
	for _, s := range snippets {
		p := makePlan(t, s.workload)
		if !s.workload.Existing || s.workload.Names.Table != "" || p.Strategy == plan.Counter { // a counter's Origin names what exists
			continue
		}
		t.Run(string(p.Strategy), func(t *testing.T) {
			ctx, db := t.Context(), local.Start(t)
			o := evaluate[heatsink.Options](t, p.Snippet, "options")
			if err := db.CreateTable(ctx, o.Table, o.PartitionKey, o.SortKey); err != nil {
				t.Fatal(err)
			}
			old := "2026-06-21T23:00:00Z#1"
			_, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(o.Table), Item: heatsink.Item{
				"pk": &types.AttributeValueMemberS{Value: s.workload.Key}, "sk": &types.AttributeValueMemberS{Value: old},
			}})
			if err != nil {
				t.Fatal(err)
			}
			items, err := heatsink.Open[item](db.Client(), o)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{old}
			for i := range 5 {
				at := fmt.Sprintf("2026-06-22T01:00:0%dZ", i)
				if _, err := items.Put(ctx, item{s.workload.Key, at}); err != nil {
					t.Fatal(err)
				}
				want = append(want, at)
			}
			query := heatsink.Query{Key: s.workload.Key}
			if o.Layout.Bucket != layout.NoBucket {
				query.From, query.To = time.Date(2026, 6, 21, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 23, 0, 0, 0, 0, time.UTC)
			}
			var got []string
			for it, err := range items.Query(ctx, query) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, it.At)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// What was there before a plan for an observed key is found after it, whatever the key is one of, and so are other keys' items.
func TestSnippetsOfReportsFindWhatExists(t *testing.T) {
	const day = "#2026-11-18"
	shards := func(n int) (stored []string) {
		for i := range n {
			stored = append(stored, fmt.Sprintf("HOT#SHARD_%d", i))
		}
		return stored
	}
	for _, test := range []struct {
		name     string
		base     plan.Workload
		key      plan.KeyRate
		strategy plan.Strategy
		stored   []string // the keys under which there are 30 items each
		other    string   // a key with 2 items, which are found too
		declared string   // in the snippet
	}{
		{"a key", plan.Workload{}, plan.KeyRate{WriteUnits: 1500}, plan.Random, []string{"HOT"}, "", "BareZero: true"},
		{"one key of many", plan.Workload{}, plan.KeyRate{WriteUnits: 1500, OneOfMany: true}, plan.Random, []string{"HOT"}, "COLD", "Widths"},
		{"one of many, by id", plan.Workload{Read: plan.Reading{Pattern: plan.Points}}, plan.KeyRate{WriteUnits: 2500, OneOfMany: true}, plan.Calculated, []string{"HOT"}, "COLD", "Widths"},
		{"by id", plan.Workload{Read: plan.Reading{Pattern: plan.Points}}, plan.KeyRate{WriteUnits: 2500}, plan.Calculated, []string{"HOT"}, "COLD", "Older"},
		{"a bucket", plan.Workload{}, plan.KeyRate{WriteUnits: 1500, Bucket: layout.Day}, plan.BucketedShards, []string{"HOT" + day}, "COLD" + day, "Bucket: layout.Day, Format: layout.Format{BareZero: true}"},
		{"one bucket of many", plan.Workload{}, plan.KeyRate{WriteUnits: 1500, Bucket: layout.Day, OneOfMany: true}, plan.BucketedShards, []string{"HOT" + day}, "COLD" + day, "Widths"},
		{"shards in buckets", plan.Workload{}, plan.KeyRate{WriteUnits: 5000, Bucket: layout.Day, Shards: 2}, plan.BucketedShards, []string{"HOT" + day + "#SHARD_0", "HOT" + day + "#SHARD_1"}, "", "Bucket: layout.Day}"},
		{"an index", plan.Workload{Table: plan.Table{Index: true}}, plan.KeyRate{WriteUnits: 1500}, plan.ShardedIndex, []string{"HOT"}, "COLD", "BareZero"},
		{"one key of an index", plan.Workload{Table: plan.Table{Index: true}}, plan.KeyRate{WriteUnits: 2500, OneOfMany: true}, plan.ShardedIndex, []string{"HOT"}, "COLD", "Widths"},
		{"shards", plan.Workload{}, plan.KeyRate{WriteUnits: 5000, Shards: 4}, plan.Random, append(shards(4), "HOT"), "COLD", "Older"},
		{"shards from the bare key on", plan.Workload{}, plan.KeyRate{WriteUnits: 5000, Shards: 4, Bare: true}, plan.Random, append(shards(4)[1:], "HOT"), "COLD", "BareZero"},
		{"shards of an index from the bare key on", plan.Workload{Table: plan.Table{Index: true}}, plan.KeyRate{WriteUnits: 5000, Shards: 4, Bare: true}, plan.ShardedIndex, append(shards(4)[1:], "HOT"), "COLD", "BareZero"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.base.Existing, test.base.Names.TableKey = true, "id"
			test.key.Key = "HOT"
			plans, err := plan.ForKeys(test.base, []plan.KeyRate{test.key})
			if err != nil || plans[0].Strategy != test.strategy || !strings.Contains(plans[0].Snippet, test.declared) {
				t.Fatalf("%v, want %s with %s in\n%s", err, test.strategy, test.declared, plans[0].Snippet)
			}
			o := evaluate[heatsink.Options](t, plans[0].Snippet, "options")
			ctx, db := t.Context(), local.Start(t)
			tableKey := "pk"
			if test.base.Table.Index {
				tableKey = "id"
			}
			createListed(t, db, o.Table, tableKey, test.base.Table.Index)
			item := func(key string, n int) heatsink.Item {
				sort := fmt.Sprintf("2026-11-18T01:00:00Z#%s#%d", key, n)
				return heatsink.Item{
					"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: sort}, "id": &types.AttributeValueMemberS{Value: sort},
				}
			}
			put := func(key string, n int) {
				for i := range n {
					if _, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(o.Table), Item: item(key, i)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, key := range test.stored {
				put(key, 30)
			}
			items, err := heatsink.Open[heatsink.Item](db.Client(), o)
			if err != nil {
				t.Fatalf("%v in\n%s", err, plans[0].Snippet)
			}
			want := map[string]int{"HOT": 30*len(test.stored) + 20}
			if test.other != "" {
				put(test.other, 2)
				want[strings.TrimSuffix(test.other, day)] = 22
			}
			for key, n := range want {
				for i := range 20 {
					if _, err := items.Put(ctx, item(key, 1000+i)); err != nil {
						t.Fatal(err)
					}
				}
				query := heatsink.Query{Key: key}
				if o.Layout.Bucket != layout.NoBucket {
					query.From, query.To = time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
				}
				got := 0
				for _, err := range items.Query(ctx, query) {
					if err != nil {
						t.Fatal(err)
					}
					got++
				}
				if got != n {
					t.Errorf("reads %d of %d items of %s:\n%s", got, n, key, plans[0].Snippet)
				}
			}
		})
	}
}

// createListed creates a table, and an index of it by pk and sk if it is asked for.
func createListed(t *testing.T, db *local.DB, table, key string, index bool) {
	t.Helper()
	if !index {
		if err := db.CreateTable(t.Context(), table, key, "sk"); err != nil {
			t.Fatal(err)
		}
		return
	}
	input := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-key"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}},
		}},
	}
	for _, name := range []string{key, "pk", "sk"} {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := db.Client().CreateTable(t.Context(), input); err != nil {
		t.Fatal(err)
	}
}

// Items that are in shards already, and those that are under the bare key, are found after a plan that is told of both.
func TestSnippetsFindShardsThatExist(t *testing.T) {
	type item struct {
		Key string `dynamodbav:"pk"`
		ID  string `dynamodbav:"sk"`
	}
	for _, test := range []struct {
		pattern  plan.Pattern
		shards   int
		strategy plan.Strategy
		past     layout.Layout
	}{
		{plan.Points, 4, plan.Calculated, layout.Layout{Shards: 4, Strategy: layout.Calculated}},
		{plan.Points, 1, plan.Calculated, layout.Layout{Shards: 1}},
		{plan.Points, 100, plan.Calculated, layout.Layout{Shards: 100, Strategy: layout.Calculated}},
		{plan.Lists, 4, plan.Random, layout.Layout{Shards: 4}},
		{plan.Lists, 100, plan.Random, layout.Layout{Shards: 100}},
	} {
		for _, format := range []layout.Format{{}, layout.DotFromOne()} {
			t.Run(fmt.Sprintf("%s of %d, %s", test.strategy, test.shards, format), func(t *testing.T) {
				ctx, db := t.Context(), local.Start(t)
				p := makePlan(t, plan.Workload{
					Key: "ORDERS", Writes: 5000, Existing: true, Shards: test.shards, Read: plan.Reading{Pattern: test.pattern}, Names: plan.Names{Format: format},
				})
				if p.Strategy != test.strategy {
					t.Fatalf("got %s, want %s", p.Strategy, test.strategy)
				}
				o := evaluate[heatsink.Options](t, p.Snippet, "options")
				if err := db.CreateTable(ctx, o.Table, o.PartitionKey, o.SortKey); err != nil {
					t.Fatal(err)
				}
				past := o
				past.Older = nil
				past.Layout = test.past
				past.Layout.Format = o.Layout.Format
				bare := past
				bare.Layout = layout.Layout{}
				for i, before := range []heatsink.Options{past, bare} {
					items, err := heatsink.Open[item](db.Client(), before)
					if err != nil {
						t.Fatal(err)
					}
					for j := range 40 {
						if _, err := items.Put(ctx, item{"ORDERS", fmt.Sprint(i, "-", j)}); err != nil {
							t.Fatal(err)
						}
					}
				}
				items, err := heatsink.Open[item](db.Client(), o)
				if err != nil {
					t.Fatal(err)
				}
				missed := 0
				for i := range 80 {
					if _, err := items.Get(ctx, item{"ORDERS", fmt.Sprint(i/40, "-", i%40)}); err != nil {
						missed++
					}
				}
				n, err := items.Count(ctx, heatsink.Query{Key: "ORDERS"})
				if missed > 0 || n != 80 || err != nil {
					t.Errorf("Get misses %d of 80, Count finds %d, %v:\n%s", missed, n, err, p.Snippet)
				}
			})
		}
	}
}

// A number of shards that may be the key's own is not passed over in silence.
func TestPlanOfShardsThatMayExist(t *testing.T) {
	w := plan.Workload{Writes: 5000, Shards: 4, Read: plan.Reading{Pattern: plan.Points}}
	said := func() bool {
		return slices.ContainsFunc(makePlan(t, w).Notes, func(n plan.Note) bool {
			return n.Code == "past-shards" && strings.Contains(n.Text, "--existing")
		})
	}
	if !said() {
		t.Error("no note of 4 shards that may have items")
	}
	if w.Existing = true; said() {
		t.Error("a note although they are read along")
	}
}

// Where putting an existing item again makes a second one, snippet and notes say so; and elsewhere they do not.
func TestSnippetsWarnOfSecondCopies(t *testing.T) {
	type item struct {
		Key string `dynamodbav:"pk"`
		ID  string `dynamodbav:"sk"`
	}
	warned := 0
	for _, s := range snippets {
		p := makePlan(t, s.workload)
		says := strings.Contains(p.Snippet, "second copy") && strings.Contains(p.Snippet, "docs/layouts.md")
		notes := slices.ContainsFunc(p.Notes, func(n plan.Note) bool { return n.Code == "second-copy" && strings.Contains(n.Text, "docs/layouts.md") })
		text := strings.Contains(p.String(), "second-copy") && strings.Contains(p.String(), "adds a second copy")
		if says != notes || says != text {
			t.Errorf("%s: in the snippet %t, in the notes %t, in the text %t", p.Strategy, says, notes, text)
		}
		if p.Strategy != plan.Calculated || s.workload.Names.Table != "" || s.workload.Table.Index {
			continue
		}
		ctx, db := t.Context(), local.Start(t)
		o := evaluate[heatsink.Options](t, p.Snippet, "options")
		if err := db.CreateTable(ctx, o.Table, o.PartitionKey, o.SortKey); err != nil {
			t.Fatal(err)
		}
		past := o
		if past.Older = nil; s.workload.Existing {
			past.Layout = layout.Layout{}
		}
		put := func(o heatsink.Options, n int) *heatsink.Collection[item] {
			items, err := heatsink.Open[item](db.Client(), o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if _, err := items.Put(ctx, item{s.workload.Key, fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
			return items
		}
		put(past, 100)
		n, err := put(o, 10).Count(ctx, heatsink.Query{Key: s.workload.Key})
		if err != nil || n > 100 != says {
			t.Errorf("%s: 10 of 100 items put again are %d, %v, and the snippet warns: %t", p.Strategy, n, err, says)
		}
		if says {
			warned++
		}
	}
	if warned == 0 {
		t.Error("no snippet warns")
	}
}

// Every snippet that can be printed compiles: each in a file of its own, with the imports that it uses.
func TestSnippetsCompile(t *testing.T) {
	dir, n, kinds := t.TempDir(), 0, map[plan.Strategy]int{}
	for _, s := range snippets {
		for variant := range 4 {
			w := s.workload
			w.Existing = variant%2 == 1
			if w.Names.Blank = variant >= 2; w.Names.Blank {
				w.Names = plan.Names{Blank: true, Table: "orders"}
			}
			p := makePlan(t, w)
			kinds[p.Strategy]++
			n++
			file := filepath.Join(dir, fmt.Sprintf("snippet%d.go", n))
			text := strings.NewReplacer("var options", fmt.Sprint("var options", n), "var reads", fmt.Sprint("var reads", n)).Replace(p.Snippet)
			if err := os.WriteFile(file, []byte("package snippets\n\n"+imports(text)+text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(kinds) != 8 { // all but Leave, which needs no code
		t.Errorf("snippets of %v, want all strategies", kinds)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	vet := exec.CommandContext(t.Context(), "go", append([]string{"vet"}, files...)...)
	vet.Dir = ".." // where the module is
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// imports returns the imports of declarations, by what they use outside of comments.
func imports(declarations string) string {
	var code strings.Builder
	for line := range strings.Lines(declarations) {
		if !strings.HasPrefix(line, "//") {
			code.WriteString(line)
		}
	}
	var b strings.Builder
	for name, path := range map[string]string{
		"heatsink": "github.com/heatsink-go/heatsink", "layout": "github.com/heatsink-go/heatsink/layout", "cache": "github.com/heatsink-go/heatsink/cache",
		"counter": "github.com/heatsink-go/heatsink/counter", "replica": "github.com/heatsink-go/heatsink/replica", "time": "time",
	} {
		if strings.Contains(code.String(), name+".") {
			fmt.Fprintf(&b, "import %q\n", path)
		}
	}
	return b.String()
}

// The decision, its reason and the snippet are fewer than 20 lines, whatever the workload, with the line that a command
// adds. No warning is left out.
func TestBrief(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := plan.Workload{
			Key:    rapid.SampledFrom([]string{"", "KEY", strings.Repeat("LONG", 20)}).Draw(r, "key"),
			Writes: rapid.SampledFrom([]float64{1, 900, 1500, 20_000}).Draw(r, "writes"), Reads: rapid.SampledFrom([]float64{0, 1, 50_000}).Draw(r, "reads"),
			Throttles: rapid.SampledFrom([]int{0, 5, 50}).Draw(r, "throttles"), Unpredictable: rapid.Bool().Draw(r, "unpredictable"),
			Existing: rapid.Bool().Draw(r, "existing"), Shards: rapid.SampledFrom([]int{0, 1, 4, 300}).Draw(r, "shards"), Atomic: rapid.Bool().Draw(r, "atomic"),
			MaxLatency: rapid.SampledFrom([]time.Duration{0, time.Millisecond}).Draw(r, "latency"), MaxDollars: rapid.SampledFrom([]float64{0, 1}).Draw(r, "dollars"),
			Read: plan.Reading{
				Pattern: rapid.SampledFrom([]plan.Pattern{plan.Points, plan.Times, plan.Lists, plan.Counters, plan.Mostly}).Draw(r, "pattern"),
				Stale:   rapid.SampledFrom([]time.Duration{0, -1}).Draw(r, "stale"), Strong: rapid.Bool().Draw(r, "strong"),
			},
			OneOfMany: rapid.Bool().Draw(r, "one of many"), Bucket: rapid.SampledFrom([]layout.Bucket{layout.NoBucket, layout.Day}).Draw(r, "bucket"),
			Table: plan.Table{WriteUnits: rapid.SampledFrom([]int64{0, 500}).Draw(r, "provisioned")},
			Names: plan.Names{Format: rapid.SampledFrom([]layout.Format{{}, {ShardPrefix: "/", Width: 3, BucketPrefix: "@", HourMark: "-"}}).Draw(r, "format"), Blank: rapid.Bool().Draw(r, "blank")},
		}
		w.Table.Index = w.Read.Pattern != plan.Counters && rapid.Bool().Draw(r, "index")
		p, err := plan.For(w)
		if err != nil {
			r.Skip(err)
		}
		var b strings.Builder
		if err := p.WriteBrief(&b); err != nil {
			r.Fatal(err)
		}
		text := b.String()
		if n := strings.Count(text, "\n"); n > 18 || strings.Contains(text, "\n\n\n") || !strings.HasSuffix(text, "\n") {
			r.Errorf("%d lines, want at most 18:\n%s", n, text)
		}
		words := strings.Join(strings.Fields(text), " ")
		if !strings.HasPrefix(words, strings.Join(strings.Fields(p.Verdict), " ")) || !strings.Contains(text, p.Snippet) {
			r.Errorf("no verdict %q or no snippet in\n%s", p.Verdict, text)
		}
		if !strings.Contains(words, strings.Join(strings.Fields(p.Reasons[0]), " ")) {
			r.Errorf("no reason %q in\n%s", p.Reasons[0], text)
		}
		for _, n := range p.Notes {
			if n.Code == "second-copy" && strings.Contains(p.Snippet, "second copy") {
				continue
			}
			if n.Severity >= plan.Warning && !strings.Contains(words, n.Code+": ") && (plan.ShortWords[n.Code] == "" || !strings.Contains(words, plan.ShortWords[n.Code])) {
				r.Errorf("no %s: %s in\n%s", n.Severity, n.Code, text)
			}
		}
	})
}

// evaluate returns the value of a variable that is declared with a literal of package heatsink.
func evaluate[T any](t fatal, declarations, variable string) (value T) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+declarations, 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, declarations)
	}
	for _, decl := range file.Decls {
		generic, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		spec, ok := generic.Specs[0].(*ast.ValueSpec)
		if ok && spec.Names[0].Name == variable {
			assign(t, reflect.ValueOf(&value).Elem(), spec.Values[0])
			return value
		}
	}
	t.Fatalf("no %s in\n%s", variable, declarations)
	return value
}

// names are what snippets use of package layout.
var names = map[string]any{
	"Calculated": layout.Calculated, "Product": layout.Product, "Hour": layout.Hour, "Day": layout.Day, "Week": layout.Week, "Month": layout.Month,
	"Year": layout.Year, "SharpNumber": layout.SharpNumber(), "PlainNumber": layout.PlainNumber(), "DotFromOne": layout.DotFromOne(),
}

func assign(t fatal, to reflect.Value, expr ast.Expr) {
	t.Helper()
	switch e := expr.(type) {
	case *ast.CompositeLit:
		if kind, ok := e.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "WidthTable" && to.Kind() == reflect.Interface {
			table := reflect.New(reflect.TypeFor[layout.WidthTable]()).Elem()
			assign(t, table, e)
			to.Set(table)
			return
		}
		if to.Kind() == reflect.Map {
			to.Set(reflect.MakeMap(to.Type()))
			for _, element := range e.Elts {
				pair := element.(*ast.KeyValueExpr)
				key, value := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
				assign(t, key, pair.Key)
				assign(t, value, pair.Value)
				to.SetMapIndex(key, value)
			}
			return
		}
		if to.Kind() == reflect.Slice {
			to.Set(reflect.MakeSlice(to.Type(), len(e.Elts), len(e.Elts)))
			for i, element := range e.Elts {
				assign(t, to.Index(i), element)
			}
			return
		}
		for _, element := range e.Elts {
			pair := element.(*ast.KeyValueExpr)
			assign(t, to.FieldByName(pair.Key.(*ast.Ident).Name), pair.Value)
		}
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			if err != nil {
				t.Fatal(err)
			}
			to.SetString(text)
			return
		}
		n, err := strconv.ParseInt(e.Value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		to.SetInt(n)
	case *ast.CallExpr: // a format
		assign(t, to, e.Fun)
	case *ast.SelectorExpr:
		value, ok := names[e.Sel.Name]
		if !ok {
			t.Fatalf("what is layout.%s?", e.Sel.Name)
		}
		to.Set(reflect.ValueOf(value))
	case *ast.Ident:
		to.SetBool(e.Name == "true")
	default:
		t.Fatalf("what is a %T?", expr)
	}
}
