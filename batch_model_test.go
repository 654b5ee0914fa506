package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// batchShapes are the collections whose batches are compared with operations on one item.
func batchShapes() map[string]Options {
	calculated := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	bare := layout.Format{BareZero: true}
	grown := Options{
		Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"user"},
		Older: []layout.Layout{{}, {Shards: 3, Strategy: layout.Calculated, Format: layout.SharpNumber()}},
	}
	versions := grown
	versions.Version = "v"
	return map[string]Options{
		"random":             {Layout: layout.Layout{Shards: 4}},
		"random, bare zero":  {Layout: layout.Layout{Shards: 4, Format: bare}},
		"random widths":      {Widths: layout.Width{Write: 2, Read: 5}},
		"one shard":          {Layout: layout.Layout{Shards: 1}},
		"calculated":         {Layout: calculated},
		"by user":            {Layout: calculated, ShardBy: []string{"user"}},
		"bare zero":          {Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: bare}},
		"widths":             {Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 2, Read: 8}},
		"older":              grown,
		"index":              {Layout: calculated, Index: Index{Name: "listing"}},
		"index with numbers": {Layout: calculated, Index: Index{Name: "listing", ShardAttribute: "shard"}},
		"versions":           versions,
		"random versions":    {Layout: layout.Layout{Shards: 4}, Version: "v"},
		"index and versions": {Layout: calculated, Index: Index{Name: "listing"}, Version: "v"},
	}
}

// batchModel is two tables with the same items. What a batch does to the one, operations on one item do to the other.
type batchModel struct {
	*rapid.T
	client       *dynamodb.Client
	batch, alone *Collection[Item]
	index        bool
	writes       int
}

// TestBatchesAreManyOperations compares BatchGet with Get and BatchDelete with Delete, on items that are in any of the places
// where they may be: alive, expired or deleted, once or several times.
func TestBatchesAreManyOperations(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(batchShapes())) {
		t.Run(name, func(t *testing.T) {
			client := local.Start(t).Client()
			options := batchShapes()[name]
			options.TTL = "ttl"
			run := 0
			rapid.Check(t, func(rt *rapid.T) {
				run++
				m := &batchModel{T: rt, client: client, index: options.Index.Name != ""}
				for i, c := range []**Collection[Item]{&m.batch, &m.alone} {
					own := options
					own.Table = fmt.Sprintf("items-%d-%d", run, i)
					var edits []func(*dynamodb.CreateTableInput)
					if m.index {
						edits = append(edits, byIndex(own.Index.ShardAttribute != ""))
					}
					makeTable(t, client, own.Table, edits...)
					rt.Cleanup(func() {
						_, _ = client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &own.Table})
					})
					*c = openItems(t, client, own)
				}
				m.fill(t)
				m.get()
				m.delete(t)
			})
		})
	}
}

// like draws one of a few items.
func (m *batchModel) like() Item {
	n := rapid.IntRange(0, 9).Draw(m.T, "item")
	if m.index {
		return ov("id", fmt.Sprint(n), "pk", "k", "sk", "s")
	}
	return ov("pk", fmt.Sprint("k", n%2), "sk", fmt.Sprint("s", n/2%3), "user", fmt.Sprint("u", n/5))
}

// likes draws items, some of them several times, and some that have no key.
func (m *batchModel) likes() []Item {
	likes := make([]Item, rapid.IntRange(0, 30).Draw(m.T, "likes"))
	for i := range likes {
		likes[i] = m.like()
		if rapid.IntRange(0, 20).Draw(m.T, "bad") == 0 {
			likes[i] = ov("user", "u0")
		}
	}
	return likes
}

// fill puts and deletes items as the collection does, puts copies where else they may be, and gives the other table the same.
func (m *batchModel) fill(t *testing.T) {
	ctx := context.Background()
	table := m.batch.core.options.Table
	for range rapid.IntRange(0, 20).Draw(m.T, "writes") {
		m.writes++
		item := m.like()
		item["n"] = nv(m.writes)
		if rapid.IntRange(0, 3).Draw(m.T, "expired") == 0 {
			item["ttl"] = nv(int(time.Now().Add(-time.Minute).Unix()))
		}
		switch rapid.IntRange(0, 3).Draw(m.T, "write") {
		case 0:
			if _, err := m.batch.Delete(ctx, item); err != nil && !errors.Is(err, ErrNotFound) {
				m.Fatal(err)
			}
		case 1:
			if _, err := m.batch.Put(ctx, item); err != nil {
				m.Fatal(err)
			}
		default: // somewhere, and without a version
			keys, err := m.batch.Locate(ctx, item)
			if err != nil {
				m.Fatal(err)
			}
			stored := maps.Clone(item)
			maps.Copy(stored, rapid.SampledFrom(keys).Draw(m.T, "home"))
			if m.index { // which may list it in any shard, also in one that nobody reads
				shard := rapid.IntRange(0, 5).Draw(m.T, "shard")
				stored["pk"] = sv(fmt.Sprint("k#SHARD_", shard))
				if m.batch.core.options.Index.ShardAttribute != "" {
					stored["pk"], stored["shard"] = sv("k"), nv(shard)
				}
			}
			if rapid.Bool().Draw(m.T, "anonymous") && !m.index {
				delete(stored, "user")
			}
			if _, err := m.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: stored}); err != nil {
				m.Fatal(err)
			}
		}
	}
	load(t, m.client, m.alone.core.options.Table, everyItem(t, m.client, table))
}

// get compares a BatchGet with many Gets.
func (m *batchModel) get() {
	likes := m.likes()
	items, err := m.batch.BatchGet(context.Background(), likes)
	if len(items) != len(likes) {
		m.Fatalf("got %d items for %d likes", len(items), len(likes))
	}
	errs := m.errs(err, len(likes))
	for i, like := range likes {
		want, err := m.alone.Get(context.Background(), like)
		m.sameError("BatchGet", like, errs[i], err)
		if (items[i] == nil) != (want == nil) || !attribute.Same(items[i], want) {
			m.Fatalf("BatchGet of %s at %d: got %s, want %s", showItem(like), i, showItem(items[i]), showItem(want))
		}
	}
}

// delete compares a BatchDelete with many Deletes: what they return, and what they leave.
func (m *batchModel) delete(t *testing.T) {
	likes := m.likes()
	errs := m.errs(m.batch.BatchDelete(context.Background(), likes), len(likes))
	for i, like := range likes {
		_, err := m.alone.Delete(context.Background(), like)
		m.sameError("BatchDelete", like, errs[i], err)
	}
	got, want := m.left(t, m.batch), m.left(t, m.alone)
	if !slices.Equal(got, want) {
		m.Fatalf("BatchDelete of %d left\n%v, want\n%v", len(likes), got, want)
	}
}

// left returns what a table has, without the times of tombstones and their versions.
func (m *batchModel) left(t *testing.T, c *Collection[Item]) (all []string) {
	for _, item := range everyItem(t, m.client, c.core.options.Table) {
		if c.core.versions.Buried(item) {
			delete(item, "v")
			delete(item, "ttl")
		}
		all = append(all, showItem(item))
	}
	slices.Sort(all)
	return all
}

// errs returns the errors of a batch by position.
func (m *batchModel) errs(err error, of int) []error {
	errs := make([]error, of)
	if err == nil {
		return errs
	}
	failed, ok := err.(*BatchError)
	if !ok || failed.Of != of || len(failed.Failed) == 0 {
		m.Fatalf("got %v, want a BatchError of %d", err, of)
	}
	last := -1
	for _, f := range failed.Failed {
		if f.Position <= last || f.Err == nil {
			m.Fatalf("got %v at %d behind %d", f.Err, f.Position, last)
		}
		last, errs[f.Position] = f.Position, f.Err
	}
	return errs
}

func (m *batchModel) sameError(what string, like Item, got, want error) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		m.Fatalf("%s of %s: got %v, want %v", what, showItem(like), got, want)
	}
	for _, kind := range []error{ErrNotFound, ErrItem, ErrTooNarrow} {
		if errors.Is(got, kind) != errors.Is(want, kind) {
			m.Fatalf("%s of %s: got %v, want it to wrap %v as well", what, showItem(like), got, kind)
		}
	}
}
