package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The tables: one with everything a write can bring along, one without.
const (
	richTable  = "rich"
	plainTable = "plain"
	totalID    = "total"
)

// history is an item, or items, that one writer takes from state to state.
type history struct {
	kind string
	ids  []string // in richTable, and for transactions also in plainTable
	at   int      // the last state acknowledged or found
	next int      // the last state begun
}

func newHistories() (all []*history) {
	for _, kind := range []string{"put", "update", "increment", "flicker", "transaction"} {
		for i := range 2 {
			all = append(all, &history{kind: kind, ids: []string{fmt.Sprint(kind, "-", i)}})
		}
	}
	return append(all, &history{kind: "batch", ids: []string{"batch-a", "batch-b", "batch-c"}})
}

// state is what an item is like in state n; nil: it is not there.
func (h *history) state(id string, n int) map[string]types.AttributeValue {
	if n == 0 || h.kind == "flicker" && n%2 == 0 {
		return nil
	}
	it := map[string]types.AttributeValue{"id": text(id), "version": whole(n)}
	switch h.kind {
	case "put", "flicker", "batch":
		it["padding"] = text(padding(n))
		if n%3 > 0 { // sometimes in the index, under changing keys
			it["color"] = text(fmt.Sprint("color-", n%3))
		}
	case "update", "transaction":
		it["color"] = text(fmt.Sprint("color-", n%2))
	}
	return it
}

// padding makes items of all sizes.
func padding(n int) string { return strings.Repeat("x", n*37%3000) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func whole(n int) types.AttributeValue   { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

// write takes the item from state n-1 to state n.
func (h *history) write(ctx context.Context, c *dynamodb.Client, n int) error {
	id, table := h.ids[0], aws.String(richTable)
	key := map[string]types.AttributeValue{"id": text(id)}
	values := map[string]types.AttributeValue{":n": whole(n), ":before": whole(n - 1), ":color": text(fmt.Sprint("color-", n%2))}
	switch it := h.state(id, n); {
	case h.kind == "flicker" && it == nil:
		_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: table, Key: key, ConditionExpression: aws.String("version = :before"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":before": values[":before"]},
		})
		return err
	case h.kind == "put" || h.kind == "flicker":
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: it})
		return err
	case h.kind == "update":
		_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: key, UpdateExpression: aws.String("SET version = :n, color = :color"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":n": values[":n"], ":color": values[":color"]},
		})
		return err
	case h.kind == "increment":
		_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: key, UpdateExpression: aws.String("ADD version :one"),
			ConditionExpression:       aws.String("version = :before OR :before = :zero AND attribute_not_exists(id)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": whole(1), ":before": values[":before"], ":zero": whole(0)},
		})
		return err
	case h.kind == "batch":
		var writes []types.WriteRequest
		for _, id := range h.ids {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: h.state(id, n)}})
		}
		out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{richTable: writes}})
		if err == nil && len(out.UnprocessedItems) > 0 {
			err = fmt.Errorf("unprocessed: %v", out.UnprocessedItems)
		}
		return err
	default:
		return h.transact(ctx, c, n, key, values)
	}
}

// transact changes one item in each table. It is not to be done twice: the
// condition would fail, were it not for the token.
func (h *history) transact(ctx context.Context, c *dynamodb.Client, n int, key, values map[string]types.AttributeValue) error {
	values = maps.Clone(values)
	values[":zero"] = whole(0)
	_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(fmt.Sprint(h.ids[0], "-", n)),
		TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{
				TableName: aws.String(richTable), Key: key, UpdateExpression: aws.String("SET version = :n, color = :color"),
				ConditionExpression:       aws.String("version = :before OR :before = :zero AND attribute_not_exists(id)"),
				ExpressionAttributeValues: values,
			}},
			{Put: &types.Put{TableName: aws.String(plainTable), Item: h.state(h.ids[0], n)}},
		},
	})
	return err
}

// show writes an item so that equal items are written alike.
func show(it map[string]types.AttributeValue) string {
	if len(it) == 0 {
		return ""
	}
	var line bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(it)) {
		switch v := it[name].(type) {
		case *types.AttributeValueMemberS:
			if len(v.Value) > 100 {
				v = &types.AttributeValueMemberS{Value: fmt.Sprint(len(v.Value), " bytes")}
			}
			fmt.Fprintf(&line, "%s=%s ", name, v.Value)
		case *types.AttributeValueMemberN:
			fmt.Fprintf(&line, "%s=%s ", name, v.Value)
		default:
			fmt.Fprintf(&line, "%s=%T ", name, v)
		}
	}
	return line.String()
}
