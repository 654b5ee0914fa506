package eventlog_test

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink/eventlog"
)

// fault is what goes wrong with a request.
type fault uint8

const (
	noFault     fault = iota
	tooBusy           // refused for its rate
	lostRequest       // the connection broke before anything was done
	lostAnswer        // the connection broke after it was done
	forbidden         // refused for good
	partly            // half of a batch is left unprocessed; else as tooBusy
)

func (f fault) err() error {
	switch f {
	case tooBusy, partly:
		return &types.ThrottlingException{
			Message:           aws.String("too fast"),
			ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded")}},
		}
	case forbidden:
		return &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusBadRequest}},
			Err:      &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"},
		}
	}
	return &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF}
}

// faulty is a client whose requests go wrong.
type faulty struct {
	eventlog.Client

	mu    sync.Mutex
	next  func(operation string) fault // nil: none does
	sends map[string]int
}

// fail makes the next requests go wrong, one after another.
func (f *faulty) fail(faults ...fault) {
	f.decide(func(string) fault {
		if len(faults) == 0 {
			return noFault
		}
		first := faults[0]
		faults = faults[1:]
		return first
	})
}

func (f *faulty) decide(next func(operation string) fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = next
}

func (f *faulty) fault(operation string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sends == nil {
		f.sends = map[string]int{}
	}
	f.sends[operation]++
	if f.next == nil {
		return noFault
	}
	return f.next(operation)
}

// suffer sends a request, or what the fault leaves of it.
func suffer[T any](f fault, send func() (*T, error)) (*T, error) {
	if f != noFault && f != lostAnswer {
		return nil, f.err()
	}
	out, err := send()
	if err != nil || f == noFault {
		return out, err
	}
	return nil, f.err()
}

func (f *faulty) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return suffer(f.fault("PutItem"), func() (*dynamodb.PutItemOutput, error) { return f.Client.PutItem(ctx, in, options...) })
}

func (f *faulty) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	operation := "Query of the table"
	if in.IndexName != nil {
		operation = "Query of the index"
	}
	return suffer(f.fault(operation), func() (*dynamodb.QueryOutput, error) { return f.Client.Query(ctx, in, options...) })
}

func (f *faulty) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	fault := f.fault("BatchWriteItem")
	if fault != partly {
		return suffer(fault, func() (*dynamodb.BatchWriteItemOutput, error) { return f.Client.BatchWriteItem(ctx, in, options...) })
	}
	now, later := *in, map[string][]types.WriteRequest{}
	now.RequestItems = map[string][]types.WriteRequest{}
	for table, writes := range in.RequestItems {
		half := len(writes) / 2
		if half == 0 {
			return nil, partly.err()
		}
		now.RequestItems[table], later[table] = writes[:half], writes[half:]
	}
	out, err := f.Client.BatchWriteItem(ctx, &now, options...)
	if err == nil {
		out.UnprocessedItems = later
	}
	return out, err
}
