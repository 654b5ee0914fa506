package wire

import (
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
)

func (r *request) putItem(in *engine.PutItemInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "Item":
			in.Item, in.HasItem = r.Item(&attrjson.ItemType), true
		default:
			if !r.write(name, &in.Expressions, &in.Returns) {
				r.Skip()
			}
		}
	}
	return &in.Request
}

func (r *request) updateItem(in *engine.UpdateItemInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "Key":
			in.Key, in.HasKey = r.Item(&attrjson.ItemType), true
		case "UpdateExpression":
			in.Update = r.optString()
		default:
			if r.knows(name) && name == "AttributeUpdates" {
				legacy(&in.Expressions).AttributeUpdates = r.attributeUpdates()
			} else if !r.write(name, &in.Expressions, &in.Returns) {
				r.Skip()
			}
		}
	}
	return &in.Request
}

func (r *request) deleteItem(in *engine.DeleteItemInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "Key":
			in.Key, in.HasKey = r.Item(&attrjson.ItemType), true
		default:
			if !r.write(name, &in.Expressions, &in.Returns) {
				r.Skip()
			}
		}
	}
	return &in.Request
}

func (r *request) getItem(in *engine.GetItemInput) *engine.Request {
	for name := range r.Members(&requestType) {
		switch name {
		case "TableName":
			in.TableName = r.optString()
		case "Key":
			in.Key, in.HasKey = r.Item(&attrjson.ItemType), true
		case "ConsistentRead":
			in.ConsistentRead = r.Bool()
		case "ReturnConsumedCapacity":
			in.ConsumedCapacity = r.Text()
		case "ProjectionExpression":
			in.Projection = r.optString()
		case "ExpressionAttributeNames":
			r.expressionNames(&in.Expressions)
		default:
			if r.knows(name) && name == "AttributesToGet" {
				legacy(&in.Expressions).AttributesToGet = r.attributesToGet()
			} else {
				r.Skip()
			}
		}
	}
	return &in.Request
}

func (a *answer) write(out *engine.WriteOutput) {
	a.optRaw("Attributes", out.Attributes)
	a.consumed(out.ConsumedCapacity)
	if out.ItemCollectionMetrics != nil {
		a.name("ItemCollectionMetrics")
		a.collection(out.ItemCollectionMetrics)
	}
}

func (a *answer) getItem(out *engine.GetItemOutput) {
	a.optRaw("Item", out.Item)
	a.consumed(out.ConsumedCapacity)
}
