package heat

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// settleBatchGet shares what was consumed by what each item cost, and tells what was left over.
func (r *Recorder) settleBatchGet(c *call, in *dynamodb.BatchGetItemInput, out *dynamodb.BatchGetItemOutput) {
	for name, items := range out.Responses {
		view := c.view(r, name)
		for _, item := range items {
			if at := c.find(view.own, item); at >= 0 {
				c.parts[at].weight = readUnits(item)
			}
		}
	}
	full := isFull(in, out)
	for name, unread := range out.UnprocessedKeys {
		for _, key := range unread.Keys {
			c.undone(c.find(c.view(r, name).keyed(key), key), !full)
		}
	}
	r.consumedAll(c, out.ConsumedCapacity)
}

const (
	maxItem     = 400 << 10 // bytes
	maxBatchGet = 16 << 20  // bytes of a BatchGetItem's answer
)

// isFull reports whether the answer of a BatchGetItem has so much that another item need not have fitted: then what is
// left over was not refused. Of projected items the answer shows less than was read; what it consumed tells the size to
// within a unit for each key.
func isFull(in *dynamodb.BatchGetItemInput, out *dynamodb.BatchGetItemOutput) bool {
	answered, read := 0, 0.0
	for _, items := range out.Responses {
		for _, item := range items {
			answered += itemSize(item)
		}
	}
	for i := range out.ConsumedCapacity {
		consumed := &out.ConsumedCapacity[i]
		name := aws.ToString(consumed.TableName)
		asked, ok := in.RequestItems[name]
		if !ok {
			continue
		}
		units := aws.ToFloat64(consumed.CapacityUnits)
		if !aws.ToBool(asked.ConsistentRead) {
			units *= 2
		}
		read += readUnit * max(0, units-float64(len(asked.Keys)-len(out.UnprocessedKeys[name].Keys)))
	}
	return max(float64(answered), read) > maxBatchGet-maxItem
}

// settleBatchWrite shares what was consumed among what was written: what was left over was refused.
func (r *Recorder) settleBatchWrite(c *call, out *dynamodb.BatchWriteItemOutput) {
	for name, requests := range out.UnprocessedItems {
		view := c.view(r, name)
		for _, request := range requests {
			switch {
			case request.PutRequest != nil:
				c.undone(c.find(view.own, request.PutRequest.Item), true)
			case request.DeleteRequest != nil:
				c.undone(c.find(view.keyed(request.DeleteRequest.Key), request.DeleteRequest.Key), true)
			}
		}
	}
	r.consumedAll(c, out.ConsumedCapacity)
}

// undone counts a part that a batch handed back: nothing consumed, of the table or of the indexes that follow, and
// refused or not.
func (c *call) undone(at int, refused bool) {
	if at < 0 {
		return
	}
	if refused {
		c.parts[at].throttled++
	}
	c.parts[at].weight = 0
	for i := at + 1; i < len(c.parts) && c.parts[i].counters.Index != ""; i++ {
		c.parts[i].weight = 0
	}
}

// find returns which part of a table has the same key, -1 if none.
func (c *call) find(v resourceView, item map[string]types.AttributeValue) int {
	c.item(v, item, 0)
	last := len(c.parts) - 1
	wanted := c.parts[last]
	text := c.texts[wanted.begin:wanted.end]
	c.parts, c.texts = c.parts[:last], c.texts[:wanted.begin]
	for i := range c.parts {
		p := &c.parts[i]
		if p.counters == wanted.counters && p.item == wanted.item && string(c.texts[p.begin:p.end]) == string(text) {
			return i
		}
	}
	return -1
}
