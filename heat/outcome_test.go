package heat_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/heat"
)

// An attempt is refused once at the table and at each index that the reasons name, whatever error says it. What fails
// otherwise is an error, and a condition that is not met is an answer.
func TestOutcomesOfAnAttempt(t *testing.T) {
	const table = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
	reason := func(resource, text string) types.ThrottlingReason {
		return types.ThrottlingReason{Resource: aws.String(resource), Reason: aws.String(text)}
	}
	byTable, byIndex := reason(table, "TableWriteKeyRangeThroughputExceeded"), reason(table+"/index/byStatus", "IndexWriteKeyRangeThroughputExceeded")
	again := reason(table, "TableWriteProvisionedThroughputExceeded")
	for name, test := range map[string]struct {
		err                   error
		throttled, ofIndex    int64
		failed, failedOfIndex int64
		reason                string
	}{
		"without a reason":     {err: &types.ProvisionedThroughputExceededException{}, throttled: 1},
		"of the table":         {err: &types.ProvisionedThroughputExceededException{ThrottlingReasons: []types.ThrottlingReason{byTable}}, throttled: 1, reason: *byTable.Reason},
		"twice of the table":   {err: &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{byTable, again}}, throttled: 1, reason: *byTable.Reason},
		"of the index":         {err: &types.RequestLimitExceeded{ThrottlingReasons: []types.ThrottlingReason{byIndex}}, ofIndex: 1},
		"of both":              {err: &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{byTable, byIndex}}, throttled: 1, ofIndex: 1, reason: *byTable.Reason},
		"of nobody knows what": {err: &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason("x", "y")}}, throttled: 1, reason: "y"},
		"by its code":          {err: &smithy.GenericAPIError{Code: "ThrottlingError"}, throttled: 1},
		"an error":             {err: errors.New("broken"), failed: 1, failedOfIndex: 1},
		"another code":         {err: &smithy.GenericAPIError{Code: "InternalServerError"}, failed: 1, failedOfIndex: 1},
		"a condition":          {err: &types.ConditionalCheckFailedException{}},
	} {
		recorder := newRecorder(t, heat.Options{NoDescribe: true, Keys: map[string][]string{"orders": {"pk"}, "orders/byStatus": {"status"}}})
		item := key("A", "1")
		item["status"] = text("NEW")
		next := middleware.InitializeHandlerFunc(func(context.Context, middleware.InitializeInput) (middleware.InitializeOutput, middleware.Metadata, error) {
			return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("call: %w", test.err)
		})
		if err := heat.Handle(t.Context(), recorder, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}, next); !errors.Is(err, test.err) {
			t.Errorf("%s: got %v", name, err)
		}
		w, i := resource(t, recorder.Report(), "orders").Writes, resource(t, recorder.Report(), "orders/byStatus").Writes
		if w.Requests != 1 || i.Requests != 1 || w.Throttled != test.throttled || i.Throttled != test.ofIndex || w.Errors != test.failed || i.Errors != test.failedOfIndex {
			t.Errorf("%s: got %+v and %+v", name, w, i)
		}
		if w.Keys[0].Reason != test.reason {
			t.Errorf("%s: got reason %q, want %q", name, w.Keys[0].Reason, test.reason)
		}
	}
}
