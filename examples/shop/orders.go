package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

type status string

const (
	open    status = "OPEN"
	paid    status = "PAID"
	shipped status = "SHIPPED"
)

// before is the status that an order must have to get another one.
var before = map[status]status{paid: open, shipped: paid}

type order struct {
	ID       string `json:"id" dynamodbav:"id"`
	Status   status `json:"status" dynamodbav:"status"`
	Created  string `json:"created" dynamodbav:"created"` // always as long, so that its order as text is that of time
	Customer string `json:"customer" dynamodbav:"customer"`
	Lines    []line `json:"lines" dynamodbav:"lines"`
	Note     string `json:"note,omitempty" dynamodbav:"note,omitempty"`

	// Listing is Status once more, for the index. heatsink stores it with a shard, as in OPEN#SHARD_7, and reads it without.
	// Conditions see what is stored, which is why they are about Status.
	Listing status `json:"-" dynamodbav:"listing"`
}

type line struct {
	Product  string `json:"product" dynamodbav:"product"`
	Quantity int    `json:"quantity" dynamodbav:"quantity"`
	Cents    int64  `json:"cents" dynamodbav:"cents"` // of one
}

// cents returns the price of an order.
func (o *order) cents() (sum int64) {
	for _, l := range o.Lines {
		sum += int64(l.Quantity) * l.Cents
	}
	return sum
}

// orders are stored by their id, which is a cold key. An index lists them by status, which is a hot one.
type orders struct {
	collection *heatsink.Collection[order]
}

func openOrders(ctx context.Context, db *database, how spread, tokenKey []byte) (*orders, error) {
	table := how.prefix + "orders"
	if err := createOrders(ctx, db.client, table); err != nil {
		return nil, err
	}
	collection, err := heatsink.Open[order](db.client, heatsink.Options{
		Table: table, PartitionKey: "id",
		Index:     heatsink.Index{Name: "byStatus", PartitionKey: "listing", SortKey: "created"},
		Layout:    how.statuses,
		Recorded:  true, // a process with another layout gets an error, and no list that lacks orders
		TokenKeys: [][]byte{tokenKey},
	})
	return &orders{collection}, err
}

// create stores a new order. With a heatsink.UnknownOutcomeError, the order may be stored: its id tells.
func (o *orders) create(ctx context.Context, placed order) (order, error) {
	placed.ID = rand.Text()
	placed.Created = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	placed.Status, placed.Listing = open, open
	_, err := o.collection.Put(ctx, placed, func(in *dynamodb.PutItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(id)") // a late attempt must not undo a payment
	})
	return placed, err
}

func (o *orders) get(ctx context.Context, id string) (order, error) {
	return o.collection.Get(ctx, order{ID: id}, func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
}

// move gives an order the status that follows its own. It may be repeated: an order that has the status keeps it.
func (o *orders) move(ctx context.Context, id string, to status) (order, error) {
	written, err := o.collection.Update(ctx, order{ID: id, Listing: to}, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET #status = :to")
		in.ConditionExpression = aws.String("#status IN (:before, :to)")
		in.ExpressionAttributeNames = map[string]string{"#status": "status"}
		in.ExpressionAttributeValues = heatsink.Item{
			":to":     &types.AttributeValueMemberS{Value: string(to)},
			":before": &types.AttributeValueMemberS{Value: string(before[to])},
		}
		in.ReturnValues = types.ReturnValueAllNew
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if failed.Item == nil {
			return order{}, heatsink.ErrNotFound
		}
		return order{}, conflict("an order must be %s to become %s", before[to], to)
	}
	if err != nil {
		return order{}, err
	}
	return written.Decode()
}

// list returns the orders of a status, the newest first. All shards of the index are read as one list.
func (o *orders) list(ctx context.Context, of status, limit int, token string) (heatsink.Page[order], error) {
	return o.collection.Page(ctx, heatsink.Query{Key: string(of), Reverse: true, Limit: limit}, token)
}

// createOrders creates the table, unless there is one. The recipes have a Setup for theirs.
func createOrders(ctx context.Context, client *dynamodb.Client, table string) error {
	text := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{text("id"), text("listing"), text("created")},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("listing"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("created"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil && !errors.As(err, new(*types.ResourceInUseException)) {
		return err
	}
	return dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, 5*time.Minute)
}
