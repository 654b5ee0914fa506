package ratelimit_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// table is the table of every test's limiters.
const table = "limits"

// start returns a client on an engine of its own that has the table. It looks for expired items once an hour, so that
// days of virtual time pass quickly.
func start(t testing.TB) *dynamodb.Client {
	t.Helper()
	db, err := local.New(local.Options{TTLInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	client := db.Client()
	if err := ratelimit.Setup(context.Background(), client, ratelimit.Options{Table: table, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	return client
}

// open opens a limiter on the table.
func open(t testing.TB, client ratelimit.Client, options ratelimit.Options) *ratelimit.Limiter {
	t.Helper()
	options.Table = table
	options.Timeout = cmp.Or(options.Timeout, time.Minute) // the machine may be busy
	limiter, err := ratelimit.Open(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// allow checks a key and fails the test if there is an error.
func allow(t testing.TB, limiter *ratelimit.Limiter, key string) ratelimit.Decision {
	t.Helper()
	return allowN(t, limiter, key, 1)
}

func allowN(t testing.TB, limiter *ratelimit.Limiter, key string, n int) ratelimit.Decision {
	t.Helper()
	d, err := limiter.AllowN(context.Background(), key, n)
	if err != nil {
		t.Fatalf("AllowN(%q, %d): %v", key, n, err)
	}
	return d
}

var algorithms = []ratelimit.Algorithm{
	ratelimit.SlidingWindow, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.TokenBucket,
}

// everyAlgorithm are options with a limit, in an hour, of each algorithm.
func everyAlgorithm(limit, shards int) map[string]ratelimit.Options {
	all := map[string]ratelimit.Options{}
	for _, a := range algorithms {
		all[a.String()] = ratelimit.Options{Algorithm: a, Limit: limit, Shards: shards}
	}
	return all
}

// items returns all items of the table.
func items(t testing.TB, client *dynamodb.Client) []map[string]types.AttributeValue {
	t.Helper()
	out, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// wantError fails the test unless an error is what it should be.
func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}
