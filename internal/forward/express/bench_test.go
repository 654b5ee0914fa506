package express

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/local"
)

// bench is a table in a real engine, with requests that are sent there.
type bench struct {
	client *dynamodb.Client
	table  Table
	ids    int
}

func newBench(t *testing.T) *bench {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "tab", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	table, err := NewTable("tab", "pk", "sk")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{client: db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }), table: table}
}

// homes returns those of a new id.
func (b *bench) homes() Homes {
	b.ids++
	sk := text(fmt.Sprint("id", b.ids))
	return Homes{Table: b.table, Old: Item{"pk": text("k"), "sk": sk}, New: Item{"pk": text("k#SHARD_17"), "sk": sk}}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (b *bench) load(t fataler, key Item) Item {
	t.Helper()
	out, err := b.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out.Item
}

func (b *bench) store(t fataler, item Item) {
	t.Helper()
	if _, err := b.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item}); err != nil {
		t.Fatalf("%v", err)
	}
}

// outcome is what DynamoDB answers.
type outcome struct {
	returned Item
	reason   *types.CancellationReason // of the only action of a transaction
	err      error
}

// send sends a request, on its own or as a transaction. onFailure is "" for requests of this package.
func (b *bench) send(r Request, transact bool, onFailure types.ReturnValuesOnConditionCheckFailure) outcome {
	ctx := context.Background()
	if transact || r.Check != nil {
		part := partOf(r, onFailure)
		_, err := b.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}})
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			return outcome{reason: &cancelled.CancellationReasons[0]}
		}
		return outcome{err: err}
	}
	switch {
	case r.Get != nil:
		out, err := b.client.GetItem(ctx, r.Get)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{returned: out.Item}
	case r.Put != nil:
		out, err := b.client.PutItem(ctx, r.Put)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{returned: out.Attributes}
	case r.Update != nil:
		out, err := b.client.UpdateItem(ctx, r.Update)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{returned: out.Attributes}
	}
	out, err := b.client.DeleteItem(ctx, r.Delete)
	if err != nil {
		return outcome{err: err}
	}
	return outcome{returned: out.Attributes}
}

// partOf returns a request as an action of a transaction.
func partOf(r Request, onFailure types.ReturnValuesOnConditionCheckFailure) types.TransactWriteItem {
	part, _ := r.Part()
	switch {
	case onFailure == "":
	case part.Put != nil:
		part.Put.ReturnValuesOnConditionCheckFailure = onFailure
	case part.Update != nil:
		part.Update.ReturnValuesOnConditionCheckFailure = onFailure
	case part.Delete != nil:
		part.Delete.ReturnValuesOnConditionCheckFailure = onFailure
	}
	return part
}

// answer returns what the request says became of it.
func (o outcome) answer(r Request) (forward.Answer[Item], error) {
	if o.reason != nil {
		return r.Reason(*o.reason)
	}
	return r.Answer(o.returned, o.err)
}

// failed returns the item of a condition that did not hold.
func (o outcome) failed() (Item, bool) {
	if o.reason != nil && aws.ToString(o.reason.Code) == "ConditionalCheckFailed" {
		return o.reason.Item, true
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](o.err); ok {
		return failed.Item, true
	}
	return nil, false
}

// invalid returns what DynamoDB says is wrong with a request, or "".
func (o outcome) invalid() string {
	if o.reason != nil && aws.ToString(o.reason.Code) == "ValidationError" {
		return aws.ToString(o.reason.Message)
	}
	if api, ok := errors.AsType[smithy.APIError](o.err); ok && api.ErrorCode() == "ValidationException" {
		return api.ErrorMessage()
	}
	return ""
}
