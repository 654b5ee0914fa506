package heatsink

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/local"
)

const benchItems = 10_000

// perItem reports the time of each item. One processor does everything, so that it is CPU time: the engine's, the SDK's
// and the merge's.
func perItem(b *testing.B, read func() int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	read() // knows how large items are from now on
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		if n := read(); n != benchItems {
			b.Fatalf("%d items", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchItems), "ns/item")
}

func benchTable(b *testing.B, shards int) (*dynamodb.Client, Options) {
	db := local.Start(b)
	options := sharded(shards)
	if err := db.CreateTable(b.Context(), options.Table, options.PartitionKey, options.SortKey); err != nil {
		b.Fatal(err)
	}
	client := db.Client()
	counts := make([]int, shards)
	for i := range counts {
		counts[i] = benchItems / shards
		if i < benchItems%shards {
			counts[i]++
		}
	}
	stock(b, client, options.Table, shelves(options.Layout, "k", counts...))
	return client, options
}

// BenchmarkGather reads 10,000 items from so many shards of the engine, and as a baseline from one partition with the SDK
// alone.
func BenchmarkGather(b *testing.B) {
	b.Run("sdk", func(b *testing.B) {
		client, options := benchTable(b, 1)
		perItem(b, func() int {
			n := 0
			pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
				TableName: &options.Table, KeyConditionExpression: aws.String("pk = :pk"),
				ExpressionAttributeValues: Item{":pk": text("k#SHARD_0")},
			})
			for pages.HasMorePages() {
				page, err := pages.NextPage(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				n += len(page.Items)
			}
			return n
		})
	})
	for _, shards := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			client, options := benchTable(b, shards)
			items := collection(b, client, options)
			perItem(b, func() int {
				n := 0
				for _, err := range items.Query(context.Background(), Query{Key: "k"}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				return n
			})
		})
	}
}

// printed is a Client whose pages are ready, so that only the merge costs anything.
type printed struct {
	Client
	shards map[string][]Item
}

func (p *printed) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	items := p.shards[str(in.ExpressionAttributeValues, ":hs_pk")]
	if start := in.ExclusiveStartKey; start != nil {
		n, _ := strconv.Atoi(str(start, "n"))
		items = items[n:]
	}
	out := &dynamodb.QueryOutput{Items: items}
	if limit := int(aws.ToInt32(in.Limit)); limit < len(items) {
		out.Items = items[:limit]
		done := len(p.shards[str(in.ExpressionAttributeValues, ":hs_pk")]) - len(items) + limit
		out.LastEvaluatedKey = Item{"n": text(strconv.Itoa(done))}
	}
	out.ScannedCount = int32(len(out.Items))
	return out, nil
}

// BenchmarkMerge is BenchmarkGather without engine and SDK.
func BenchmarkMerge(b *testing.B) {
	for _, shards := range []int{1, 8, 64, 1000} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			client := &printed{shards: map[string][]Item{}}
			for i, sk := range ranks(benchItems) {
				shardKey := fmt.Sprintf("k#SHARD_%d", i%shards)
				client.shards[shardKey] = append(client.shards[shardKey], Item{"pk": text(shardKey), "sk": text(sk), "n": number("1")})
			}
			items := collection(b, client, sharded(shards))
			perItem(b, func() int {
				n := 0
				for _, err := range items.Query(context.Background(), Query{Key: "k"}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				return n
			})
		})
	}
}

// BenchmarkPage reads the first 100 items of 10,000.
func BenchmarkPage(b *testing.B) {
	for _, shards := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			client, options := benchTable(b, shards)
			w := &watched{Client: client}
			items := collection(b, w, options)
			reads := 0
			b.ReportAllocs()
			for b.Loop() {
				page, err := items.Page(context.Background(), Query{Key: "k", Limit: 100}, "")
				if err != nil || len(page.Items) != 100 {
					b.Fatal(err)
				}
				reads++
			}
			b.ReportMetric(float64(w.scanned)/float64(100*reads), "read/item")
		})
	}
}

// The merge allocates next to nothing for each item; decoding has one.
func TestMergeAllocations(t *testing.T) {
	client := &printed{shards: map[string][]Item{}}
	for i, sk := range ranks(4000) {
		shardKey := fmt.Sprintf("k#SHARD_%d", i%8)
		client.shards[shardKey] = append(client.shards[shardKey], Item{"pk": text(shardKey), "sk": text(sk), "x": text(strings.Repeat("x", 50))})
	}
	items := collection(t, client, sharded(8))
	n := 0
	perRead := testing.AllocsPerRun(5, func() {
		for _, err := range items.Query(context.Background(), Query{Key: "k"}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	})
	t.Logf("%.3f allocations for each item", perRead/4000)
	if perRead > 4000*1.1 {
		t.Errorf("%.3f allocations for each item, want one", perRead/4000)
	}
}
