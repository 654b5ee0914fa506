package replica_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/replica"
)

// 15,000 reads of one item a second, on a table that is warm enough: from one key, and from 10 copies, which are
// refreshed and written meanwhile.
func TestSustained(t *testing.T) {
	load := lab.Load{PerSecond: 15_000, RunIn: 300 * time.Millisecond, Measured: *measured}
	oneKey := sustain(t, load, func(ctx context.Context, client *dynamodb.Client, _ *replica.Store[post], _ int) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("posts"), Key: heatsink.Item{"id": text("viral")}})
		return err
	})
	copies := sustain(t, load, func(ctx context.Context, _ *dynamodb.Client, posts *replica.Store[post], i int) error {
		if i%5000 == 4999 { // three times a second
			_, err := posts.Put(ctx, "viral", post{Title: fmt.Sprint(i)})
			return err
		}
		_, err := posts.Get(ctx, "viral")
		return err
	})
	writeResult(t, map[string]lab.Report{"oneKey": oneKey, "copies": copies})
	t.Logf("one key:   %v", oneKey)
	t.Logf("10 copies: %v", copies)
	if got, than := copies.AcceptedPerSecond(), oneKey.AcceptedPerSecond(); got < 2*than || got < 14_900 {
		t.Errorf("%.0f reads a second, and %.0f of one key", got, than)
	}
	if copies.Failed > 0 || copies.P999 > 100*time.Millisecond {
		t.Errorf("copies fail or are slow: %v", copies)
	}
}

var (
	measured   = flag.Duration("measured", 600*time.Millisecond, "how long TestSustained measures, in virtual time")
	resultFile = flag.String("result", "", "a file for what TestSustained measured, as JSON")
)

// writeResult leaves what was measured for make proof-heat.
func writeResult(t *testing.T, result any) {
	t.Helper()
	if *resultFile == "" {
		return
	}
	out, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*resultFile, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sustain offers a load in virtual time, on a table with one item.
func sustain(
	t *testing.T, load lab.Load, op func(context.Context, *dynamodb.Client, *replica.Store[post], int) error,
) (report lab.Report) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}, TTLInterval: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		watch := &lab.Watch{Latency: 5 * time.Millisecond}
		client := db.Client(watch.Option)
		options := replica.Options{Table: "posts", MaxStale: time.Second}
		input := replica.Schema(options).Input()
		input.WarmThroughput = &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(12_000), ReadUnitsPerSecond: aws.Int64(36_000)}
		if _, err := db.Client().CreateTable(t.Context(), input); err != nil {
			t.Fatal(err)
		}
		posts := openOn(t, client, options)
		put(t, posts, "viral", "one")
		report = load.Sustain(t.Context(), watch, func(ctx context.Context, i int) error { return op(ctx, client, posts, i) })
	})
	return report
}
