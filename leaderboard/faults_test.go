package leaderboard

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// fault is what goes wrong with a request.
type fault uint8

const (
	noFault    fault = iota
	tooBusy          // refused for its rate
	lostAsk          // the connection broke before DynamoDB did anything
	lostAnswer       // the connection broke after DynamoDB did it
	brokeDown        // DynamoDB did it and answered 500
	forbidden        // refused for good
	conflict         // a transaction met another one; else as tooBusy
)

// faulty is a client whose requests go wrong.
type faulty struct {
	Client
	fault func(operation string) fault // asked for every request, one at a time

	mu   sync.Mutex
	sent map[string]int // by operation
}

// failing returns a client whose first requests go wrong, one after another.
func failing(client Client, faults ...fault) *faulty {
	return &faulty{Client: client, fault: func(string) fault {
		if len(faults) == 0 {
			return noFault
		}
		f := faults[0]
		faults = faults[1:]
		return f
	}}
}

func (f *faulty) next(operation string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = make(map[string]int)
	}
	f.sent[operation]++
	return f.fault(operation)
}

func (f *faulty) requests(operation string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[operation]
}

func (f fault) err() error {
	broken := func(err error) error {
		return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.RequestSendError{
			Err: &url.Error{Op: "Post", URL: "https://dynamodb", Err: err},
		}}
	}
	answer := func(status int, err error) error {
		return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "X", Err: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err,
		}}
	}
	switch f {
	case lostAsk:
		return broken(io.ErrClosedPipe)
	case lostAnswer:
		return broken(io.ErrUnexpectedEOF)
	case brokeDown:
		return answer(http.StatusInternalServerError, &types.InternalServerError{Message: aws.String("oops")})
	case forbidden:
		return answer(http.StatusBadRequest, &smithy.GenericAPIError{Code: "AccessDeniedException", Fault: smithy.FaultClient})
	}
	return answer(http.StatusBadRequest, &types.ThrottlingException{Message: aws.String("too fast")})
}

// suffer sends a request, or what the fault leaves of it.
func suffer[T any](f fault, call func() (*T, error)) (*T, error) {
	if f != noFault && f != lostAnswer && f != brokeDown {
		return nil, f.err()
	}
	out, err := call()
	if err != nil || f == noFault {
		return out, err
	}
	return nil, f.err()
}

func (f *faulty) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return suffer(f.next("GetItem"), func() (*dynamodb.GetItemOutput, error) { return f.Client.GetItem(ctx, in, opts...) })
}

func (f *faulty) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return suffer(f.next("UpdateItem"), func() (*dynamodb.UpdateItemOutput, error) { return f.Client.UpdateItem(ctx, in, opts...) })
}

func (f *faulty) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return suffer(f.next("DeleteItem"), func() (*dynamodb.DeleteItemOutput, error) { return f.Client.DeleteItem(ctx, in, opts...) })
}

func (f *faulty) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return suffer(f.next("Query"), func() (*dynamodb.QueryOutput, error) { return f.Client.Query(ctx, in, opts...) })
}

func (f *faulty) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	met := f.next("TransactWriteItems")
	if met == conflict {
		return nil, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{
			{Code: aws.String("None")}, {Code: aws.String("TransactionConflict")},
		}}
	}
	return suffer(met, func() (*dynamodb.TransactWriteItemsOutput, error) {
		return f.Client.TransactWriteItems(ctx, in, opts...)
	})
}
