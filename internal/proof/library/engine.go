package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// item returns an item of strings and numbers: name, value, name, value.
func item(pairs ...any) heatsink.Item {
	it := heatsink.Item{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			it[pairs[i].(string)] = &types.AttributeValueMemberS{Value: v}
		case types.AttributeValue:
			it[pairs[i].(string)] = v
		default:
			it[pairs[i].(string)] = &types.AttributeValueMemberN{Value: fmt.Sprint(v)}
		}
	}
	return it
}

// text returns an attribute of an item as text.
func text(it heatsink.Item, name string) string {
	switch v := it[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

// engine is a fresh local DynamoDB with a table "items" of pk and sk.
type engine struct {
	db     *local.DB
	client *dynamodb.Client
	faults *faulty.Faults
	faulty *dynamodb.Client // the same engine through faults
}

// on calls f with a fresh engine, and returns what f does.
func on(f func(ctx context.Context, e *engine) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		db, err := local.New(local.Options{})
		if err != nil {
			return "", err
		}
		defer db.Close()
		if err := db.CreateTable(ctx, "items", "pk", "sk"); err != nil {
			return "", err
		}
		e := &engine{db: db, client: db.Client(), faults: faulty.New(nil)}
		e.faulty = dynamodb.New(e.client.Options(), e.faults.Option)
		defer e.faults.Wait()
		return f(ctx, e)
	}
}

// open opens a collection of the table "items".
func open(client heatsink.Client, o heatsink.Options) (*heatsink.Collection[heatsink.Item], error) {
	if o.Table == "" {
		o.Table, o.PartitionKey, o.SortKey = "items", "pk", "sk"
	}
	return heatsink.Open[heatsink.Item](client, o)
}

// store puts an item past heatsink.
func (e *engine) store(ctx context.Context, it heatsink.Item) error {
	_, err := e.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("items"), Item: it})
	return err
}

// stored returns how many items a table has.
func (e *engine) stored(ctx context.Context, table string) (int, error) {
	n := 0
	pages := dynamodb.NewScanPaginator(e.client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, err
		}
		n += int(page.Count)
	}
	return n, nil
}

// ifNew is the condition that there is no item yet.
func ifNew(in *dynamodb.PutItemInput) {
	in.ConditionExpression = aws.String("attribute_not_exists(sk)")
}

// strongly makes a Get see every acknowledged write.
func strongly(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) }

// refused returns "refused" for an error of a kind, and what happened otherwise.
func refused(err error, kinds ...error) string {
	if err == nil {
		return "accepted"
	}
	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			return err.Error()
		}
	}
	return "refused"
}

// of returns "n of m".
func of(n, m int) string { return fmt.Sprintf("%d of %d", n, m) }
