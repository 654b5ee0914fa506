package heat

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// sortedTables returns the tables of a batch by name. They are good until the next ones of the call.
func sortedTables[V any](c *call, batch map[string]V) []string {
	c.names = c.names[:0]
	for name := range batch {
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	return c.names
}

// fill fills in the keys of a call from its input. It returns false for operations that neither read nor write items.
func (r *Recorder) fill(c *call, input any) bool {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		c.direction = Read
		c.item(c.view(r, aws.ToString(in.TableName)).keyed(in.Key), in.Key, 1)
	case *dynamodb.QueryInput:
		c.direction = Read
		r.fillQuery(c, in)
	case *dynamodb.ScanInput:
		c.direction = Read
		c.unkeyed(c.table(r, aws.ToString(in.TableName)).index(aws.ToString(in.IndexName)), 1)
	case *dynamodb.BatchGetItemInput:
		c.direction = Read
		for _, name := range sortedTables(c, in.RequestItems) {
			for _, key := range in.RequestItems[name].Keys {
				c.item(c.view(r, name).keyed(key), key, 1)
			}
		}
	case *dynamodb.TransactGetItemsInput:
		c.direction = Read
		for _, item := range in.TransactItems {
			if item.Get != nil {
				c.item(c.view(r, aws.ToString(item.Get.TableName)).keyed(item.Get.Key), item.Get.Key, 1)
			}
		}
	default:
		c.direction = Write
		return r.fillWrite(c, input)
	}
	return true
}

func (r *Recorder) fillWrite(c *call, input any) bool {
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		c.written(c.view(r, aws.ToString(in.TableName)), in.Item, 1)
	case *dynamodb.UpdateItemInput:
		c.addUpdate(c.view(r, aws.ToString(in.TableName)), in.Key, in.UpdateExpression,
			in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.AttributeUpdates)
	case *dynamodb.DeleteItemInput:
		c.addDelete(c.view(r, aws.ToString(in.TableName)), in.Key)
	case *dynamodb.BatchWriteItemInput:
		for _, name := range sortedTables(c, in.RequestItems) {
			for _, request := range in.RequestItems[name] {
				r.fillRequest(c, name, request)
			}
		}
	case *dynamodb.TransactWriteItemsInput:
		c.doubled = true
		for _, item := range in.TransactItems {
			r.fillAction(c, item)
		}
	default:
		return r.fillStatements(c, input)
	}
	return true
}

func (r *Recorder) fillRequest(c *call, table string, request types.WriteRequest) {
	switch {
	case request.PutRequest != nil:
		c.written(c.view(r, table), request.PutRequest.Item, writeUnits(request.PutRequest.Item))
	case request.DeleteRequest != nil:
		c.addDelete(c.view(r, table), request.DeleteRequest.Key)
	}
}

func (r *Recorder) fillAction(c *call, item types.TransactWriteItem) {
	switch {
	case item.Put != nil:
		c.written(c.view(r, aws.ToString(item.Put.TableName)), item.Put.Item, writeUnits(item.Put.Item))
	case item.Update != nil:
		c.addUpdate(c.view(r, aws.ToString(item.Update.TableName)), item.Update.Key, item.Update.UpdateExpression,
			item.Update.ExpressionAttributeNames, item.Update.ExpressionAttributeValues, nil)
	case item.Delete != nil:
		c.addDelete(c.view(r, aws.ToString(item.Delete.TableName)), item.Delete.Key)
	case item.ConditionCheck != nil:
		c.item(c.view(r, aws.ToString(item.ConditionCheck.TableName)).keyed(item.ConditionCheck.Key), item.ConditionCheck.Key, 1)
	}
}

func (r *Recorder) fillQuery(c *call, in *dynamodb.QueryInput) {
	view := c.table(r, aws.ToString(in.TableName)).index(aws.ToString(in.IndexName))
	key := legacyKey(in.KeyConditions)
	if in.KeyConditionExpression != nil {
		key = queryKey(*in.KeyConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, view.names.partition)
	}
	if key == nil {
		c.unkeyed(view, 1)
		return
	}
	if !view.names.known() {
		view.names.partition = slices.Sorted(maps.Keys(key))
	}
	view.names.sort = nil // a query is of a stretch of items
	c.item(view, key, 1)
	p := &c.parts[len(c.parts)-1]
	p.item = 0
	p.control = p.control || isControl(c.view(r, aws.ToString(in.TableName)).own.names.partition, key) // an index by the table's key
}
