package faulty_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// What the sender of a write gets to know, and whether it is done in the end.
var everyFault = map[faulty.Fault]struct {
	done bool
	says func(error) bool
}{
	faulty.None:              {true, func(err error) bool { return err == nil }},
	faulty.Throttled:         {false, is[*types.ProvisionedThroughputExceededException]},
	faulty.ThrottledOnDemand: {false, is[*types.ThrottlingException]},
	faulty.Conflict:          {false, is[*types.TransactionConflictException]},
	faulty.Denied:            {false, func(err error) bool { return code(err) == "AccessDeniedException" }},
	faulty.Unreached:         {false, func(err error) bool { return sent(err) && errors.Is(err, syscall.ECONNREFUSED) }},
	faulty.LostRequest:       {false, func(err error) bool { return sent(err) && errors.Is(err, syscall.ECONNRESET) }},
	faulty.LostAnswer:        {true, func(err error) bool { return sent(err) && errors.Is(err, io.ErrUnexpectedEOF) }},
	faulty.BrokeDown: {true, func(err error) bool {
		return is[*types.InternalServerError](err) && status(err) == http.StatusInternalServerError
	}},
	faulty.Unanswered: {false, func(err error) bool {
		return is[*smithy.CanceledError](err) && errors.Is(err, context.DeadlineExceeded)
	}},
	faulty.UnansweredDone: {true, func(err error) bool {
		return is[*smithy.CanceledError](err) && errors.Is(err, context.DeadlineExceeded)
	}},
	faulty.Late:   {true, func(err error) bool { return sent(err) && errors.Is(err, io.ErrUnexpectedEOF) }},
	faulty.Partly: {false, is[*types.ProvisionedThroughputExceededException]},
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func sent(err error) bool { return is[*smithyhttp.RequestSendError](err) && code(err) == "" }

func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

func status(err error) int {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}

func TestEveryFault(t *testing.T) {
	for fault := range faulty.Partly + 1 {
		want, ok := everyFault[fault]
		if !ok {
			t.Errorf("%s is not tested", fault)
			continue
		}
		t.Run(fault.String(), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := faulty.On(t, onItems(t), faulty.Script(fault))
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				err := put(ctx, client, "a", "1")
				if !want.says(err) {
					t.Errorf("got %v", err)
				}
				if err != nil && !is[*smithy.OperationError](err) {
					t.Errorf("got %T, want it to name the operation", err)
				}
				client.Wait()
				if n := len(items(t, client.Direct)); (n == 1) != want.done {
					t.Errorf("%d items are there", n)
				}
				if r := client.Requests()[0]; r.Fault != fault || r.Done != want.done {
					t.Errorf("got %+v", r)
				}
				if err := put(ctx, client, "b", "1"); fault != faulty.Unanswered && fault != faulty.UnansweredDone && err != nil {
					t.Errorf("the next: got %v", err)
				}
			})
		})
		if err := fault.Err(); fault != faulty.Unanswered && fault != faulty.UnansweredDone && !want.says(err) {
			t.Errorf("%s: Err returns %v", fault, err)
		}
	}
	if got := (faulty.Partly + 1).String(); got != "unknown fault" {
		t.Errorf("there is another fault: %s", got)
	}
}

// Throttles say that it is the key range, of reads or of writes.
func TestThrottlesHaveReasons(t *testing.T) {
	client := faulty.On(t, onItems(t), faulty.Always(faulty.Throttled))
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: new("items"), KeyConditionExpression: new("pk = :a"), ExpressionAttributeValues: item(":a", "x"),
	})
	for want, err := range map[string]error{
		"TableWriteKeyRangeThroughputExceeded": put(t.Context(), client, "a", "1"),
		"TableReadKeyRangeThroughputExceeded":  err,
	} {
		e, _ := errors.AsType[*types.ProvisionedThroughputExceededException](err)
		if e == nil || len(e.ThrottlingReasons) != 1 || *e.ThrottlingReasons[0].Reason != want || status(err) != http.StatusBadRequest {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if n := client.Count("PutItem"); n != 1 {
		t.Errorf("%d requests: the SDK has repeated one", n)
	}
}

func TestConflictOfATransaction(t *testing.T) {
	client := faulty.On(t, onItems(t), faulty.Script(faulty.Conflict))
	_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: new("items"), Item: item("pk", "a", "sk", "1")}},
		{Put: &types.Put{TableName: new("items"), Item: item("pk", "b", "sk", "1")}},
	}})
	e, _ := errors.AsType[*types.TransactionCanceledException](err)
	if e == nil || len(e.CancellationReasons) != 2 || *e.CancellationReasons[0].Code != "None" || *e.CancellationReasons[1].Code != "TransactionConflict" {
		t.Errorf("got %v", err)
	}
}

// A refusal is an answer, too, and lost like any other; DynamoDB that breaks down has refused before.
func TestRefusalsThatAreLost(t *testing.T) {
	for fault, told := range map[faulty.Fault]bool{faulty.None: true, faulty.BrokeDown: true, faulty.LostAnswer: false} {
		client := faulty.On(t, onItems(t), faulty.Script(faulty.None, fault))
		refused := &dynamodb.PutItemInput{
			TableName: new("items"), Item: item("pk", "a", "sk", "1"), ConditionExpression: new("attribute_not_exists(pk)"),
		}
		if _, err := client.PutItem(t.Context(), refused); err != nil {
			t.Fatal(err)
		}
		_, err := client.PutItem(t.Context(), refused)
		if err == nil || is[*types.ConditionalCheckFailedException](err) != told || client.Requests()[1].Done {
			t.Errorf("%s: got %v", fault, err)
		}
	}
}
