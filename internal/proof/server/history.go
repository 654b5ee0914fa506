package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// history is what one writer takes from version to version: an item, or several. An acknowledged version is there for
// good, so that what a read may find is known: the last acknowledged version, or one that was begun since.
type history struct {
	kind string
	ids  []string // with versions of their own in a batch, and the same one otherwise

	mu    sync.Mutex
	acked int64 // the last version acknowledged, or found
	begun int64 // the last version begun
}

// kinds are how items are written.
var kinds = []string{"put", "update", "count", "come and go", "transaction", "batch"}

func newHistories(n int) (all []*history) {
	for i := range n {
		h := &history{kind: kinds[i%len(kinds)]}
		items := map[string]int{"transaction": 2, "batch": 5}[h.kind]
		for j := range max(items, 1) {
			h.ids = append(h.ids, fmt.Sprintf("%s-%d-%d", h.kind, i, j))
		}
		all = append(all, h)
	}
	return all
}

// range of versions that a read may find.
func (h *history) versions() (acked, begun int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.acked, h.begun
}

// begin starts the next version.
func (h *history) begin() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun = h.acked + 1
	return h.begun
}

// settle says which version is there for good.
func (h *history) settle(version int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acked, h.begun = version, version
}

// gone reports whether the items are deleted in a version.
func (h *history) gone(version int64) bool {
	return version == 0 || h.kind == "come and go" && version%2 == 0
}

// state is an item in a version that it has.
func (h *history) state(id string, version int64) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{"id": text(id), "version": number(version)}
	if h.kind != "count" {
		it["payload"] = text(padding(version))
	}
	return it
}

// padding makes items of all sizes up to 30 KB.
func padding(version int64) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	b := make([]byte, version*397%30_000)
	for i := range b {
		b[i] = letters[(version*int64(i+7)+int64(i)*int64(i))%26]
	}
	return string(b)
}

// write takes the items from the version before to a version.
func (h *history) write(ctx context.Context, c *dynamodb.Client, version int64) error {
	id, name := h.ids[0], aws.String(table)
	key := map[string]types.AttributeValue{"id": text(id)}
	switch {
	case h.gone(version):
		_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: key})
		return err
	case h.kind == "put" || h.kind == "come and go":
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: h.state(id, version)})
		return err
	case h.kind == "update":
		_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: name, Key: key, UpdateExpression: aws.String("SET version = :v, payload = :p"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": number(version), ":p": text(padding(version))},
		})
		return err
	case h.kind == "count": // which shows a write that is done twice
		_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: name, Key: key, UpdateExpression: aws.String("ADD version :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1)},
		})
		return err
	case h.kind == "transaction":
		var writes []types.TransactWriteItem
		for _, id := range h.ids {
			writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: name, Item: h.state(id, version)}})
		}
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		return err
	}
	var writes []types.WriteRequest
	for _, id := range h.ids {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: h.state(id, version)}})
	}
	out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
	if err == nil && len(out.UnprocessedItems) > 0 {
		err = fmt.Errorf("unprocessed: %d", len(out.UnprocessedItems))
	}
	return err
}

// wrong says what is wrong with the items of a history, as they were read, if the versions from acked to begun may be
// there. It returns the version that all of them have at least.
func (h *history) wrong(found []map[string]types.AttributeValue, acked, begun int64) (version int64, why string) {
	version = begun
	for i, it := range found {
		at := acked
		if len(it) == 0 {
			for at <= begun && !h.gone(at) {
				at++
			}
			if at > begun {
				return 0, fmt.Sprintf("%s is not there; version %d is acknowledged, %d begun", h.ids[i], acked, begun)
			}
		} else {
			n, ok := it["version"].(*types.AttributeValueMemberN)
			if !ok {
				return 0, fmt.Sprintf("%s has no version", h.ids[i])
			}
			at, _ = strconv.ParseInt(n.Value, 10, 64)
			if at < acked || at > begun || h.gone(at) {
				return 0, fmt.Sprintf("%s has version %d; %d is acknowledged, %d begun", h.ids[i], at, acked, begun)
			}
			payload, _ := it["payload"].(*types.AttributeValueMemberS)
			if h.kind != "count" && (payload == nil || payload.Value != padding(at)) {
				return 0, fmt.Sprintf("%s has version %d with another version's payload", h.ids[i], at)
			}
		}
		if h.kind == "transaction" && i > 0 && at != version {
			return 0, fmt.Sprintf("half a transaction: %s has version %d, %s %d", h.ids[0], version, h.ids[i], at)
		}
		version = min(version, at)
	}
	return version, ""
}

// read returns the items of a history, at one moment if they are written so.
func (h *history) read(ctx context.Context, c *dynamodb.Client) ([]map[string]types.AttributeValue, error) {
	found := make([]map[string]types.AttributeValue, len(h.ids))
	if h.kind == "transaction" {
		in := &dynamodb.TransactGetItemsInput{}
		for _, id := range h.ids {
			in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: aws.String(table), Key: item("id", id)}})
		}
		out, err := c.TransactGetItems(ctx, in)
		if err != nil {
			return nil, err
		}
		for i := range out.Responses {
			found[i] = out.Responses[i].Item
		}
		return found, nil
	}
	for i, id := range h.ids {
		out, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: item("id", id), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, err
		}
		found[i] = out.Item
	}
	return found, nil
}
