package heatsink_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// The code of docs/moving.md is in this file, and a test compares them.

// A User is found by id within a status, which may become hot.
type User struct {
	Status string `dynamodbav:"pk"`
	ID     string `dynamodbav:"sk"`
	Logins int    `dynamodbav:"logins"`
}

// engineWith returns an engine with an empty table whose keys are pk and sk.
func engineWith(ctx context.Context, table string) *local.DB {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.CreateTable(ctx, table, "pk", "sk"); err != nil {
		log.Fatal(err)
	}
	return db
}

// loginWithSDK is a program before it has heatsink.
func loginWithSDK(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("users"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "STATUS#ACTIVE"},
			"sk": &types.AttributeValueMemberS{Value: "user-0017"},
		},
		UpdateExpression:          aws.String("ADD logins :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

// login is the same program with heatsink.
func login(ctx context.Context, users *heatsink.Collection[User]) error {
	_, err := users.Update(ctx, User{Status: "STATUS#ACTIVE", ID: "user-0017"}, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("ADD logins :one")
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}
	})
	return err
}

// openUsers opens the users as all programs do, before, during and after a move.
func openUsers(client *dynamodb.Client) (*heatsink.Collection[User], error) {
	users, err := heatsink.Open[User](client, heatsink.Options{
		Table: "users", PartitionKey: "pk", SortKey: "sk",
		Movable: true,
		Layout:  layout.Layout{Strategy: layout.Calculated}, // as the items are now: under the key itself
	})
	return users, err
}

// Users are found by id, and one status is hot. They move to 16 shards while the program goes on. The engine of this example does not check
// signatures, so that the move rests in its first stage. In DynamoDB it goes on after an hour.
func ExampleOptions_movable() {
	ctx := context.Background()
	db := engineWith(ctx, "users")
	defer db.Close()
	client := db.Client()
	for range 2 {
		if err := loginWithSDK(ctx, client); err != nil {
			log.Fatal(err)
		}
	}

	users, err := openUsers(client)
	if err != nil {
		log.Fatal(err)
	}
	if err := login(ctx, users); err != nil {
		log.Fatal(err)
	}
	mover, err := move.New(client, move.Options{
		Collection: heatsink.Options{
			Table: "users", PartitionKey: "pk", SortKey: "sk",
			Movable: true, Layout: layout.Layout{Strategy: layout.Calculated},
		},
		To: layout.Layout{Shards: 16, Strategy: layout.Calculated},
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mover.Run(ctx)
	fmt.Println(result.Moved, "moved,", result.Stage.Name, err)

	if err := login(ctx, users); err != nil {
		log.Fatal(err)
	}
	user, err := users.Get(ctx, User{Status: "STATUS#ACTIVE", ID: "user-0017"})
	fmt.Println(user.Logins, "logins", err)
	keys, err := users.Locate(ctx, user)
	fmt.Println(len(keys), "places", err)
	// Output:
	// 1 moved, split <nil>
	// 4 logins <nil>
	// 2 places <nil>
}

// Parts of a movable collection and of other tables are one transaction, whose items may move meanwhile.
func ExampleTransaction() {
	ctx := context.Background()
	db := engineWith(ctx, "users")
	defer db.Close()
	if err := db.CreateTable(ctx, "log", "pk", "sk"); err != nil {
		log.Fatal(err)
	}
	users, err := openUsers(db.Client())
	if err != nil {
		log.Fatal(err)
	}
	if err := login(ctx, users); err != nil {
		log.Fatal(err)
	}

	reset, err := users.TransactUpdate(ctx, User{Status: "STATUS#ACTIVE", ID: "user-0017"}, func(u *types.Update) {
		u.UpdateExpression = aws.String("SET logins = :none")
		u.ExpressionAttributeValues = map[string]types.AttributeValue{":none": &types.AttributeValueMemberN{Value: "0"}}
	})
	if err != nil {
		log.Fatal(err)
	}
	var t heatsink.Transaction
	t.Add(users, reset)
	t.Add(nil, types.TransactWriteItem{Put: &types.Put{ // a part of another table, as the SDK has it
		TableName: aws.String("log"),
		Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "user-0017"},
			"sk": &types.AttributeValueMemberS{Value: "2026-11-16T10:00:00Z"},
		},
	}})
	fmt.Println(t.Write(ctx))
	user, err := users.Get(ctx, User{Status: "STATUS#ACTIVE", ID: "user-0017"})
	fmt.Println(user.Logins, "logins", err)
	// Output:
	// <nil>
	// 0 logins <nil>
}

// A ViewAt is appended, and read as a list.
type ViewAt struct {
	Page string `dynamodbav:"pk"`
	At   string `dynamodbav:"sk"`
}

// viewsWithSDK is a program before it has heatsink.
func viewsWithSDK(ctx context.Context, client *dynamodb.Client) (*dynamodb.QueryOutput, error) {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("views"),
		Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "PAGE#home"},
			"sk": &types.AttributeValueMemberS{Value: "2026-11-16T10:00:00.000001Z"},
		},
	})
	if err != nil {
		return nil, err
	}
	return client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String("views"),
		KeyConditionExpression:    aws.String("pk = :page"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":page": &types.AttributeValueMemberS{Value: "PAGE#home"}},
	})
}

// A list keeps the items that it has. New ones go to the shards that a hot key gets, and one read returns all.
func ExampleOptions_adoptedList() {
	ctx := context.Background()
	db := engineWith(ctx, "views")
	defer db.Close()
	client := db.Client()
	if _, err := viewsWithSDK(ctx, client); err != nil {
		log.Fatal(err)
	}

	views, err := heatsink.Open[ViewAt](client, heatsink.Options{
		Table: "views", PartitionKey: "pk", SortKey: "sk",
		Adaptive: &heatsink.Adaptive{DryRun: true}, // reads ledgers, and grows nothing yet
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := views.Put(ctx, ViewAt{Page: "PAGE#home", At: "2026-11-16T10:00:00.000002Z"}); err != nil {
		log.Fatal(err)
	}
	for view, err := range views.Query(ctx, heatsink.Query{Key: "PAGE#home", Reverse: true, Limit: 50}) {
		fmt.Println(view.At, err)
	}
	// Output:
	// 2026-11-16T10:00:00.000002Z <nil>
	// 2026-11-16T10:00:00.000001Z <nil>
}

// A list may also move, with a random layout.
func ExampleOptions_movableList() {
	ctx := context.Background()
	db := engineWith(ctx, "views")
	defer db.Close()
	client := db.Client()
	views, err := heatsink.Open[ViewAt](client, heatsink.Options{
		Table: "views", PartitionKey: "pk", SortKey: "sk",
		Movable: true, Layout: layout.Layout{}, // a list: items are appended, and never found by id
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = views.Put(ctx, ViewAt{Page: "PAGE#home", At: "2026-11-16T10:00:00Z"})
	fmt.Println(err)
	_, err = views.Get(ctx, ViewAt{Page: "PAGE#home", At: "2026-11-16T10:00:00Z"})
	fmt.Println(errors.Is(err, heatsink.ErrOptions))
	// Output:
	// <nil>
	// true
}

// viewWithSDK is a program that counts in an attribute.
func viewWithSDK(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("posts"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "POST#7"},
			"sk": &types.AttributeValueMemberS{Value: "META"},
		},
		UpdateExpression:          aws.String("ADD #views :one"),
		ExpressionAttributeNames:  map[string]string{"#views": "views"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

// A counter that was an attribute is counted on beside older programs, and taken over in the end.
func ExampleOptions_counterOfBefore() {
	ctx := context.Background()
	db := engineWith(ctx, "posts")
	defer db.Close()
	client := db.Client()
	for range 3 {
		if err := viewWithSDK(ctx, client); err != nil {
			log.Fatal(err)
		}
	}

	options := counter.Options{
		Table:  "counters",
		Origin: &counter.Origin{Table: "posts", PartitionKey: "pk", SortKey: "sk", SortValue: "META", Attribute: "views"},
	}
	if err := counter.Setup(ctx, client, options); err != nil {
		log.Fatal(err)
	}
	views, err := counter.Open(client, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := views.Add(ctx, "POST#7", 1); err != nil {
		log.Fatal(err)
	}
	if err := viewWithSDK(ctx, client); err != nil { // an older program goes on
		log.Fatal(err)
	}
	fmt.Println(views.Total(ctx, "POST#7"))
	if err := views.Close(ctx); err != nil {
		log.Fatal(err)
	}

	imports, err := move.NewCounters(client, move.CounterOptions{Counter: options})
	if err != nil {
		log.Fatal(err)
	}
	result, err := imports.Run(ctx)
	fmt.Println(result.Moved, "imported", err)

	options.Origin = nil
	alone, err := counter.Open(client, options)
	if err != nil {
		log.Fatal(err)
	}
	defer alone.Close(ctx)
	fmt.Println(alone.Total(ctx, "POST#7"))
	// Output:
	// 5 <nil>
	// 1 imported <nil>
	// 5 <nil>
}

// An OrderByID is stored by its id, and listed by its status.
type OrderByID struct {
	ID      string `dynamodbav:"id"`
	Status  string `dynamodbav:"status"`
	Created string `dynamodbav:"created"`
}

// A listing by status reads the shards and the status itself, until all items have moved.
func ExampleOptions_listing() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := db.Client()
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err = client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("id"), attribute("status"), attribute("created")},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("created"), KeyType: types.KeyTypeRange},
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("orders"),
		Item: map[string]types.AttributeValue{
			"id":      &types.AttributeValueMemberS{Value: "order-0017"},
			"status":  &types.AttributeValueMemberS{Value: "OPEN"},
			"created": &types.AttributeValueMemberS{Value: "2026-11-16T10:00:00Z"},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	orders, err := heatsink.Open[OrderByID](client, heatsink.Options{
		Table: "orders", PartitionKey: "id",
		Index:  heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "created"},
		Layout: layout.Layout{Shards: 16, Strategy: layout.Calculated},
		Older:  []layout.Layout{{}}, // items under the bare status are listed as well
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := orders.Put(ctx, OrderByID{ID: "order-0018", Status: "OPEN", Created: "2026-11-16T10:00:01Z"}); err != nil {
		log.Fatal(err)
	}
	for order, err := range orders.Query(ctx, heatsink.Query{Key: "OPEN"}) {
		fmt.Println(order.ID, err)
	}
	// Output:
	// order-0017 <nil>
	// order-0018 <nil>
}
