package wire

import (
	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
)

func (r *request) query(in *engine.ReadInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "ScanIndexForward":
			in.ScanIndexForward = r.optBool()
		case "KeyConditionExpression":
			in.KeyCondition = r.optString()
		case "KeyConditions":
			legacy(&in.Expressions).KeyConditions = r.conditions(&conditionsType, &conditionType)
		case "QueryFilter":
			legacy(&in.Expressions).QueryFilter = r.conditions(&conditionsType, &conditionType)
		default:
			r.read(name, in)
		}
	}
	return &in.Request
}

func (r *request) scan(in *engine.ReadInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "Segment":
			in.Segment = r.optInteger()
		case "TotalSegments":
			in.TotalSegments = r.optInteger()
		case "ScanFilter":
			legacy(&in.Expressions).ScanFilter = r.conditions(&conditionsType, &conditionType)
		default:
			r.read(name, in)
		}
	}
	return &in.Request
}

// read reads a parameter that Query and Scan have in common.
func (r *request) read(name string, in *engine.ReadInput) {
	switch name {
	case "TableName":
		in.TableName = r.optString()
	case "IndexName":
		in.IndexName = r.optString()
	case "Select":
		in.Select = r.Text()
	case "Limit":
		in.Limit = r.optInteger()
	case "ConsistentRead":
		in.ConsistentRead = r.Bool()
	case "ExclusiveStartKey":
		in.ExclusiveStartKey, in.HasStartKey = r.startKey(), true
	case "ReturnConsumedCapacity":
		in.ConsumedCapacity = r.Text()
	case "FilterExpression":
		in.Filter = r.optString()
	case "ProjectionExpression":
		in.Projection = r.optString()
	case "ExpressionAttributeNames":
		r.expressionNames(&in.Expressions)
	case "ExpressionAttributeValues":
		r.expressionValues(&in.Expressions)
	case "AttributesToGet":
		legacy(&in.Expressions).AttributesToGet = r.attributesToGet()
	case "ConditionalOperator":
		legacy(&in.Expressions).ConditionalOperator = r.optString()
	default:
		r.Skip()
	}
}

// startKey reads an ExclusiveStartKey. Most faults in it are told to be its own,
// but not those of numbers and of what is there twice.
func (r *request) startKey() attr.Item {
	before := r.Fault
	r.Fault = nil
	it := r.Item(&attrjson.ItemType)
	if r.Fault != nil && !attrjson.IsNumeric(r.Fault) {
		r.Fault = attr.Fault("The provided starting key is invalid: " + r.Fault.Error())
	}
	if before != nil {
		r.Fault = before
	}
	return it
}

func (a *answer) read(out *engine.ReadOutput) {
	if !out.CountOnly {
		a.name("Items")
		a.raws(out.Items)
	}
	a.int("Count", int64(out.Count))
	a.int("ScannedCount", int64(out.ScannedCount))
	if out.LastEvaluatedKey != nil {
		a.item("LastEvaluatedKey", out.LastEvaluatedKey)
	}
	a.consumed(out.ConsumedCapacity)
	out.Release()
}
