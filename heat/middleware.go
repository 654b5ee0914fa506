package heat

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/internal/attempt"
)

// Option makes the recorder count every call of a client:
//
//	client := dynamodb.NewFromConfig(cfg, recorder.Option)
//
// It does not change calls, responses or errors. If the caller did not ask for the consumed capacity, the recorder asks for
// it and removes it from the response.
func (r *Recorder) Option(o *dynamodb.Options) {
	look := &lookup{recorder: r, options: o}
	// Each recorder has a name of its own, so that several can see the same call. It is put together here: the function
	// below runs with every call.
	seen := middleware.InitializeMiddlewareFunc(fmt.Sprintf("HeatRecorder%p", r),
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			return r.handle(ctx, look, in, next)
		})
	o.Protocol = withReceipts(o.Protocol)
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(seen, middleware.After)
	})
}

func (r *Recorder) handle(ctx context.Context, look *lookup, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	c := newCall()
	defer c.free()
	look.tables(ctx, c, in.Parameters)
	c.repeated = attempt.Of(ctx) > 1
	counted := r.fill(c, in.Parameters)
	begun := time.Since(r.started)
	asked := askForCapacity(ctx, in.Parameters, r.asksOf(c, in.Parameters, begun))
	in.Parameters, c.receipt = asked.input, asked.receipt
	out, metadata, err := next.HandleInitialize(asked.ctx, in)
	ended := time.Since(r.started)
	if counted {
		r.settle(c, in.Parameters, out.Result, metadata, err)
		c.record(&r.options, r.started.UnixNano()+int64(ended), ended-begun)
	} else {
		r.learn(out.Result)
	}
	if asked.caller != asksAll {
		hideCapacity(out.Result, asked.caller)
	}
	return out, metadata, err
}

// learn looks at descriptions of tables that pass by.
func (r *Recorder) learn(output any) {
	var d *types.TableDescription
	switch out := output.(type) {
	case *dynamodb.DescribeTableOutput:
		d = out.Table
	case *dynamodb.CreateTableOutput:
		d = out.TableDescription
	case *dynamodb.UpdateTableOutput:
		d = out.TableDescription
	case *dynamodb.DeleteTableOutput:
		if out.TableDescription != nil && out.TableDescription.TableName != nil {
			r.table(*out.TableDescription.TableName).forget()
		}
	}
	if d != nil && d.TableName != nil {
		r.table(*d.TableName).learn(d)
	}
}

// lookup looks tables up with the client that the recorder is an option of.
type lookup struct {
	recorder *Recorder
	options  *dynamodb.Options // complete once the client is made
}

// lookupTime bounds how long the first call of a table may wait for its description.
const lookupTime = 2 * time.Second

// tables looks up those tables of an input that are not known yet, or may have changed.
func (l *lookup) tables(ctx context.Context, c *call, input any) {
	if l.recorder.options.NoDescribe {
		return
	}
	switch in := input.(type) {
	case *dynamodb.BatchGetItemInput:
		for name := range in.RequestItems {
			l.table(ctx, c, name)
		}
	case *dynamodb.BatchWriteItemInput:
		for name := range in.RequestItems {
			l.table(ctx, c, name)
		}
	case *dynamodb.TransactGetItemsInput:
		for _, name := range transactGetTables(in.TransactItems) {
			l.table(ctx, c, name)
		}
	case *dynamodb.TransactWriteItemsInput:
		for _, name := range transactWriteTables(in.TransactItems) {
			l.table(ctx, c, name)
		}
	case *dynamodb.ExecuteStatementInput, *dynamodb.BatchExecuteStatementInput, *dynamodb.ExecuteTransactionInput:
		l.statements(ctx, c, input)
	default:
		if name := tableOf(input); name != nil {
			l.table(ctx, c, *name)
		}
	}
}

func (l *lookup) table(ctx context.Context, c *call, name string) {
	t := c.table(l.recorder, name)
	if !t.ask() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	_, err := dynamodb.New(*l.options).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	t.lookedUp(err)
}
