package heatsink

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/internal/sortkey/sortkeytest"
	"github.com/heatsink-go/heatsink/layout"
)

// shelves returns sort keys for the shards of a key, so many for each: 0, 1, 2 and so on, dealt out round by round.
func shelves(spread layout.Layout, key string, counts ...int) map[string][]string {
	all := make(map[string][]string, len(counts))
	for n, left := 0, slices.Clone(counts); ; {
		dealt := false
		for shard := range left {
			if left[shard] == 0 {
				continue
			}
			left[shard]--
			dealt = true
			shardKey, err := spread.ShardKey(key, firstDay, shard)
			if err != nil {
				panic(err)
			}
			all[shardKey] = append(all[shardKey], fmt.Sprintf("%06d", n))
			n++
		}
		if !dealt {
			return all
		}
	}
}

// stock puts items with the sort keys into a table, past any collection. Attribute n is the sort key's number.
func stock(t testing.TB, client *dynamodb.Client, table string, shelves map[string][]string) {
	t.Helper()
	var items []Item
	for _, shardKey := range slices.Sorted(maps.Keys(shelves)) {
		for _, sk := range shelves[shardKey] {
			item := Item{"pk": text(shardKey), "sk": text(sk)}
			if n, err := strconv.Atoi(sk); err == nil {
				item["n"] = number(strconv.Itoa(n))
			}
			items = append(items, item)
		}
	}
	load(t, client, table, items)
}

// load puts items into a table, 25 at a time.
func load(t testing.TB, client *dynamodb.Client, table string, items []Item) {
	t.Helper()
	for batch := range slices.Chunk(items, 25) {
		var requests []types.WriteRequest
		for _, item := range batch {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		out, err := client.BatchWriteItem(context.Background(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: requests}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.UnprocessedItems) > 0 {
			t.Fatal("items left unprocessed")
		}
	}
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// collection opens one of raw items.
func collection(t testing.TB, client Client, options Options) *Collection[Item] {
	t.Helper()
	c, err := Open[Item](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// str returns a string attribute of an item.
func str(item Item, name string) string {
	s, _ := item[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// all returns what a query returns, as the texts of an attribute, and the error that ends it.
func all(ctx context.Context, c *Collection[Item], q Query, name string) ([]string, error) {
	var got []string
	for item, err := range c.Query(ctx, q) {
		if err != nil {
			return got, err
		}
		got = append(got, str(item, name))
	}
	return got, nil
}

// pages returns the same, page by page, and how many items each had.
func pages(t testing.TB, c *Collection[Item], q Query, name string) (got []string, sizes []int) {
	t.Helper()
	for token := ""; ; {
		page, err := c.Page(context.Background(), q, token)
		if err != nil {
			t.Fatalf("page %d: %v", len(sizes), err)
		}
		for _, item := range page.Items {
			got = append(got, str(item, name))
		}
		if sizes = append(sizes, len(page.Items)); page.Next == "" {
			return got, sizes
		}
		if len(sizes) > 10000 {
			t.Fatal("pages without end")
		}
		token = page.Next
	}
}

// watched is a Client that watches the queries that go through it, and meddles with them.
type watched struct {
	Client
	delay func(shardKey string, nth int) time.Duration // before the nth query of a shard is answered, counted from 0
	fail  func(shardKey string, nth int) error         // what it is answered with, if not nil

	mu      sync.Mutex
	queries int            // all of them
	scanned int            // items read
	shards  map[string]int // queries by shard key
	under   int            // under way
	most    int            // the most that ever were
}

func (w *watched) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	shardKey := str(in.ExpressionAttributeValues, ":hs_pk")
	w.mu.Lock()
	if w.shards == nil {
		w.shards = make(map[string]int)
	}
	nth := w.shards[shardKey]
	w.shards[shardKey]++
	w.queries++
	w.under++
	w.most = max(w.most, w.under)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.under--
		w.mu.Unlock()
	}()
	if w.delay != nil {
		timer := time.NewTimer(w.delay(shardKey, nth))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if w.fail != nil {
		if err := w.fail(shardKey, nth); err != nil {
			return nil, err
		}
	}
	out, err := w.Client.Query(ctx, in, options...)
	if err == nil {
		w.mu.Lock()
		w.scanned += int(out.ScannedCount)
		w.mu.Unlock()
	}
	return out, err
}

// seen returns the counts so far.
func (w *watched) seen() (queries, scanned, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queries, w.scanned, w.most
}

// after is a delay of every query.
func after(d time.Duration) func(string, int) time.Duration {
	return func(string, int) time.Duration { return d }
}

// errThrottled is DynamoDB's answer for a hot partition, errRefused one that it never changes, errBroken one that it may.
var (
	errThrottled = &types.ProvisionedThroughputExceededException{
		Message:           aws.String("Throughput exceeds the current throughput limit for your account"),
		ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableReadKeyRangeThroughputExceeded")}},
	}
	errBroken  = &types.InternalServerError{Message: aws.String("Internal server error")}
	errRefused = &types.ResourceNotFoundException{Message: aws.String("Requested resource not found")}
)

// made is a Client with shards of any size that are made up as they are read.
type made struct {
	Client
	testing.TB
	keys     func(shardKey string) []string          // a shard's sort keys, in order
	item     func(shardKey, sk string) Item          // the rest of an item
	passes   func(shardKey, sk string) bool          // whether it passes the filter, if there is one
	answered func(in *dynamodb.QueryInput, size int) // is told how large the items of an answer are
}

const pageBytes = 1 << 20 // the most that DynamoDB reads for a page

func (m *made) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	shardKey := str(in.ExpressionAttributeValues, ":hs_pk")
	keys := m.keys(shardKey)
	if _, condition, ok := strings.Cut(*in.KeyConditionExpression, " AND "); ok {
		keys = slices.DeleteFunc(slices.Clone(keys), func(sk string) bool {
			return !sortkeytest.Satisfies(m, sortkey.Value{Kind: attr.S, Text: sk}, condition, in.ExpressionAttributeValues)
		})
	}
	step, i := 1, 0
	if aws.ToBool(in.ScanIndexForward) == (in.ScanIndexForward != nil) {
		if start := in.ExclusiveStartKey; start != nil {
			var there bool
			if i, there = slices.BinarySearch(keys, str(start, "sk")); there {
				i++
			}
		}
	} else {
		step, i = -1, len(keys)-1
		if start := in.ExclusiveStartKey; start != nil {
			i, _ = slices.BinarySearch(keys, str(start, "sk"))
			i--
		}
	}
	out := &dynamodb.QueryOutput{}
	read, passed := 0, 0
	for ; i >= 0 && i < len(keys); i += step {
		if in.Limit != nil && out.ScannedCount == *in.Limit || read >= pageBytes {
			out.LastEvaluatedKey = Item{"pk": text(shardKey), "sk": text(keys[i-step])}
			break
		}
		out.ScannedCount++
		item := Item{"pk": text(shardKey), "sk": text(keys[i])}
		if m.item != nil {
			maps.Copy(item, m.item(shardKey, keys[i]))
		}
		size := attribute.TotalSize(item)
		read += size
		if m.passes == nil || in.FilterExpression == nil || m.passes(shardKey, keys[i]) {
			passed += size
			out.Items = append(out.Items, item)
		}
	}
	if out.Count = int32(len(out.Items)); in.Select == types.SelectCount {
		out.Items = nil
	} else if m.answered != nil {
		m.answered(in, passed)
	}
	return out, nil
}

// ranks returns n sort keys: 000000, 000001 and so on.
func ranks(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%06d", i)
	}
	return keys
}
