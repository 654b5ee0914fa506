package counter

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
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
)

// fault is what goes wrong with a request.
type fault uint8

const (
	noFault     fault = iota
	throttle          // refused for its rate
	lostRequest       // the connection broke before DynamoDB did anything
	lostAnswer        // the connection broke after DynamoDB did it
	deny              // refused for good
	hang              // unanswered until the caller gives up; it is not done
	hangAfter         // the same, but it is done
)

// faulty is a client whose requests go wrong.
type faulty struct {
	*dynamodb.Client
	mu    sync.Mutex
	fault func(operation string, input any) fault // asked for every request; nil: none does
	sent  map[string]int                          // requests by operation
	slow  time.Duration                           // the longest that a request takes; set before use
}

// set changes what goes wrong from now on.
func (f *faulty) set(fault func(operation string, input any) fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// only makes requests of one operation go wrong, one after another, and returns a function that says how many are left.
func (f *faulty) only(operation string, faults ...fault) (left func() int) {
	f.set(func(got string, _ any) fault {
		if got != operation || len(faults) == 0 {
			return noFault
		}
		next := faults[0]
		faults = faults[1:]
		return next
	})
	return func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(faults)
	}
}

func (f *faulty) requests(operation string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[operation]
}

func (f *faulty) next(operation string, input any) fault {
	if f.slow > 0 {
		time.Sleep(rand.N(f.slow))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = map[string]int{}
	}
	f.sent[operation]++
	if f.fault == nil {
		return noFault
	}
	return f.fault(operation, input)
}

var (
	errThrottled = &types.ProvisionedThroughputExceededException{
		Message:           aws.String("too fast"),
		ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded")}},
	}
	errDenied = &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusBadRequest}},
		Err:      &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"},
	}}
	errBroken = &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.RequestSendError{
		Err: &url.Error{Op: "Post", URL: "https://dynamodb", Err: io.ErrUnexpectedEOF},
	}}
)

// suffer sends a request, or what the fault leaves of it.
func suffer[T any](ctx context.Context, f fault, call func(context.Context) (*T, error)) (*T, error) {
	if f == lostAnswer || f == hangAfter {
		if _, err := call(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
	}
	switch f {
	case throttle:
		return nil, errThrottled
	case deny:
		return nil, errDenied
	case lostRequest, lostAnswer:
		return nil, errBroken
	case hang, hangAfter:
		<-ctx.Done()
		return nil, &aws.RequestCanceledError{Err: ctx.Err()}
	}
	return call(ctx)
}

func (f *faulty) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return suffer(ctx, f.next("GetItem", in), func(ctx context.Context) (*dynamodb.GetItemOutput, error) { return f.Client.GetItem(ctx, in, opts...) })
}

func (f *faulty) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return suffer(ctx, f.next("UpdateItem", in), func(ctx context.Context) (*dynamodb.UpdateItemOutput, error) {
		return f.Client.UpdateItem(ctx, in, opts...)
	})
}

func (f *faulty) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return suffer(ctx, f.next("DeleteItem", in), func(ctx context.Context) (*dynamodb.DeleteItemOutput, error) {
		return f.Client.DeleteItem(ctx, in, opts...)
	})
}

func (f *faulty) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return suffer(ctx, f.next("Query", in), func(ctx context.Context) (*dynamodb.QueryOutput, error) { return f.Client.Query(ctx, in, opts...) })
}

func (f *faulty) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	return suffer(ctx, f.next("TransactGetItems", in), func(ctx context.Context) (*dynamodb.TransactGetItemsOutput, error) {
		return f.Client.TransactGetItems(ctx, in, opts...)
	})
}

func (f *faulty) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return suffer(ctx, f.next("TransactWriteItems", in), func(ctx context.Context) (*dynamodb.TransactWriteItemsOutput, error) {
		return f.Client.TransactWriteItems(ctx, in, opts...)
	})
}

// aTable starts an engine with a table of counters and returns a client whose requests may go wrong.
func aTable(t testing.TB) *faulty {
	t.Helper()
	client := local.Start(t).Client()
	if err := Setup(context.Background(), client, Options{Table: "counters"}); err != nil {
		t.Fatal(err)
	}
	return &faulty{Client: client}
}

// open opens counters in the table of aTable, and closes them when the test ends.
func open(t testing.TB, client Client, options Options) *Counter {
	t.Helper()
	options.Table = "counters"
	c, err := Open(client, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// mustAdd adds, and fails the test if that does.
func mustAdd(t testing.TB, c *Counter, key string, deltas ...int64) {
	t.Helper()
	for _, delta := range deltas {
		if err := c.Add(context.Background(), key, delta); err != nil {
			t.Fatal(err)
		}
	}
}

// isTotal checks a total.
func isTotal(t testing.TB, c *Counter, key string, want int64) {
	t.Helper()
	if got, err := c.Total(context.Background(), key); err != nil || got != want {
		t.Fatalf("total of %s: got %d, %v, want %d", key, got, err, want)
	}
}

// crash ends a counter as a killed process would: nothing more is sent.
func crash(c *Counter) {
	c.cancel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Close(ctx)
}
