package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// world is a table with nothing in it, and what a process needs to use it.
type world struct {
	*testing.T
	db    *local.DB
	watch *lab.Watch // of all requests but those of the judge
	dice  *dice

	decided sync.Mutex
	grew    time.Time // when an adaptive key grew first
}

// newWorld makes a new on-demand table with the partitions that DynamoDB gives to one.
func newWorld(t *testing.T, seed uint64) *world {
	db, err := local.New(local.Options{Physics: &local.Physics{OnDemandPartitions: tablePartitions, NoSplits: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.CreateTable(t.Context(), table, "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	return &world{T: t, db: db, watch: &lab.Watch{Latency: requestTime}, dice: newDice(seed)}
}

// store is what a contestant offers: one process that writes items of the key and reads the newest ones.
type store struct {
	put    func(ctx context.Context, sort string) error
	newest func(ctx context.Context, n int) ([]string, error)
	width  func(ctx context.Context) (int, error)     // the shards that the key has now
	grow   func(ctx context.Context, width int) error // nil if the number of shards is fixed
}

// open starts a process of a contestant. Options are for its client.
func (w *world) open(contestant string, options ...func(*dynamodb.Options)) store {
	w.Helper()
	options = append([]func(*dynamodb.Options){w.watch.Option, w.retries}, options...)
	switch contestant {
	case suffixTimed, suffixPatient, suffixNextTimed:
		options = append(options, timed)
	}
	client := w.db.Client(options...)
	bySuffix := func(count, limit int, pick func(string) int) store {
		s := &suffixes{client: client, table: table, count: count, pick: pick}
		return store{
			put:    func(ctx context.Context, sort string) error { return s.Put(ctx, key, sort, body) },
			newest: func(ctx context.Context, n int) ([]string, error) { return s.Newest(ctx, key, n, limit) },
			width:  fixed(count),
		}
	}
	switch contestant {
	case oneKey:
		s := &single{client, table}
		return store{
			put:    func(ctx context.Context, sort string) error { return s.Put(ctx, key, sort, body) },
			newest: func(ctx context.Context, n int) ([]string, error) { return s.Newest(ctx, key, n) },
			width:  fixed(1),
		}
	case suffixRandom, suffixTimed, suffixPatient, suffixNext, suffixNextTimed:
		return bySuffix(manyShards, newest, randomSuffix(manyShards, w.dice.intN))
	case suffixWhole:
		return bySuffix(manyShards, 0, randomSuffix(manyShards, w.dice.intN))
	case suffixHashed:
		return bySuffix(manyShards, newest, hashedSuffix(manyShards))
	case suffixFew:
		return bySuffix(fewShards, newest, randomSuffix(fewShards, w.dice.intN))
	}
	return w.heatsink(contestant, client)
}

func fixed(n int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return n, nil }
}

// heatsink opens a collection.
func (w *world) heatsink(contestant string, client *dynamodb.Client) store {
	w.Helper()
	o := heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Rand: w.dice.source(), Retry: heatsink.Retry{Timeout: answerTime}}
	switch contestant {
	case heatsinkRandom:
		o.Layout = layout.Layout{Shards: manyShards, Format: layout.DotFromOne()}
	case heatsinkUntimed:
		o.Layout, o.Retry = layout.Layout{Shards: manyShards, Format: layout.DotFromOne()}, heatsink.Retry{}
	case heatsinkHashed:
		o.Layout = layout.Layout{Shards: manyShards, Format: layout.DotFromOne(), Strategy: layout.Calculated}
	case heatsinkFew:
		o.Layout = layout.Layout{Shards: fewShards, Format: layout.DotFromOne()}
	case heatsinkAdaptive:
		o.Adaptive = &heatsink.Adaptive{Decided: w.decide}
	case heatsinkControl:
		o.Adaptive, o.ControlTable = &heatsink.Adaptive{Decided: w.decide}, control
		if err := heatsink.SetupControlTable(w.Context(), client, control); err != nil {
			w.Fatal(err)
		}
	case heatsinkAdaptiveHashed:
		o.Layout, o.Adaptive = layout.Layout{Strategy: layout.Calculated}, &heatsink.Adaptive{}
	default:
		w.Fatalf("there is no contestant %q", contestant)
	}
	c, err := heatsink.Open[heatsink.Item](client, o)
	if err != nil {
		w.Fatal(err)
	}
	s := store{width: fixed(o.Layout.Shards)}
	s.put = func(ctx context.Context, sort string) error {
		_, err := c.Put(ctx, heatsink.Item{"pk": text(key), "sk": text(sort), "body": body})
		return err
	}
	s.newest = func(ctx context.Context, n int) (sorts []string, err error) {
		for item, err := range c.Query(ctx, heatsink.Query{Key: key, Reverse: true, Limit: n}) {
			if err != nil {
				return nil, err
			}
			sorts = append(sorts, item["sk"].(*types.AttributeValueMemberS).Value)
		}
		return sorts, nil
	}
	if o.Adaptive != nil {
		s.width = func(ctx context.Context) (int, error) {
			l, err := c.Ledgers().Show(ctx, key, time.Time{})
			return max(1, l.Width.Read), err
		}
		s.grow = func(ctx context.Context, width int) error {
			_, err := c.Ledgers().Grow(ctx, key, time.Time{}, width, "the faults come")
			return err
		}
	}
	return s
}

// decide notes the first growth.
func (w *world) decide(_ context.Context, d heatsink.Decision) {
	w.decided.Lock()
	defer w.decided.Unlock()
	if d.Reason == "grow" && w.grew.IsZero() {
		w.grew = time.Now()
	}
}

// firstGrowth is when an adaptive key grew first; zero: not yet.
func (w *world) firstGrowth() time.Time {
	w.decided.Lock()
	defer w.decided.Unlock()
	return w.grew
}

// newRetries is the name of the SDK's switch for its retries of 2026. The SDK looks at it whenever it retries.
const newRetries = "AWS_NEW_RETRIES_2026"

// switched sets the SDK's switch for a contestant, whatever it is on this machine.
func switched(t *testing.T, contestant string) {
	t.Setenv(newRetries, map[bool]string{true: "true", false: ""}[contestant == suffixNext || contestant == suffixNextTimed])
}

// retries are the SDK's own, with its defaults: 3 attempts, and up to 2 and 4 seconds between them. Those of 2026 are 4, and up to 1, 2 and
// 4 seconds after a throttle. Only the jitter comes from our dice, so that a run can be repeated.
func (w *world) retries(o *dynamodb.Options) {
	if os.Getenv(newRetries) == "true" {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 4 // a client of DynamoDB sets it so
			o.Backoff = jitter2026{w.dice, o.MaxBackoff, retry.IsErrorThrottles(o.Throttles)}
		})
		return
	}
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.Backoff = jitter{w.dice, o.MaxBackoff} })
}

// timed is what WithTimeout of the SDK's BuildableClient does: it sets the Timeout of its http.Client. Then an attempt that is not
// answered ends, and is repeated.
func timed(o *dynamodb.Options) {
	o.HTTPClient = &http.Client{Timeout: answerTime, Transport: transport{o.HTTPClient}}
}

// transport makes a client the way of another.
type transport struct{ dynamodb.HTTPClient }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }

// jitter is the SDK's ExponentialJitterBackoff, whose random numbers cannot be given.
type jitter struct {
	dice *dice
	most time.Duration
}

func (j jitter) BackoffDelay(attempt int, _ error) (time.Duration, error) {
	if attempt > int(math.Log2(j.most.Seconds())) {
		return j.most, nil
	}
	return time.Duration(j.dice.float64() * float64(time.Second) * float64(int(1)<<attempt)), nil
}

// jitter2026 is the SDK's backoff of 2026: shorter after a fault than after a throttle.
type jitter2026 struct {
	dice      *dice
	most      time.Duration
	throttled retry.IsErrorThrottle
}

func (j jitter2026) BackoffDelay(attempt int, err error) (time.Duration, error) {
	base := 25 * time.Millisecond // a client of DynamoDB sets it so
	if j.throttled.IsErrorThrottle(err) == aws.TrueTernary {
		base = time.Second
	}
	return time.Duration(j.dice.float64() * float64(min(base<<attempt, j.most))), nil
}

// dice are seeded random numbers for any goroutine.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rand: rand.New(rand.NewPCG(seed, 18))} }

func (d *dice) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.IntN(n)
}

func (d *dice) float64() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.Float64()
}

// source returns further dice, for one owner.
func (d *dice) source() rand.Source {
	d.mu.Lock()
	defer d.mu.Unlock()
	return rand.NewPCG(d.rand.Uint64(), d.rand.Uint64())
}

// sortOf is the sort key of an item: later ones are greater.
func sortOf(i int) string { return fmt.Sprintf("%08d", i) }

// stored reads the whole table, beside all faults. It counts the items of each sort key, and the partition keys.
func (w *world) stored(ctx context.Context) (found map[string]int, keys int) {
	w.Helper()
	found = map[string]int{}
	under := map[string]bool{}
	in := &dynamodb.ScanInput{TableName: aws.String(table), ProjectionExpression: aws.String("pk, sk"), ConsistentRead: aws.Bool(true)}
	for pages := dynamodb.NewScanPaginator(w.db.Client(patient), in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			w.Fatal(err)
		}
		for _, item := range page.Items {
			if pk := item["pk"].(*types.AttributeValueMemberS).Value; !layout.IsControl(pk) {
				under[pk] = true
				found[item["sk"].(*types.AttributeValueMemberS).Value]++
			}
		}
	}
	return found, len(under)
}

// patient is for a client that reads more than the partitions give at once.
func patient(o *dynamodb.Options) { o.RetryMaxAttempts = 1000 }
