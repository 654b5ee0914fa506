package heatsink_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// An Order is listed under its status, which may become hot.
type Order struct {
	Status string `dynamodbav:"status"`
	ID     string `dynamodbav:"id"`
}

// orderTable returns an engine with an empty table of Orders.
func orderTable(ctx context.Context) *local.DB {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.CreateTable(ctx, "orders", "status", "id"); err != nil {
		log.Fatal(err)
	}
	return db
}

// openOrders opens a collection of Orders, as each process of a fleet does.
func openOrders(db *local.DB, o heatsink.Options) *heatsink.Collection[Order] {
	o.Table, o.PartitionKey, o.SortKey = "orders", "status", "id"
	orders, err := heatsink.Open[Order](db.Client(), o)
	if err != nil {
		log.Fatal(err)
	}
	return orders
}

// placed puts n orders with ids from number first on, and returns the last result.
func placed(ctx context.Context, orders *heatsink.Collection[Order], first, n int) (last heatsink.Written[Order]) {
	for i := range n {
		var err error
		if last, err = orders.Put(ctx, Order{Status: "OPEN", ID: fmt.Sprintf("%04d", first+i)}); err != nil {
			log.Fatal(err)
		}
	}
	return last
}

// A key begins with one shard. Here it is made wider by hand, as the control law does it for a key that is hot. A process that
// knows nothing of that reads everything nevertheless.
func ExampleAdaptive() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	one := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	other := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})

	fmt.Println("cold:", placed(ctx, other, 0, 10).ShardKey)
	if _, err := one.Ledgers().Grow(ctx, "OPEN", time.Time{}, 8, "a sale begins"); err != nil {
		log.Fatal(err)
	}
	placed(ctx, one, 10, 90)

	n, err := other.Count(ctx, heatsink.Query{Key: "OPEN", Consistent: true})
	fmt.Println(n, "orders", err)
	plan, err := other.Plan(ctx, heatsink.Query{Key: "OPEN"})
	fmt.Println(plan.Shards, "shards", err)
	for order, err := range other.Query(ctx, heatsink.Query{Key: "OPEN", Reverse: true, Limit: 2, Consistent: true}) {
		fmt.Println(order.ID, err)
	}
	// Output:
	// cold: OPEN
	// 100 orders <nil>
	// 8 shards <nil>
	// 0099 <nil>
	// 0098 <nil>
}

// A read that is told of a write sees it, also in another process. The generation is a number that can be passed on.
func ExampleQuery_atLeast() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	writer := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	reader := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	placed(ctx, writer, 0, 10)

	n, err := reader.Count(ctx, heatsink.Query{Key: "OPEN"})
	fmt.Println("before:", n, err)
	if _, err := writer.Ledgers().Grow(ctx, "OPEN", time.Time{}, 16, "a sale begins"); err != nil {
		log.Fatal(err)
	}
	written := placed(ctx, writer, 10, 90)

	n, err = reader.Count(ctx, heatsink.Query{Key: "OPEN", AtLeast: written.Generation})
	fmt.Println("at least generation", written.Generation, "has", n, err)
	// Output:
	// before: 10 <nil>
	// at least generation 1 has 100 <nil>
}

// Each time bucket has a ledger of its own. A bucket that follows on a wide one begins at least half as wide, so a key that
// has cooled down becomes narrow again.
func ExampleAdaptive_buckets() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.CreateTable(ctx, "events", "topic", "at")
	type Event struct {
		Topic string    `dynamodbav:"topic"`
		At    time.Time `dynamodbav:"at"`
	}
	events, err := heatsink.Open[Event](db.Client(), heatsink.Options{
		Table: "events", PartitionKey: "topic", SortKey: "at",
		Layout: layout.Layout{Bucket: layout.Day}, EventTime: heatsink.EventTime{Attribute: "at"},
		Adaptive: &heatsink.Adaptive{},
	})
	if err != nil {
		log.Fatal(err)
	}
	sale := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	if _, err := events.Ledgers().Grow(ctx, "CLICKS", sale, 8, "the day of the sale"); err != nil {
		log.Fatal(err)
	}
	for day := range 5 {
		at := sale.AddDate(0, 0, day)
		for i := range 10 {
			if _, err := events.Put(ctx, Event{"CLICKS", at.Add(time.Duration(i) * time.Second)}); err != nil {
				log.Fatal(err)
			}
		}
		stored, err := events.Ledgers().Show(ctx, "CLICKS", at)
		fmt.Println(at.Format(time.DateOnly), stored.Width.Write, err)
	}
	// Output:
	// 2026-11-27 8 <nil>
	// 2026-11-28 4 <nil>
	// 2026-11-29 2 <nil>
	// 2026-11-30 1 <nil>
	// 2026-12-01 1 <nil>
}

// With a Calculated layout an item is found by its key, wherever it was when it was put. A second Put of the same key after
// growth adds a second item, so each key is put once.
func ExampleAdaptive_calculated() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	orders := openOrders(db, heatsink.Options{Layout: layout.Layout{Strategy: layout.Calculated}, Adaptive: &heatsink.Adaptive{}})
	placed(ctx, orders, 0, 50)
	orders.Ledgers().Grow(ctx, "OPEN", time.Time{}, 16, "a sale begins")
	placed(ctx, orders, 50, 50)

	for _, id := range []string{"0007", "0077"} { // from before the growth, and from after it
		order, err := orders.Get(ctx, Order{Status: "OPEN", ID: id})
		fmt.Println(order.ID, err)
	}
	_, err := orders.Put(ctx, Order{Status: "OPEN", ID: "0077"}, func(in *dynamodb.PutItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(id)")
	})
	fmt.Println("condition refused:", errors.Is(err, heatsink.ErrScattered))
	// Output:
	// 0007 <nil>
	// 0077 <nil>
	// condition refused: true
}

// Jobs are stored by their id and listed by their state. An Update of a job lists it anew, in a shard of the present width.
func ExampleAdaptive_index() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Client().CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("jobs"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("state"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("due"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byState"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("state"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("due"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	type Job struct {
		ID    string `dynamodbav:"id"`
		State string `dynamodbav:"state"`
		Due   string `dynamodbav:"due"`
	}
	jobs, err := heatsink.Open[Job](db.Client(), heatsink.Options{
		Table: "jobs", PartitionKey: "id",
		Index:    heatsink.Index{Name: "byState", PartitionKey: "state", SortKey: "due"},
		Layout:   layout.Layout{Strategy: layout.Calculated},
		Adaptive: &heatsink.Adaptive{},
	})
	if err != nil {
		log.Fatal(err)
	}
	stored := func() string { // the key in the index, as the table has it
		out, err := db.Client().GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String("jobs"), Key: heatsink.Item{"id": &types.AttributeValueMemberS{Value: "j1"}},
		})
		if err != nil {
			log.Fatal(err)
		}
		return out.Item["state"].(*types.AttributeValueMemberS).Value
	}
	jobs.Put(ctx, Job{"j1", "WAITING", "12:00"})
	fmt.Println("put:    ", stored())
	jobs.Ledgers().Grow(ctx, "WAITING", time.Time{}, 8, "a busy evening")
	_, err = jobs.Update(ctx, Job{ID: "j1", State: "WAITING"}, func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET due = :due")
		in.ExpressionAttributeValues = heatsink.Item{":due": &types.AttributeValueMemberS{Value: "13:00"}}
	})
	fmt.Println("updated:", stored(), err)
	n, err := jobs.Count(ctx, heatsink.Query{Key: "WAITING"})
	fmt.Println(n, "waiting", err)
	// Output:
	// put:     WAITING
	// updated: WAITING#SHARD_3 <nil>
	// 1 waiting <nil>
}

// Decisions go to a logger, with the key, the widths and the sentence that says why.
func ExampleAdaptive_decided() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	adaptive := heatsink.Adaptive{
		MaxWidth: 64, PerMinute: 5, DryRun: true,
		Decided: func(ctx context.Context, d heatsink.Decision) {
			logger.InfoContext(ctx, d.Reason, "key", d.Key, "from", d.From, "to", d.To, "wcu", d.Rate, "throttled", d.Throttled)
		},
	}
	// The collection calls it. Here we do, with what it is called with.
	adaptive.Decided(context.Background(), heatsink.Decision{Key: "OPEN", Reason: "dry run", From: 1, To: 16, Rate: 5200, Throttled: 0.8})
	// Output:
	// level=INFO msg="dry run" key=OPEN from=1 to=16 wcu=5200 throttled=0.8
}

// Ledgers show how wide a key is and why, and hold it there.
func ExampleCollection_Ledgers() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	orders := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	ledgers := orders.Ledgers()

	for _, width := range []int{4, 16} {
		if _, err := ledgers.Grow(ctx, "OPEN", time.Time{}, width, "a sale begins"); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := ledgers.Freeze(ctx, "OPEN", time.Time{}, "reads are dear enough"); err != nil {
		log.Fatal(err)
	}
	stored, err := ledgers.Show(ctx, "OPEN", time.Time{})
	fmt.Println(stored.Width, stored.Generation, stored.Frozen, stored.Why, stored.History, err)
	_, err = ledgers.Grow(ctx, "OPEN", time.Time{}, 32, "more")
	fmt.Println("frozen:", errors.Is(err, heatsink.ErrFrozen))
	for stored, err := range ledgers.All(ctx, db.Client()) {
		fmt.Println(stored.Key, stored.Width, err)
	}
	// Output:
	// 16 3 true reads are dear enough [1 4] <nil>
	// frozen: true
	// OPEN 16 <nil>
}

// A ledger that somebody deleted is noticed by strong reads, because items say which generation their writer knew. Repair looks
// for items in all shards, and writes it anew.
func ExampleLedgers_Repair() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	orders := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	orders.Ledgers().Grow(ctx, "OPEN", time.Time{}, 8, "a sale begins")
	placed(ctx, orders, 0, 100)
	db.Client().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: heatsink.Item{
		"status": &types.AttributeValueMemberS{Value: "_hs#L#table##OPEN"}, "id": &types.AttributeValueMemberS{Value: "-"},
	}})

	fresh := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}}) // it never saw the ledger
	_, err := fresh.Count(ctx, heatsink.Query{Key: "OPEN", Consistent: true})
	fmt.Println("lost:", errors.Is(err, heatsink.ErrLedgerLost))
	repaired, err := fresh.Ledgers().Repair(ctx, "OPEN", time.Time{}, 8, "the ledger was deleted")
	fmt.Println("repaired:", repaired.Width, err)
	n, err := fresh.Count(ctx, heatsink.Query{Key: "OPEN", Consistent: true})
	fmt.Println(n, "orders", err)
	// Output:
	// lost: true
	// repaired: 8 <nil>
	// 100 orders <nil>
}

// A scan of one's own leaves control items out.
func ExampleControlFilter() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	orders := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}})
	orders.Ledgers().Grow(ctx, "OPEN", time.Time{}, 4, "a sale begins")
	placed(ctx, orders, 0, 10)

	in := &dynamodb.ScanInput{TableName: aws.String("orders"), Select: types.SelectCount}
	all, err := db.Client().Scan(ctx, in)
	fmt.Println(all.Count, "items", err)
	filter, names, values := heatsink.ControlFilter("status")
	in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = &filter, names, values
	data, err := db.Client().Scan(ctx, in)
	fmt.Println(data.Count, "orders", err)
	// Output:
	// 12 items <nil>
	// 10 orders <nil>
}

// A collection with a fixed layout is written down, too. A process with another number of shards is refused, where it would
// miss items.
func ExampleOptions_recorded() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	old := openOrders(db, heatsink.Options{Layout: layout.Layout{Shards: 16}, Recorded: true})
	placed(ctx, old, 0, 10)

	wrong := openOrders(db, heatsink.Options{Layout: layout.Layout{Shards: 4}, Recorded: true})
	_, err := wrong.Count(ctx, heatsink.Query{Key: "OPEN"})
	fmt.Println("refused:", errors.Is(err, heatsink.ErrCharter))
	// Output:
	// refused: true
}

// A table whose items are under four fixed shards becomes adaptive. The items stay where they are.
func ExampleAdaptive_older() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	placed(ctx, openOrders(db, heatsink.Options{Layout: layout.Layout{Shards: 4}}), 0, 40)

	orders := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}, Older: []layout.Layout{{Shards: 4}}})
	placed(ctx, orders, 40, 10)
	orders.Ledgers().Grow(ctx, "OPEN", time.Time{}, 8, "a sale begins")
	placed(ctx, orders, 50, 50)
	n, err := orders.Count(ctx, heatsink.Query{Key: "OPEN", Consistent: true})
	fmt.Println(n, "orders", err)
	// Output:
	// 100 orders <nil>
}

// Control items can have a table of their own, for tables that cannot hold them.
func ExampleSetupControlTable() {
	ctx := context.Background()
	db := orderTable(ctx)
	defer db.Close()
	if err := heatsink.SetupControlTable(ctx, db.Client(), "heatsink-control"); err != nil {
		log.Fatal(err)
	}
	orders := openOrders(db, heatsink.Options{Adaptive: &heatsink.Adaptive{}, Name: "orders", ControlTable: "heatsink-control"})
	orders.Ledgers().Grow(ctx, "OPEN", time.Time{}, 4, "a sale begins")
	placed(ctx, orders, 0, 10)
	for _, table := range []string{"orders", "heatsink-control"} {
		out, err := db.Client().Scan(ctx, &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount})
		fmt.Println(table, out.Count, err)
	}
	// Output:
	// orders 10 <nil>
	// heatsink-control 2 <nil>
}
