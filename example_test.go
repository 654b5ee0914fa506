package heatsink_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A View is somebody looking at a page. Its key is the same for all: the hot one.
type View struct {
	Key  string `dynamodbav:"pk"`
	At   string `dynamodbav:"sk"`
	Page string
}

// views returns a collection of Views over ten shards, on an engine inside the process.
func views(ctx context.Context) (*heatsink.Collection[View], *local.DB) {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.CreateTable(ctx, "views", "pk", "sk"); err != nil {
		log.Fatal(err)
	}
	views, err := heatsink.Open[View](db.Client(), heatsink.Options{
		Table: "views", PartitionKey: "pk", SortKey: "sk",
		Layout: layout.Layout{Shards: 10},
	})
	if err != nil {
		log.Fatal(err)
	}
	return views, db
}

// viewed puts n views, one every second, of three pages in turn.
func viewed(ctx context.Context, views *heatsink.Collection[View], n int) {
	pages := []string{"/home", "/news", "/home", "/help"}
	for i := range n {
		at := time.Date(2026, 6, 22, 12, 0, i, 0, time.UTC)
		if _, err := views.Put(ctx, View{"PAGE_VIEWS", at.Format(time.TimeOnly), pages[i%len(pages)]}); err != nil {
			log.Fatal(err)
		}
	}
}

// One hot key over ten shards, read back as one list, newest first.
func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{}) // or the client of your own account
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.CreateTable(ctx, "views", "pk", "sk")

	views, err := heatsink.Open[View](db.Client(), heatsink.Options{
		Table: "views", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 10},
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		views.Put(ctx, View{Key: "PAGE_VIEWS", At: fmt.Sprintf("12:%02d:%02d", i/60, i%60)})
	}
	for view, err := range views.Query(ctx, heatsink.Query{Key: "PAGE_VIEWS", Reverse: true, Limit: 3}) {
		fmt.Println(view.At, err)
	}
	// Output:
	// 12:16:39 <nil>
	// 12:16:38 <nil>
	// 12:16:37 <nil>
}

// A Put of a random layout appends. It says where the item went.
func ExampleCollection_Put() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()

	written, err := views.Put(ctx, View{Key: "PAGE_VIEWS", At: "12:00:00", Page: "/home"})
	fmt.Println(written.Shard < 10, err)
	// Output: true <nil>
}

// Everything the SDK's request can do passes through: here, a condition.
func ExampleCollection_Put_condition() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.CreateTable(ctx, "orders", "day", "id")

	type Order struct {
		Day string `dynamodbav:"day"`
		ID  string `dynamodbav:"id"`
	}
	orders, err := heatsink.Open[Order](db.Client(), heatsink.Options{
		Table: "orders", PartitionKey: "day", SortKey: "id",
		Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err := orders.Put(ctx, Order{Day: "2014-07-09", ID: "ORD-1001"}, func(in *dynamodb.PutItemInput) {
			in.ConditionExpression = aws.String("attribute_not_exists(id)")
		})
		_, taken := errors.AsType[*types.ConditionalCheckFailedException](err)
		fmt.Println("already there:", taken)
	}
	// Output:
	// already there: false
	// already there: true
}

// A calculated layout finds an item again with one request: the id says which shard.
func ExampleCollection_Get() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.CreateTable(ctx, "orders", "day", "id")

	type Order struct {
		Day   string `dynamodbav:"day"`
		ID    string `dynamodbav:"id"`
		Total int
	}
	orders, err := heatsink.Open[Order](db.Client(), heatsink.Options{
		Table: "orders", PartitionKey: "day", SortKey: "id",
		Layout: layout.Layout{Shards: 200, Strategy: layout.Calculated, Format: layout.DotFromOne()},
	})
	if err != nil {
		log.Fatal(err)
	}
	written, err := orders.Put(ctx, Order{Day: "2014-07-09", ID: "ORD-1001", Total: 42})
	fmt.Println(written.ShardKey, err)

	order, err := orders.Get(ctx, Order{Day: "2014-07-09", ID: "ORD-1001"})
	fmt.Println(order, err)

	_, err = orders.Get(ctx, Order{Day: "2014-07-09", ID: "ORD-1002"})
	fmt.Println(errors.Is(err, heatsink.ErrNotFound))
	// Output:
	// 2014-07-09.56 <nil>
	// {2014-07-09 ORD-1001 42} <nil>
	// true
}

// The conditions that DynamoDB has for sort keys, over all shards.
func ExampleCollection_Query() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()
	viewed(ctx, views, 20)

	query := heatsink.Query{Key: "PAGE_VIEWS", Sort: heatsink.AtLeast("12:00:17")}
	for view, err := range views.Query(ctx, query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(view.At, view.Page)
	}
	// Output:
	// 12:00:17 /news
	// 12:00:18 /home
	// 12:00:19 /help
}

// Daily buckets of three shards: reading a week touches the keys of that week only.
func ExampleCollection_Query_buckets() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.CreateTable(ctx, "log", "pk", "sk")

	type Line struct {
		Log  string `dynamodbav:"pk"`
		At   string `dynamodbav:"sk"` // a timestamp, then #, then what makes it unique
		Text string
	}
	lines, err := heatsink.Open[Line](db.Client(), heatsink.Options{
		Table: "log", PartitionKey: "pk", SortKey: "sk",
		Layout:    layout.Layout{Shards: 3, Bucket: layout.Day},
		EventTime: heatsink.EventTime{Attribute: "sk"},
	})
	if err != nil {
		log.Fatal(err)
	}
	start := time.Date(2026, 6, 15, 8, 0, 0, 0, time.UTC)
	for i := range 10 {
		at := start.Add(time.Duration(i) * 12 * time.Hour)
		lines.Put(ctx, Line{"OPS_LOG", at.Format(time.RFC3339) + "#agent-7", fmt.Sprint("line ", i)})
	}

	query := heatsink.Query{
		Key: "OPS_LOG", Reverse: true, Limit: 2,
		From: start.AddDate(0, 0, -2), To: start.AddDate(0, 0, 5),
	}
	plan, err := lines.Plan(ctx, query)
	fmt.Println(plan.Buckets, "buckets,", plan.Shards, "requests", err)
	for line, err := range lines.Query(ctx, query) {
		fmt.Println(line.At, line.Text, err)
	}
	// Output:
	// 8 buckets, 24 requests <nil>
	// 2026-06-19T20:00:00Z#agent-7 line 9 <nil>
	// 2026-06-19T08:00:00Z#agent-7 line 8 <nil>
}

// Pages for people: a token is a short text that goes into a link, and is good for more shards than it was made with.
func ExampleCollection_Page() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()
	viewed(ctx, views, 12)

	query := heatsink.Query{Key: "PAGE_VIEWS", Limit: 5}
	for token := ""; ; {
		page, err := views.Page(ctx, query, token)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(page.Items), "from", page.Items[0].At)
		if token = page.Next; token == "" {
			break
		}
	}
	// Output:
	// 5 from 12:00:00
	// 5 from 12:00:05
	// 2 from 12:00:10
}

// Counting asks all shards at once, and what it cost is known.
func ExampleCollection_Count() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()
	viewed(ctx, views, 100)

	var meter heatsink.Meter
	n, err := views.Count(heatsink.WithMeter(ctx, &meter), heatsink.Query{Key: "PAGE_VIEWS"})
	fmt.Println(n, err)
	fmt.Println(meter.Cost().Requests, "requests,", meter.Cost().ReadUnits, "read units")
	// Output:
	// 100 <nil>
	// 10 requests, 5 read units
}

// The most viewed pages.
func ExampleCountBy() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()
	viewed(ctx, views, 100)

	groups, err := heatsink.CountBy(ctx, views, heatsink.Query{Key: "PAGE_VIEWS"}, func(v View) string { return v.Page })
	fmt.Println(groups, err)
	// Output: [{/home 50} {/help 25} {/news 25}] <nil>
}

// Users are stored by their id and listed by their status, a hot key that only exists in an index.
func ExampleOptions_index() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Client().CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("statusShard"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("seen"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("StatusIndex"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("statusShard"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("seen"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}

	type User struct {
		ID     string `dynamodbav:"id"`
		Status string `dynamodbav:"statusShard"`
		Seen   string `dynamodbav:"seen"`
	}
	users, err := heatsink.Open[User](db.Client(), heatsink.Options{
		Table: "users", PartitionKey: "id",
		Index:  heatsink.Index{Name: "StatusIndex", PartitionKey: "statusShard", SortKey: "seen"},
		Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated, Format: layout.SharpNumber()},
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100 {
		status := "STATUS#ACTIVE"
		if i%4 == 0 {
			status = "STATUS#AWAY"
		}
		users.Put(ctx, User{ID: fmt.Sprint("u", i), Status: status, Seen: fmt.Sprintf("12:%02d", i%60)})
	}
	active, err := users.Count(ctx, heatsink.Query{Key: "STATUS#ACTIVE"})
	fmt.Println(active, "active", err)

	// u0 comes back: the update moves it to the other list.
	users.Update(ctx, User{ID: "u0", Status: "STATUS#ACTIVE"}, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET seen = :now")
		in.ExpressionAttributeValues = heatsink.Item{":now": &types.AttributeValueMemberS{Value: "13:00"}}
	})
	for user, err := range users.Query(ctx, heatsink.Query{Key: "STATUS#ACTIVE", Reverse: true, Limit: 1}) {
		fmt.Println(user, err)
	}
	// Output:
	// 75 active <nil>
	// {u0 STATUS#ACTIVE 13:00} <nil>
}

// A part of one's own transaction.
func ExampleCollection_TransactPut() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()

	put, err := views.TransactPut(ctx, View{Key: "PAGE_VIEWS", At: "12:00:00", Page: "/home"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{put},
	})
	fmt.Println(err)
	// Output: <nil>
}

// Many items at once, and what became of them.
func ExampleCollection_BatchPut() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()

	batch := make([]View, 60)
	for i := range batch {
		batch[i] = View{Key: "PAGE_VIEWS", At: fmt.Sprintf("12:00:%02d", i)}
	}
	err := views.BatchPut(ctx, batch)
	if failed, ok := errors.AsType[*heatsink.BatchError](err); ok {
		for _, f := range failed.Failed {
			fmt.Println(batch[f.Position].At, "was not written:", f.Err)
		}
	}
	n, _ := views.Count(ctx, heatsink.Query{Key: "PAGE_VIEWS"})
	fmt.Println(n, err)
	// Output: 60 <nil>
}

// Many items by their keys: those that are missing are in the error, by position.
func ExampleCollection_BatchGet() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()

	views.BatchPut(ctx, []View{
		{Key: "PAGE_VIEWS", At: "12:00:00", Page: "/home"},
		{Key: "PAGE_VIEWS", At: "12:00:01", Page: "/about"},
	})
	found, err := views.BatchGet(ctx, []View{
		{Key: "PAGE_VIEWS", At: "12:00:01"},
		{Key: "PAGE_VIEWS", At: "12:00:02"},
		{Key: "PAGE_VIEWS", At: "12:00:00"},
	})
	fmt.Println(found[0].Page, found[2].Page)
	if missing, ok := errors.AsType[*heatsink.BatchError](err); ok {
		for _, f := range missing.Failed {
			fmt.Println(f.Position, f.Err)
		}
	}
	// Output:
	// /about /home
	// 1 item not found
}

// Items are deleted as Delete does, 25 in a request where each can be in one place only.
func ExampleCollection_BatchDelete() {
	ctx := context.Background()
	views, db := views(ctx)
	defer db.Close()

	all := []View{
		{Key: "PAGE_VIEWS", At: "12:00:00", Page: "/home"},
		{Key: "PAGE_VIEWS", At: "12:00:01", Page: "/about"},
		{Key: "PAGE_VIEWS", At: "12:00:02", Page: "/news"},
	}
	views.BatchPut(ctx, all)
	err := views.BatchDelete(ctx, all[:2])
	left, _ := views.Count(ctx, heatsink.Query{Key: "PAGE_VIEWS"})
	fmt.Println(left, "left", err)
	// Output: 1 left <nil>
}

// The two longest visits: by something else than the sort key.
func ExampleTop() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.CreateTable(ctx, "visits", "site", "visitor")

	type Visit struct {
		Site    string `dynamodbav:"site"`
		Visitor string `dynamodbav:"visitor"`
		Seconds int
	}
	visits, err := heatsink.Open[Visit](db.Client(), heatsink.Options{
		Table: "visits", PartitionKey: "site", SortKey: "visitor", Layout: layout.Layout{Shards: 4},
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 20 {
		visits.Put(ctx, Visit{"SITE", fmt.Sprint("v", i), i * 7 % 20})
	}
	top, err := heatsink.Top(ctx, visits, heatsink.Query{Key: "SITE"}, 2, func(a, b Visit) int { return a.Seconds - b.Seconds })
	fmt.Println(top, err)
	// Output: [{SITE v17 19} {SITE v14 18}] <nil>
}

// With a version, heatsink knows its own writes again and a late attempt cannot undo a later one. What is deleted is gone,
// although a small item stays behind for an hour.
func ExampleOptions_version() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := db.CreateTable(ctx, "carts", "pk", "sk"); err != nil {
		panic(err)
	}
	carts, err := heatsink.Open[heatsink.Item](db.Client(), heatsink.Options{
		Table: "carts", PartitionKey: "pk", SortKey: "sk",
		Layout:  layout.Layout{Shards: 4, Strategy: layout.Calculated},
		Version: "version", TTL: "expires",
	})
	if err != nil {
		panic(err)
	}
	cart := heatsink.Item{
		"pk": &types.AttributeValueMemberS{Value: "CARTS"},
		"sk": &types.AttributeValueMemberS{Value: "cart-1"},
	}
	create := func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(sk)") }
	_, err = carts.Put(ctx, cart, create)
	fmt.Println("created:", err == nil)
	_, err = carts.Delete(ctx, cart)
	fmt.Println("deleted:", err == nil)
	_, err = carts.Get(ctx, cart)
	fmt.Println("gone:", errors.Is(err, heatsink.ErrNotFound))
	_, err = carts.Put(ctx, cart, create)
	fmt.Println("created again:", err == nil)
	// Output:
	// created: true
	// deleted: true
	// gone: true
	// created again: true
}
