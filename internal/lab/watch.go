package lab

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// Watch counts the requests of the clients it is an option of, every attempt of a retry for itself. The zero value is
// ready; it must not be copied.
type Watch struct {
	Latency time.Duration // added to every request, as a network would; set before use

	mu      sync.Mutex
	traffic Traffic
}

// Traffic is what was sent.
type Traffic struct {
	Requests, Throttles   int
	ReadUnits, WriteUnits float64
	Items                 int // that queries read, whether or not a filter let them pass
}

func (t Traffic) minus(u Traffic) Traffic {
	return Traffic{
		Requests: t.Requests - u.Requests, Throttles: t.Throttles - u.Throttles, Items: t.Items - u.Items,
		ReadUnits: t.ReadUnits - u.ReadUnits, WriteUnits: t.WriteUnits - u.WriteUnits,
	}
}

// Traffic returns what was sent up to now.
func (w *Watch) Traffic() Traffic {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.traffic
}

// Option makes a client watched: db.Client(watch.Option). It asks for the consumed capacity of every request.
func (w *Watch) Option(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		if err := stack.Initialize.Add(middleware.InitializeMiddlewareFunc("LabUnits", w.units), middleware.After); err != nil {
			return err
		}
		// Before everything else that sees each attempt, so that the latency and the answer are those of one.
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("LabAttempts", w.attempt), "Retry", middleware.After)
	})
}

func (w *Watch) attempt(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	if w.Latency > 0 {
		select {
		case <-ctx.Done():
			return middleware.FinalizeOutput{}, middleware.Metadata{}, &aws.RequestCanceledError{Err: ctx.Err()}
		case <-time.After(w.Latency):
		}
	}
	out, metadata, err := next.HandleFinalize(ctx, in)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traffic.Requests++
	if dispatch.TooFast(err) {
		w.traffic.Throttles++
	}
	return out, metadata, err
}

func (w *Watch) units(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	if capacity := capacityOption(in.Parameters); capacity != nil && (*capacity == "" || *capacity == types.ReturnConsumedCapacityNone) {
		*capacity = types.ReturnConsumedCapacityTotal
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traffic.add(out.Result)
	return out, metadata, err
}

// capacityOption returns where an input says what to return of its capacity, nil if it cannot.
func capacityOption(input any) *types.ReturnConsumedCapacity {
	switch input := input.(type) {
	case *dynamodb.PutItemInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.UpdateItemInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.DeleteItemInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.GetItemInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.QueryInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.BatchGetItemInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.BatchWriteItemInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.TransactWriteItemsInput:
		return &input.ReturnConsumedCapacity
	case *dynamodb.TransactGetItemsInput:
		return &input.ReturnConsumedCapacity
	}
	return nil
}

func (t *Traffic) add(output any) {
	read := func(all ...types.ConsumedCapacity) {
		for _, c := range all {
			t.ReadUnits += aws.ToFloat64(c.CapacityUnits)
		}
	}
	write := func(all ...types.ConsumedCapacity) {
		for _, c := range all {
			t.WriteUnits += aws.ToFloat64(c.CapacityUnits)
		}
	}
	switch output := output.(type) {
	case *dynamodb.PutItemOutput:
		write(some(output.ConsumedCapacity)...)
	case *dynamodb.UpdateItemOutput:
		write(some(output.ConsumedCapacity)...)
	case *dynamodb.DeleteItemOutput:
		write(some(output.ConsumedCapacity)...)
	case *dynamodb.BatchWriteItemOutput:
		write(output.ConsumedCapacity...)
	case *dynamodb.TransactWriteItemsOutput:
		write(output.ConsumedCapacity...)
	case *dynamodb.GetItemOutput:
		read(some(output.ConsumedCapacity)...)
	case *dynamodb.QueryOutput:
		t.Items += int(output.ScannedCount)
		read(some(output.ConsumedCapacity)...)
	case *dynamodb.BatchGetItemOutput:
		read(output.ConsumedCapacity...)
	case *dynamodb.TransactGetItemsOutput:
		read(output.ConsumedCapacity...)
	}
}

func some(c *types.ConsumedCapacity) []types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	return []types.ConsumedCapacity{*c}
}
