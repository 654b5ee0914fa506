package ratelimit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

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
	if options.Timeout == 0 {
		options.Timeout = time.Minute // the machine may be busy
	}
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

// fault is what goes wrong with a request.
type fault uint8

const (
	noFault     fault = iota
	tooBusy           // refused for its rate
	lostRequest       // the connection broke before DynamoDB did anything
	lostAnswer        // the connection broke after DynamoDB did it
	forbidden         // refused for good
	silence           // there is no answer until the caller gives up, and it was not applied
)

// faulty is a client whose requests go wrong or take long, as a function says that is asked for each of them.
type faulty struct {
	ratelimit.Client
	next func(shardKey string) (fault, time.Duration)

	mu      sync.Mutex
	updates int
	applied int      // of those whose answer was lost
	keys    []string // the partition keys of all updates
}

// failing returns a client whose first updates go wrong, one after another.
func failing(client ratelimit.Client, faults ...fault) *faulty {
	return &faulty{Client: client, next: func(string) (fault, time.Duration) {
		if len(faults) == 0 {
			return noFault, 0
		}
		f := faults[0]
		faults = faults[1:]
		return f, 0
	}}
}

// always returns a client whose updates all go wrong.
func always(client ratelimit.Client, f fault) *faulty {
	return &faulty{Client: client, next: func(string) (fault, time.Duration) { return f, 0 }}
}

func (f *faulty) sent() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.updates
}

// UpdateItem waits, half before and half after DynamoDB does it.
func (f *faulty) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	f.mu.Lock()
	f.updates++
	shardKey := in.Key["pk"].(*types.AttributeValueMemberS).Value
	f.keys = append(f.keys, shardKey)
	fault, delay := f.next(shardKey)
	f.mu.Unlock()
	if err := sleep(ctx, delay/2); err != nil {
		return nil, err
	}
	switch fault {
	case tooBusy:
		return nil, &types.ProvisionedThroughputExceededException{
			Message:           aws.String("too fast"),
			ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded")}},
		}
	case forbidden:
		return nil, answerError(http.StatusBadRequest, &smithy.GenericAPIError{Code: "AccessDeniedException"})
	case lostRequest:
		return nil, sendError(io.ErrUnexpectedEOF)
	case silence:
		<-ctx.Done()
		return nil, sendError(ctx.Err())
	}
	out, err := f.Client.UpdateItem(ctx, in, opts...)
	if err := sleep(ctx, delay/2); err != nil {
		return nil, err
	}
	if fault == lostAnswer {
		if err == nil {
			f.mu.Lock()
			f.applied++
			f.mu.Unlock()
		}
		return nil, sendError(io.ErrUnexpectedEOF)
	}
	return out, err
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return sendError(ctx.Err())
	}
}

// sendError is an error as the SDK returns it when a request could not be sent or its answer not be read.
func sendError(err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "UpdateItem", Err: &smithyhttp.RequestSendError{
		Err: &url.Error{Op: "Post", URL: "https://dynamodb", Err: err},
	}}
}

// answerError is an error as the SDK returns it for an answer with an error.
func answerError(status int, err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "UpdateItem", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err,
	}}
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
