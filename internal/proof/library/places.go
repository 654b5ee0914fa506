package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

func init() {
	measurements = append(measurements,
		measurement{"1", "BareZero, calculated: old items that Get does not find", "17 of 20", "0 of 20", on(adopted(func(ctx context.Context, c items, like heatsink.Item) bool {
			_, err := c.Get(ctx, like)
			return errors.Is(err, heatsink.ErrNotFound)
		}))},
		measurement{"1", "old items that a Put with attribute_not_exists creates again", "17 of 20", "0 of 20", on(adopted(func(ctx context.Context, c items, like heatsink.Item) bool {
			_, err := c.Put(ctx, like, ifNew)
			return err == nil
		}))},
		measurement{"1", "old items of which Update makes a phantom", "17 of 20", "0 of 20", on(phantoms)},
		measurement{"2", "plan --existing says that putting an item again makes a second copy", "110 items of 100, unsaid", "holds", test("./plan", "TestSnippetsWarnOfSecondCopies")},
		measurement{"3", "random shards without a sort key: items of 100 acknowledged puts", "4", "refused", withoutSortKey},
		measurement{"4", "updates of what the place is worked out from that are accepted", "3 of 3", "0 of 3", on(moved)},
		measurement{"5", "Decode, Get and a page token that notice a reader with too few shards", "0 of 3", "3 of 3", on(narrow)},
		measurement{"6", "Product, 10,000 order-%05d in one shard of 200: who says so", "nobody", "Open and heat", on(uneven)},
	)
}

type items = *heatsink.Collection[heatsink.Item]

// byStatus is the index of the table "users".
var byStatus = heatsink.Index{Name: "byStatus", PartitionKey: "status"}

// adopted counts the items of an unsharded past that something is true of, in a calculated layout with BareZero.
func adopted(is func(context.Context, items, heatsink.Item) bool) func(context.Context, *engine) (string, error) {
	return func(ctx context.Context, e *engine) (string, error) {
		c, err := open(e.client, heatsink.Options{
			Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}},
		})
		if err != nil {
			return "", err
		}
		n := 0
		for i := range 20 {
			like := item("pk", "ACTIVE", "sk", fmt.Sprintf("user-%02d", i))
			if err := e.store(ctx, like); err != nil {
				return "", err
			}
			if is(ctx, c, like) {
				n++
			}
		}
		return of(n, 20), nil
	}
}

func phantoms(ctx context.Context, e *engine) (string, error) {
	before := 0
	return adopted(func(ctx context.Context, c items, like heatsink.Item) bool {
		_, err := c.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), item(":n", 1)
		})
		n, failed := e.stored(ctx, "items")
		more := n > before+1 // than the one that was there
		before = n
		return more || err != nil || failed != nil
	})(ctx, e)
}

func withoutSortKey(context.Context) (string, error) {
	_, err := heatsink.Open[heatsink.Item](dynamodb.New(dynamodb.Options{}), heatsink.Options{
		Table: "items", PartitionKey: "pk", Layout: layout.Layout{Shards: 4},
	})
	return refused(err, heatsink.ErrOptions), nil
}

// createUsers makes a table of users by id, with an index by status.
func (e *engine) createUsers(ctx context.Context) error {
	_, err := e.client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: "S"}, {AttributeName: aws.String("status"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: "HASH"}},
		}},
	})
	return err
}

func moved(ctx context.Context, e *engine) (string, error) {
	accepted := 0
	if err := e.createUsers(ctx); err != nil {
		return "", err
	}
	calculated := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	trials := []struct {
		options    heatsink.Options
		item, like heatsink.Item
		set        string
	}{
		{heatsink.Options{Table: "users", PartitionKey: "id", Index: byStatus, Layout: calculated}, item("id", "u1", "status", "ACTIVE"), item("id", "u1"), "status"},
		{heatsink.Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: heatsink.EventTime{Attribute: "at"}}, item("pk", "LOG", "sk", "1", "at", "2026-01-01T00:00:00Z"), nil, "at"},
		{heatsink.Options{Layout: calculated, ShardBy: []string{"owner"}}, item("pk", "DOCS", "sk", "1", "owner", "ann"), nil, "owner"},
	}
	for _, trial := range trials {
		c, err := open(e.client, trial.options)
		if err != nil {
			return "", err
		}
		if _, err := c.Put(ctx, trial.item); err != nil {
			return "", err
		}
		like := trial.like
		if like == nil {
			like = trial.item
		}
		_, err = c.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression, in.ExpressionAttributeNames = aws.String("SET #a = :v"), map[string]string{"#a": trial.set}
			in.ExpressionAttributeValues = item(":v", "2027-02-02T00:00:00Z")
		})
		if err == nil {
			accepted++
		} else if !errors.Is(err, heatsink.ErrItem) {
			return "", err
		}
	}
	return of(accepted, len(trials)), nil
}

// narrow lets a collection of 4 shards see what one of 16 has written.
func narrow(ctx context.Context, e *engine) (string, error) {
	if err := e.createUsers(ctx); err != nil {
		return "", err
	}
	users := func(shards int) (items, error) {
		return open(e.client, heatsink.Options{
			Table: "users", PartitionKey: "id", Index: byStatus,
			Layout: layout.Layout{Shards: shards, Strategy: layout.Calculated},
		})
	}
	wide, err := users(16)
	if err != nil {
		return "", err
	}
	few, err := users(4)
	if err != nil {
		return "", err
	}
	noticed := 0
	for i := range 40 {
		if _, err := wide.Put(ctx, item("id", strconv.Itoa(i), "status", "ACTIVE")); err != nil {
			return "", err
		}
	}
	for i := range 40 {
		if _, err := few.Get(ctx, item("id", strconv.Itoa(i))); errors.Is(err, heatsink.ErrTooNarrow) {
			noticed++
			break
		}
	}
	if _, _, err := few.Decode(item("id", "x", "status", "ACTIVE#SHARD_12")); errors.Is(err, heatsink.ErrTooNarrow) {
		noticed++
	}
	page, err := wide.Page(ctx, heatsink.Query{Key: "ACTIVE", Limit: 3}, "")
	if err != nil {
		return "", err
	}
	if _, err := few.Page(ctx, heatsink.Query{Key: "ACTIVE", Limit: 3}, page.Next); errors.Is(err, heatsink.ErrTooNarrow) {
		noticed++
	}
	return of(noticed, 3), nil
}

func uneven(ctx context.Context, e *engine) (string, error) {
	var log strings.Builder
	spread := layout.Layout{Shards: 200, Strategy: layout.Calculated, Hash: layout.Product, Format: layout.DotFromOne()}
	recorder, err := heat.NewRecorder(heat.Options{Layouts: []heat.Layout{{Layout: spread}}})
	if err != nil {
		return "", err
	}
	c, err := open(dynamodb.New(e.client.Options(), recorder.Option), heatsink.Options{Layout: spread, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		return "", err
	}
	batch := make([]heatsink.Item, 10_000)
	for i := range batch {
		batch[i] = item("pk", "2014-07-09", "sk", fmt.Sprintf("order-%05d", i))
	}
	if err := c.BatchPut(ctx, batch); err != nil {
		return "", err
	}
	var who []string
	if strings.Contains(log.String(), "Product is uneven") {
		who = append(who, "Open")
	}
	for _, finding := range heat.Explain(recorder.Report(), heat.Rules{}) {
		if finding.Kind == heat.UnevenShards {
			who = append(who, "heat")
		}
	}
	if len(who) == 0 {
		return "nobody", nil
	}
	return strings.Join(who, " and "), nil
}
