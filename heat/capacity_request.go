package heat

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// asks is how much of the consumed capacity the caller of an operation asks for.
type asks int

const (
	asksAll   asks = iota // by table and index, or of an operation that has none
	asksTotal             // the sum
	asksNone
)

// The answers that tell apart what tables and indexes consumed, and those that need not, as there is one of them only. They
// are shorter.
const (
	apart = types.ReturnConsumedCapacityIndexes
	whole = types.ReturnConsumedCapacityTotal
)

// question is a call as it is sent on: its input asks for the consumed capacity.
type question struct {
	ctx     context.Context
	input   any
	caller  asks     // what the caller's input asks for
	receipt *receipt // where the answer is; nil if it is in the output
}

// askForCapacity returns the question of an input, in which a write of one item asks for write. Its input is a copy, as the
// caller's input is the caller's, and is only made where something is missing.
func askForCapacity(ctx context.Context, input any, write types.ReturnConsumedCapacity) question {
	q := question{ctx: ctx, input: input}
	if r := receiptOf(ctx); r != nil {
		if r.input == input {
			q.receipt = r // another recorder of the client has asked
			return q
		}
		q.ctx = noReceipt(ctx) // of a call that makes this one
	}
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		answered(&q, in, whole, schemas.GetItemOutput_ConsumedCapacity, getCapacity)
	case *dynamodb.PutItemInput:
		answered(&q, in, write, schemas.PutItemOutput_ConsumedCapacity, putCapacity)
	case *dynamodb.UpdateItemInput:
		answered(&q, in, write, schemas.UpdateItemOutput_ConsumedCapacity, updateCapacity)
	case *dynamodb.DeleteItemInput:
		answered(&q, in, write, schemas.DeleteItemOutput_ConsumedCapacity, deleteCapacity)
	case *dynamodb.QueryInput:
		asking(&q, in, ofIndex(in.IndexName), func(c *dynamodb.QueryInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.ScanInput:
		asking(&q, in, ofIndex(in.IndexName), func(c *dynamodb.ScanInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchGetItemInput:
		asking(&q, in, whole, func(c *dynamodb.BatchGetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchWriteItemInput:
		asking(&q, in, apart, func(c *dynamodb.BatchWriteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.ExecuteStatementInput:
		asking(&q, in, apart, func(c *dynamodb.ExecuteStatementInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	case *dynamodb.BatchExecuteStatementInput:
		asking(&q, in, apart, func(c *dynamodb.BatchExecuteStatementInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	case *dynamodb.ExecuteTransactionInput:
		asking(&q, in, apart, func(c *dynamodb.ExecuteTransactionInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	case *dynamodb.TransactGetItemsInput:
		asking(&q, in, whole, func(c *dynamodb.TransactGetItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	case *dynamodb.TransactWriteItemsInput:
		asking(&q, in, apart, func(c *dynamodb.TransactWriteItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	}
	return q
}

// apartEvery is how long writes of a table without global indexes go on until one tells indexes apart all the same: the table
// may have got one since it was looked up. Until then its units count as the table's. Such an answer takes longer to read.
const apartEvery = 50 * time.Millisecond

// asksOf returns what a write of one item has to ask for, at a time since the recorder was made.
func (r *Recorder) asksOf(c *call, input any, now time.Duration) types.ReturnConsumedCapacity {
	name := tableOf(input)
	if name == nil || c.direction == Read {
		return apart // which nobody uses
	}
	t := c.table(r, *name)
	v := t.view.Load()
	if v.own.capacity == nil || v.doubted || len(v.indexes) > 0 {
		return apart
	}
	if last := t.apart.Load(); now-time.Duration(last) >= apartEvery && t.apart.CompareAndSwap(last, int64(now)) {
		return apart
	}
	return whole
}

// oneItem is what a call of one item says of its answer.
type oneItem struct {
	table    *string
	capacity *types.ReturnConsumedCapacity
}

func getCapacity(in *dynamodb.GetItemInput) oneItem {
	return oneItem{in.TableName, &in.ReturnConsumedCapacity}
}

func putCapacity(in *dynamodb.PutItemInput) oneItem {
	return oneItem{in.TableName, &in.ReturnConsumedCapacity}
}

func updateCapacity(in *dynamodb.UpdateItemInput) oneItem {
	return oneItem{in.TableName, &in.ReturnConsumedCapacity}
}

func deleteCapacity(in *dynamodb.DeleteItemInput) oneItem {
	return oneItem{in.TableName, &in.ReturnConsumedCapacity}
}

func ofIndex(name *string) types.ReturnConsumedCapacity {
	if name == nil {
		return whole
	}
	return apart // the index may be an unknown local one
}

// missing returns what the caller asks for, given what is needed, and whether more has to be asked for.
func missing(asked, needed types.ReturnConsumedCapacity) (caller asks, ask bool) {
	switch asked {
	case types.ReturnConsumedCapacityTotal:
		if needed == whole {
			return asksAll, false
		}
		return asksTotal, true
	case "", types.ReturnConsumedCapacityNone:
		return asksNone, true
	}
	return asksAll, false // apart, or something that DynamoDB will refuse in its own words
}

func asking[T any](q *question, input *T, needed types.ReturnConsumedCapacity, capacity func(*T) *types.ReturnConsumedCapacity) {
	if input == nil {
		return
	}
	caller, ask := missing(*capacity(input), needed)
	if !ask {
		return
	}
	changed := *input
	*capacity(&changed) = needed
	q.input, q.caller = &changed, caller
}

// answered is asking for a call of one item, with a receipt for the answer unless the caller wants to see it. What the
// response is read into is the member of the operation's output. Other operations need none: their responses are large.
func answered[T any](q *question, input *T, needed types.ReturnConsumedCapacity, member *smithy.Schema,
	of func(*T) oneItem,
) {
	if input == nil {
		return
	}
	caller, ask := missing(*of(input).capacity, needed)
	if !ask {
		return
	}
	changed := &request[T]{asking: *input}
	item := of(&changed.asking)
	*item.capacity = needed
	q.input, q.caller = &changed.asking, caller
	if caller == asksNone {
		r := &changed.receipt
		r.Context, r.input, r.member, r.table = q.ctx, q.input, member, item.table
		q.ctx, q.receipt = r, r
	}
}

// hideCapacity takes out of an answer what the caller did not ask for.
func hideCapacity(output any, caller asks) {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.BatchWriteItemOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.ExecuteStatementOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.BatchExecuteStatementOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.ExecuteTransactionOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.TransactGetItemsOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	}
}

func (a asks) one(c *types.ConsumedCapacity) *types.ConsumedCapacity {
	if c == nil || a == asksNone {
		return nil
	}
	c.Table, c.GlobalSecondaryIndexes, c.LocalSecondaryIndexes = nil, nil, nil
	return c
}

func (a asks) all(list []types.ConsumedCapacity) []types.ConsumedCapacity {
	if a == asksNone {
		return nil
	}
	for i := range list {
		a.one(&list[i])
	}
	return list
}
