package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// item and value save some typing.
type (
	item  = map[string]types.AttributeValue
	value = types.AttributeValue
)

func text(s string) value   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) value { return &types.AttributeValueMemberN{Value: s} }
func whole(i int) value     { return &types.AttributeValueMemberN{Value: strconv.Itoa(i)} }
func key(id string) item    { return item{"id": text(id)} }
func with(it item, kv ...any) item {
	out := item{}
	maps.Copy(out, it)
	for i := 0; i < len(kv); i += 2 {
		out[kv[i].(string)] = kv[i+1].(value)
	}
	return out
}

// onDemand describes a table with keys such as "id S" or "number N"; edit
// changes the description.
func onDemand(name string, edit func(*dynamodb.CreateTableInput), keys ...string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	in.KeySchema, in.AttributeDefinitions = schema(keys...)
	if edit != nil {
		edit(in)
	}
	return in
}

func schema(keys ...string) (elements []types.KeySchemaElement, definitions []types.AttributeDefinition) {
	kind := types.KeyTypeHash
	for _, k := range keys {
		name, typ, _ := strings.Cut(k, " ")
		elements = append(elements, types.KeySchemaElement{AttributeName: &name, KeyType: kind})
		definitions = append(definitions, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeType(typ)})
		kind = types.KeyTypeRange
	}
	return elements, definitions
}

func withStream(in *dynamodb.CreateTableInput) {
	in.StreamSpecification = &types.StreamSpecification{
		StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
	}
}

// must returns what a call returned, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(out T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func open(t *testing.T, options local.Options) *local.DB {
	t.Helper()
	db, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// noRetry makes a client report the first error.
func noRetry(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// records reads every record of a table's stream.
func records(ctx context.Context, t *testing.T, db *local.DB, table string) (all []streamtypes.Record) {
	t.Helper()
	described := must[*dynamodb.DescribeTableOutput](t)(
		db.Client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table}))
	streams, arn := db.StreamsClient(), described.Table.LatestStreamArn
	stream := must[*dynamodbstreams.DescribeStreamOutput](t)(
		streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn}))
	for _, shard := range stream.StreamDescription.Shards {
		start := must[*dynamodbstreams.GetShardIteratorOutput](t)(
			streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
				StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
			}))
		for at := start.ShardIterator; at != nil; {
			page := must[*dynamodbstreams.GetRecordsOutput](t)(
				streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: at}))
			if len(page.Records) == 0 && shard.SequenceNumberRange.EndingSequenceNumber == nil {
				break // an open shard has no end
			}
			all = append(all, page.Records...)
			at = page.NextShardIterator
		}
	}
	return all
}

func TestManyEnginesShareNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var group sync.WaitGroup
	for engine := range 12 {
		db := local.Start(t)
		group.Go(func() {
			client := db.Client()
			if _, err := client.CreateTable(ctx, onDemand("same", nil, "id S")); err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
					TableName: aws.String("same"), Item: with(key(strconv.Itoa(i)), "engine", whole(engine)),
				})
				if err != nil {
					t.Error(err)
				}
			}
			out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("same")})
			if err != nil || len(out.Items) != 20 {
				t.Errorf("engine %d: scan gave %v items, %v; want 20", engine, out, err)
				return
			}
			for _, it := range out.Items {
				if n := it["engine"].(*types.AttributeValueMemberN).Value; n != strconv.Itoa(engine) {
					t.Errorf("engine %d has an item of engine %s", engine, n)
				}
			}
		})
	}
	group.Wait()
}

// direct is an HTTP client that does not know whether the engine is closed.
type direct struct{ http.Handler }

func (d direct) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestCloseIsFinalAndIdempotent(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		db, err := local.New(local.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		client := db.Client(noRetry, func(o *dynamodb.Options) { o.HTTPClient = direct{db.Handler()} })
		streams := db.StreamsClient(func(o *dynamodbstreams.Options) {
			o.HTTPClient, o.Retryer = direct{db.Handler()}, aws.NopRetryer{}
		})
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", withStream, "id S")))
		for range 3 {
			if err := db.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		name := aws.String("things")
		for call, f := range map[string]func() error{
			"PutItem": func() error {
				_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: key("a")})
				return err
			},
			"GetItem": func() error {
				_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: key("a")})
				return err
			},
			"UpdateItem": func() error {
				_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key("a")})
				return err
			},
			"DeleteItem": func() error {
				_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: key("a")})
				return err
			},
			"Query": func() error {
				_, err := client.Query(ctx, &dynamodb.QueryInput{
					TableName: name, KeyConditionExpression: aws.String("id = :id"), ExpressionAttributeValues: item{":id": text("a")},
				})
				return err
			},
			"Scan": func() error {
				_, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: name})
				return err
			},
			"BatchGetItem": func() error {
				_, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
					RequestItems: map[string]types.KeysAndAttributes{*name: {Keys: []item{key("a")}}},
				})
				return err
			},
			"BatchWriteItem": func() error {
				_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
					RequestItems: map[string][]types.WriteRequest{*name: {{PutRequest: &types.PutRequest{Item: key("a")}}}},
				})
				return err
			},
			"TransactGetItems": func() error {
				_, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
					TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: name, Key: key("a")}}},
				})
				return err
			},
			"TransactWriteItems": func() error {
				_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
					TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: name, Item: key("a")}}},
				})
				return err
			},
			"CreateTable": func() error {
				_, err := client.CreateTable(ctx, onDemand("others", nil, "id S"))
				return err
			},
			"DescribeTable": func() error {
				_, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: name})
				return err
			},
			"UpdateTable": func() error {
				_, err := client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: name, DeletionProtectionEnabled: aws.Bool(true)})
				return err
			},
			"DeleteTable": func() error {
				_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: name})
				return err
			},
			"ListTables": func() error {
				_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
				return err
			},
			"UpdateTimeToLive": func() error {
				_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
					TableName:               name,
					TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
				})
				return err
			},
			"ListStreams": func() error {
				_, err := streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
				return err
			},
		} {
			if err := f(); err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("%s after Close: got %v, want an error that says so", call, err)
			}
		}
	}
}

// Nothing is gained by asking a closed engine again.
func TestClosedEngineIsNotRetried(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client, start := db.Client(), time.Now()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
		if err == nil || !strings.Contains(err.Error(), "closed") || time.Since(start) > 0 {
			t.Errorf("got %v after %s, want that it is closed, at once", err, time.Since(start))
		}
	})
}

// A request that runs while the engine is closed is either answered or refused,
// and never finds the store gone.
func TestCloseWhileBusy(t *testing.T) {
	t.Parallel()
	for range 10 {
		db, err := local.New(local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, client := t.Context(), db.Client(noRetry)
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", withStream, "id S")))
		var group sync.WaitGroup
		for writer := range 8 {
			group.Go(func() {
				for i := 0; ; i++ {
					id := strconv.Itoa(i % 3)
					var err error
					switch writer % 4 {
					case 0:
						_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("things"), Item: with(key(id), "n", whole(i))})
					case 1:
						_, err = client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("things")})
					case 2:
						_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
							TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("things"), Item: with(key("t"+id), "n", whole(i))}}},
						})
					default:
						_, err = client.ListTables(ctx, &dynamodb.ListTablesInput{})
					}
					var canceled *types.TransactionCanceledException // two writers meet
					if err == nil || errors.As(err, &canceled) {
						continue
					}
					if !strings.Contains(err.Error(), "closed") {
						t.Errorf("got %v, want success or that the engine is closed", err)
					}
					return
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
	}
}

// Not parallel: it counts goroutines.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, dir := range []string{"", t.TempDir(), ""} {
		db, err := local.New(local.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		ctx, client := t.Context(), db.Client()
		must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand("things", withStream, "id S")))
		enableTTL(ctx, t, client, "things")
		for i := range 100 {
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String("things"), Item: with(key(strconv.Itoa(i)), "ttl", whole(int(time.Now().Unix())+i%2)),
			}))
		}
		_ = records(ctx, t, db, "things")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(30 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond) // some are ending
	}
	if after := runtime.NumGoroutine(); after > before {
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		t.Errorf("%d goroutines before, %d after:\n%s", before, after, &stacks)
	}
}

func enableTTL(ctx context.Context, t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	must[*dynamodb.UpdateTimeToLiveOutput](t)(client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
	}))
}

func TestCanceledContextEndsTheCall(t *testing.T) {
	t.Parallel()
	db := local.Start(t)
	client := db.Client()
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(t.Context(), onDemand("things", nil, "id S")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("things"), Item: key("a")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("put: got %v, want that it was cancelled", err)
	}
	out := must[*dynamodb.ScanOutput](t)(client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("things")}))
	if out.Count != 0 {
		t.Errorf("a put that was cancelled before it began wrote %v", out.Items)
	}
}

func TestDirectorySurvivesReopening(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "not", "there", "yet")
	const table = "things"
	for round := range 3 {
		db := open(t, local.Options{Dir: dir})
		client := db.Client()
		if round == 0 {
			must[*dynamodb.CreateTableOutput](t)(client.CreateTable(ctx, onDemand(table, withStream, "id S")))
			enableTTL(ctx, t, client, table)
		}
		described := must[*dynamodb.DescribeTableOutput](t)(client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}))
		if got := aws.ToInt64(described.Table.ItemCount); got != int64(10*round) {
			t.Errorf("round %d begins with %d items, want %d", round, got, 10*round)
		}
		for i := range 10 {
			must[*dynamodb.PutItemOutput](t)(client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String(table), Item: with(key(fmt.Sprintf("%d-%d", round, i)), "n", whole(i)),
			}))
		}
		if got := len(records(ctx, t, db, table)); got != 10*(round+1) {
			t.Errorf("round %d: the stream has %d records, want %d", round, got, 10*(round+1))
		}
		ttl := must[*dynamodb.DescribeTimeToLiveOutput](t)(client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)}))
		if got := ttl.TimeToLiveDescription.TimeToLiveStatus; got != types.TimeToLiveStatusEnabled {
			t.Errorf("round %d: TTL is %s, want ENABLED", round, got)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	open(t, local.Options{Dir: used})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(used, link); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, want string }{
		"in use":                  {used, "in use"},
		"in use, by another name": {used + "/../" + filepath.Base(used) + "/", "in use"},
		"in use, by a link":       {link, "in use"},
		"holds something else":    {foreign, "thesis.tex"},
		"is a file":               {filepath.Join(foreign, "thesis.tex"), "not a directory"},
		"cannot be created":       {"/proc/heatsink", "/proc/heatsink"},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := local.New(local.Options{Dir: c.dir})
			if err == nil {
				_ = db.Close()
				t.Fatalf("opened %s", c.dir)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want it to name %q", err, c.want)
			}
		})
	}
}

func TestOptionsReachTheEngine(t *testing.T) {
	t.Parallel()
	db := open(t, local.Options{Region: "eu-central-1"})
	out := must[*dynamodb.CreateTableOutput](t)(db.Client().CreateTable(t.Context(), onDemand("things", nil, "id S")))
	if arn := aws.ToString(out.TableDescription.TableArn); !strings.HasPrefix(arn, "arn:aws:dynamodb:eu-central-1:") {
		t.Errorf("got ARN %s, want it in eu-central-1", arn)
	}
}

// The handler serves clients over a port as well, with what AWS sends besides
// the answer.
func TestHandlerOnAPort(t *testing.T) {
	t.Parallel()
	db := local.Start(t)
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	client := db.Client(func(o *dynamodb.Options) {
		o.BaseEndpoint, o.HTTPClient = aws.String(server.URL), server.Client()
	})
	must[*dynamodb.CreateTableOutput](t)(client.CreateTable(t.Context(), onDemand("things", nil, "id S")))

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(body), `{"TableNames":["things"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, header := range []string{"X-Amzn-Requestid", "X-Amz-Crc32"} {
		if response.Header.Get(header) == "" {
			t.Errorf("the answer has no %s", header)
		}
	}
}

// A reserve reaches the engine, which refuses one that no disk can keep.
func TestReserve(t *testing.T) {
	db, err := local.New(local.Options{Dir: t.TempDir(), Reserve: math.MaxInt64})
	if err == nil {
		_ = db.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "a reserve of") {
		t.Errorf("got %v, want an error about the reserve", err)
	}
}
