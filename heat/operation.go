package heat

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// describe fills in what a call is about from its input. It returns false for operations that move no items.
func (r *Recorder) describe(c *call, input any) bool {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		c.direction = Read
		c.item(r.view(aws.ToString(in.TableName)).keyed(in.Key), in.Key, 1)
	case *dynamodb.QueryInput:
		c.direction = Read
		r.describeQuery(c, in)
	case *dynamodb.ScanInput:
		c.direction = Read
		c.unkeyed(r.table(aws.ToString(in.TableName)).index(aws.ToString(in.IndexName)), 1)
	case *dynamodb.BatchGetItemInput:
		c.direction = Read
		for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
			for _, key := range in.RequestItems[name].Keys {
				c.item(r.view(name).keyed(key), key, 1)
			}
		}
	case *dynamodb.TransactGetItemsInput:
		c.direction = Read
		for _, item := range in.TransactItems {
			if item.Get != nil {
				c.item(r.view(aws.ToString(item.Get.TableName)).keyed(item.Get.Key), item.Get.Key, 1)
			}
		}
	default:
		c.direction = Write
		return r.describeWrite(c, input)
	}
	return true
}

func (r *Recorder) describeWrite(c *call, input any) bool {
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		c.written(r.view(aws.ToString(in.TableName)), in.Item)
	case *dynamodb.UpdateItemInput:
		c.describeUpdate(r.view(aws.ToString(in.TableName)), in.Key, in.UpdateExpression,
			in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.AttributeUpdates)
	case *dynamodb.DeleteItemInput:
		c.describeDelete(r.view(aws.ToString(in.TableName)), in.Key)
	case *dynamodb.BatchWriteItemInput:
		for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
			for _, request := range in.RequestItems[name] {
				r.describeRequest(c, name, request)
			}
		}
	case *dynamodb.TransactWriteItemsInput:
		c.doubled = true
		for _, item := range in.TransactItems {
			r.describeAction(c, item)
		}
	default:
		return false
	}
	return true
}

func (r *Recorder) describeRequest(c *call, table string, request types.WriteRequest) {
	switch {
	case request.PutRequest != nil:
		c.written(r.view(table), request.PutRequest.Item)
	case request.DeleteRequest != nil:
		c.describeDelete(r.view(table), request.DeleteRequest.Key)
	}
}

func (r *Recorder) describeAction(c *call, item types.TransactWriteItem) {
	switch {
	case item.Put != nil:
		c.written(r.view(aws.ToString(item.Put.TableName)), item.Put.Item)
	case item.Update != nil:
		c.describeUpdate(r.view(aws.ToString(item.Update.TableName)), item.Update.Key, item.Update.UpdateExpression,
			item.Update.ExpressionAttributeNames, item.Update.ExpressionAttributeValues, nil)
	case item.Delete != nil:
		c.describeDelete(r.view(aws.ToString(item.Delete.TableName)), item.Delete.Key)
	case item.ConditionCheck != nil:
		c.item(r.view(aws.ToString(item.ConditionCheck.TableName)).keyed(item.ConditionCheck.Key), item.ConditionCheck.Key, 1)
	}
}

func (r *Recorder) describeQuery(c *call, in *dynamodb.QueryInput) {
	view := r.table(aws.ToString(in.TableName)).index(aws.ToString(in.IndexName))
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
	c.parts[len(c.parts)-1].item = 0
}
