package heat_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// failer is a test, a benchmark or a check of rapid.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// newRecorder returns a recorder, or fails.
func newRecorder(t failer, options heat.Options) *heat.Recorder {
	t.Helper()
	recorder, err := heat.NewRecorder(options)
	if err != nil {
		t.Fatal(err)
	}
	return recorder
}

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func key(pk, sk string) item { return item{"pk": text(pk), "sk": text(sk)} }

// start returns an engine with a table (pk, sk).
func start(t *testing.T, physics *local.Physics) *local.DB {
	t.Helper()
	db, err := local.New(local.Options{Physics: physics})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	return db
}

func resource(t *testing.T, report heat.Report, name string) *heat.ResourceReport {
	t.Helper()
	for i := range report.Resources {
		if report.Resources[i].String() == name {
			return &report.Resources[i]
		}
	}
	t.Fatalf("the report has no %s: %+v", name, report.Resources)
	return nil
}

// The hot-key demo: a key that 4,000 writes a second want to reach, among others. Within two seconds the recorder names
// it, with the rate that the partition gives it, and with the reason of its throttles.
func TestRecorderFindsTheHotKeyWithinTwoSeconds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{})
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		put := func(pk string, i int) {
			_, _ = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key(pk, fmt.Sprint(i))})
		}
		for tick := range 200 {
			for i := range 40 {
				put("PAGE#viral", 40*tick+i)
			}
			put(fmt.Sprint("PAGE#", tick%50), tick)
			time.Sleep(10 * time.Millisecond)
		}
		writes := resource(t, recorder.Report(), "views").Writes
		hot := writes.Keys[0]
		if hot.Key != "PAGE#viral" {
			t.Fatalf("the hottest key is %q", hot.Key)
		}
		if hot.Reason != "TableWriteKeyRangeThroughputExceeded" || hot.Throttled < 5000 {
			t.Errorf("throttled %d times because of %q", hot.Throttled, hot.Reason)
		}
		// 1,000 a second, and what the partition had saved before.
		if want := hot.Units / 2; math.Abs(hot.Consumed-want) > 0.05*want {
			t.Errorf("consumed %.0f a second, %.0f were", hot.Consumed, want)
		}
		if math.Abs(hot.RateLow-4000) > 0.05*4000 {
			t.Errorf("%.0f a second wanted at least, 4000 were", hot.RateLow)
		}
		if hot.Items < 100 || hot.Share < 0.95 {
			t.Errorf("%d items, share %.2f", hot.Items, hot.Share)
		}
		t.Logf("%.0f a second consumed, %.0f to %.0f wanted, share %.1f%%, %d throttles", hot.Consumed, hot.RateLow, hot.Rate, 100*hot.Share, hot.Throttled)
	})
}

// A report has the units of each second.
func TestRecordedTrend(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{})
		client := start(t, nil).Client(recorder.Option)
		for _, writes := range []int{3, 0, 1} {
			for i := range writes {
				if err := putItem(t, client, "views", key("a", fmt.Sprint(i))); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
		flow := resource(t, recorder.Report(), "views").Writes
		if len(flow.Trend) != 2 || flow.Trend[0].Units != 3 || flow.Trend[1].Units != 1 || flow.Trend[1].From.Sub(flow.Trend[0].From) != 2*time.Second {
			t.Errorf("got %+v, want 3 units, and 1 two seconds later", flow.Trend)
		}
		if flow.Peak != 3 {
			t.Errorf("got a peak of %v units a second, want 3", flow.Peak)
		}
	})
}

// The caller's call stays as it is: the input unchanged, the capacity only where it was asked for.
func TestRecorderLeavesCallsAlone(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	in := &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", "1")}
	out, err := client.PutItem(t.Context(), in)
	if err != nil || out.ConsumedCapacity != nil || in.ReturnConsumedCapacity != "" {
		t.Errorf("got %+v, %v; input %+v", out, err, in)
	}
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("views"), Key: key("a", "1"), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil || got.ConsumedCapacity == nil || got.ConsumedCapacity.Table != nil || len(got.Item) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("views"), Item: key("a", "1"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	if failed := (*types.ConditionalCheckFailedException)(nil); !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
	r := resource(t, recorder.Report(), "views")
	if r.Writes.Units != 1 || r.Writes.Requests != 2 || r.Writes.Errors != 0 || r.Reads.Units != 0.5 {
		t.Errorf("counted %+v and %+v", r.Writes, r.Reads)
	}
}

// Every operation is attributed to the keys it is about, batches and transactions item by item.
func TestRecorderAttributesEveryOperation(t *testing.T) {
	db := start(t, nil)
	name := aws.String("views")
	for _, test := range []struct {
		name   string
		call   func(context.Context, *dynamodb.Client) error
		reads  map[string]float64
		writes map[string]float64
	}{
		{"put", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: key("a", "1")})
			return err
		}, nil, map[string]float64{"a": 1}},
		{"get", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: key("a", "1"), ConsistentRead: aws.Bool(true)})
			return err
		}, map[string]float64{"a": 1}, nil},
		{"update", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key("b", "1")})
			return err
		}, nil, map[string]float64{"b": 1}},
		{"batch write", func(ctx context.Context, c *dynamodb.Client) error {
			big := key("b", "2")
			big["body"] = text(strings.Repeat("x", 2500))
			_, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"views": {
				{PutRequest: &types.PutRequest{Item: key("a", "2")}}, {PutRequest: &types.PutRequest{Item: big}},
			}}})
			return err
		}, nil, map[string]float64{"a": 1, "b": 3}},
		{"batch get", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"views": {
				Keys: []map[string]types.AttributeValue{key("a", "1"), key("b", "2")},
			}}})
			return err
		}, map[string]float64{"a": 0.5, "b": 0.5}, nil},
		{"transact write", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: name, Item: key("a", "3")}},
				{Delete: &types.Delete{TableName: name, Key: key("c", "1")}},
			}})
			return err
		}, nil, map[string]float64{"a": 2, "c": 2}},
		{"transact get", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
				{Get: &types.Get{TableName: name, Key: key("a", "3")}},
			}})
			return err
		}, map[string]float64{"a": 2}, nil},
		{"query", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.Query(ctx, &dynamodb.QueryInput{
				TableName: name, KeyConditionExpression: aws.String("sk > :from AND (#k=:key)"),
				ExpressionAttributeNames:  map[string]string{"#k": "pk"},
				ExpressionAttributeValues: item{":from": text("0"), ":key": text("a")},
			})
			return err
		}, map[string]float64{"a": 0.5}, nil},
		{"scan", func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: name})
			return err
		}, map[string]float64{}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{})
			if err := test.call(t.Context(), db.Client(recorder.Option)); err != nil {
				t.Fatal(err)
			}
			r := resource(t, recorder.Report(), "views")
			check := func(flow heat.Flow, want map[string]float64) {
				t.Helper()
				if len(flow.Keys) != len(want) {
					t.Errorf("got %+v, want %v", flow.Keys, want)
				}
				for _, k := range flow.Keys {
					if k.Units != want[k.Key] {
						t.Errorf("%s took %v, want %v", k.Key, k.Units, want[k.Key])
					}
				}
			}
			check(r.Reads, test.reads)
			check(r.Writes, test.writes)
			if test.name == "scan" && r.Reads.Units == 0 {
				t.Error("the scan was not counted")
			}
		})
	}
}

// However many keys, the recorder stays as small as it was. BenchmarkTenMillionKeys has ten million.
func TestRecorderMemoryDoesNotGrow(t *testing.T) {
	if bytes := recorderMemory(t, 500_000); bytes > 1<<20 {
		t.Errorf("the recorder has %d bytes", bytes)
	}
}

// recorderMemory returns the bytes of a recorder that has seen so many different keys.
func recorderMemory(t testing.TB, keys int) int64 {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
	var key []byte
	for i := range keys {
		key = fmt.Appendf(key[:0], "user-%d", i)
		heat.Observe(recorder, "views", heat.Write, key, 1)
	}
	after := heap()
	runtime.KeepAlive(recorder)
	return after - before
}

// Many goroutines at once lose nothing.
func TestRecorderIsConcurrent(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key(fmt.Sprint("k", g), fmt.Sprint(i))}); err != nil {
					t.Error(err)
				}
				recorder.Report()
			}
		})
	}
	all.Wait()
	if r := resource(t, recorder.Report(), "views"); r.Writes.Units != 800 || r.Writes.Distinct.Keys != 8 {
		t.Errorf("counted %+v", r.Writes)
	}
}

// 000-02: what one partition bears.
func TestPartitionLimits(t *testing.T) {
	if heat.Read.Limit() != 3000 || heat.Write.Limit() != 1000 || heat.PartitionReadUnits != 3000 || heat.PartitionWriteUnits != 1000 {
		t.Error("a partition serves 3,000 read and 1,000 write units a second")
	}
}

// slow is an HTTP client whose answers take a while.
type slow struct {
	dynamodb.HTTPClient
	took time.Duration
}

func (s *slow) Do(request *http.Request) (*http.Response, error) {
	time.Sleep(s.took)
	return s.HTTPClient.Do(request)
}

// X08: each percentile is its own: of a thousand calls, 980 take 10 ms, 15 take 100 ms, four a second and one three.
func TestRecorderTellsPercentilesApart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		recorder := newRecorder(t, heat.Options{})
		if err := recorder.Describe(t.Context(), db.Client(), "views"); err != nil {
			t.Fatal(err)
		}
		network := &slow{}
		client := db.Client(recorder.Option, func(o *dynamodb.Options) {
			network.HTTPClient, o.HTTPClient = o.HTTPClient, network
		})
		for _, calls := range []struct {
			n    int
			took time.Duration
		}{{1, 3 * time.Second}, {4, time.Second}, {980, 10 * time.Millisecond}, {15, 100 * time.Millisecond}} {
			network.took = calls.took
			for i := range calls.n {
				if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("views"), Key: key("a", fmt.Sprint(i))}); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := resource(t, recorder.Report(), "views").Reads
		for _, l := range []struct {
			name      string
			got, want time.Duration
		}{
			{"p50", got.Latency.P50, 10 * time.Millisecond},
			{"p99", got.Latency.P99, 100 * time.Millisecond},
			{"p99.9", got.Latency.P999, time.Second},
			{"max", got.Latency.Max, 3 * time.Second},
		} {
			if math.Abs(float64(l.got-l.want)) > 0.01*float64(l.want) {
				t.Errorf("%s: got %v, want %v within 1 %%", l.name, l.got, l.want)
			}
		}
		if got.Requests != 1000 || got.Errors != 0 || got.Throttled != 0 || got.Retries != 0 {
			t.Errorf("got %d requests, %d errors, %d throttles, %d retries, want 1000 that went well", got.Requests, got.Errors, got.Throttled, got.Retries)
		}
	})
}

// X08: percentiles of what callers waited, and the numbers of retries, throttles and errors: of a call that was throttled
// and then served, and of one that cannot be.
func TestRecorderCountsLatencyAndThrottles(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{PartitionWrites: 10, Window: 100 * time.Millisecond})
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option)
		for i := range 20 {
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", fmt.Sprint(i))}); err != nil {
				time.Sleep(time.Second)
			}
		}
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: item{"pk": text("a")}})
		if err == nil {
			t.Fatal("a put without a sort key succeeded")
		}
		w := resource(t, recorder.Report(), "views").Writes
		if w.Throttled == 0 || w.Retries == 0 || w.Errors != 1 || w.Requests != int64(w.Units)+w.Throttled+w.Errors {
			t.Errorf("got %d requests: %.0f served, %d throttled, %d errors, %d retries", w.Requests, w.Units, w.Throttled, w.Errors, w.Retries)
		}
		if l := w.Latency; l.P50 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max || l.Max < 10*time.Millisecond {
			t.Errorf("latencies %+v", l)
		}
	})
}

// Options that contradict themselves are an error that says all that is wrong.
func TestNewRecorderRefusesOptions(t *testing.T) {
	recorder, err := heat.NewRecorder(heat.Options{Entries: -1, Top: -2})
	if recorder != nil || err == nil || !strings.Contains(err.Error(), "-1") || !strings.Contains(err.Error(), "Top is -2: it must not be negative") {
		t.Errorf("got %v, %v, want an error about Entries and Top", recorder, err)
	}
}
