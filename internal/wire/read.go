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
			in.BadKey = r.apart(func() { legacy(&in.Expressions).KeyConditions = r.conditions(&conditionsType, &conditionType) })
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
		in.HasStartKey = true
		in.BadStart = r.apart(func() { in.ExclusiveStartKey = r.Item(&attrjson.ItemType) })
		if in.BadStart != nil && !attrjson.IsNumeric(in.BadStart) { // nor of what is there twice
			in.BadStart = attr.Fault("The provided starting key is invalid: " + in.BadStart.Error())
		}
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

// apart reads a parameter, and returns the first fault among its values, which is
// not the request's.
func (r *request) apart(read func()) error {
	before := r.Fault
	r.Fault = nil
	read()
	found := r.Fault
	r.Fault = before
	return found
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
