package draw_test

import (
	"encoding/json"
	"testing"

	"github.com/heatsink-go/heatsink/internal/proof/engine/draw"
)

// A seed is all that a failure needs to be seen again.
func TestSameSeedSameRequests(t *testing.T) {
	text := func(seed uint64) string {
		d := draw.New(seed)
		var ops []draw.Op
		for range 500 {
			ops = append(ops, d.Op())
		}
		b, err := json.Marshal(ops)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, again := text(1), text(1)
	if first != again {
		t.Error("the same seed gives other requests")
	}
	if first == text(2) {
		t.Error("another seed gives the same requests")
	}
}

// Every operation and every parameter that the proof is about is drawn.
func TestEverythingIsDrawn(t *testing.T) {
	seen := map[string]bool{}
	d := draw.New(1)
	for range 20_000 {
		op := d.Op()
		seen[op.Name] = true
		for name := range op.Body {
			seen[name] = true
		}
		if op.Changes != nil && !op.Writes() {
			t.Fatalf("%s changes items and does not write", op.Name)
		}
	}
	for _, name := range []string{
		"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems",
		"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction",
		"ConditionExpression", "UpdateExpression", "FilterExpression", "ProjectionExpression", "KeyConditionExpression", "IndexName", "Limit", "Select",
		"ExclusiveStartKey", "ScanIndexForward", "ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ReturnValuesOnConditionCheckFailure",
		"Expected", "ConditionalOperator", "AttributeUpdates", "KeyConditions", "QueryFilter", "ScanFilter", "AttributesToGet",
	} {
		if !seen[name] {
			t.Errorf("%s is never drawn", name)
		}
	}
}
