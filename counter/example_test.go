package counter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{}) // or a *dynamodb.Client of your own account
	if err != nil {
		panic(err)
	}
	defer db.Close()

	options := counter.Options{Table: "counters"}
	if err := counter.Setup(ctx, db.Client(), options); err != nil {
		panic(err)
	}
	views, err := counter.Open(db.Client(), options)
	if err != nil {
		panic(err)
	}
	defer views.Close(ctx)

	var visitors sync.WaitGroup
	for range 1000 {
		visitors.Go(func() {
			if err := views.Add(ctx, "PAGE#/pricing", 1); err != nil {
				panic(err)
			}
		})
	}
	visitors.Wait()

	total, err := views.Total(ctx, "PAGE#/pricing")
	fmt.Println(total, err)
	fmt.Println("write units for 1000 increments:", views.Cost().WriteUnits < 20)
	// Output:
	// 1000 <nil>
	// write units for 1000 increments: true
}

// An Add that was not acknowledged says whether it may be counted all the same.
func ExampleCounter_Add() {
	views := openViews()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	err := views.Add(ctx, "VIEWS", 1)
	switch {
	case err == nil:
		fmt.Println("counted, once")
	case errors.Is(err, counter.ErrUncertain):
		fmt.Println("may be counted: adding it again could count it twice")
	default:
		fmt.Println("not counted: try again")
	}
	// Output: counted, once
}

// Stock goes up and down. Read tells what it was at one moment.
func ExampleCounter_Read() {
	ctx := context.Background()
	stock := openViews()
	for _, delta := range []int64{100, -3, -5} {
		if err := stock.Add(ctx, "STOCK#shoes", delta); err != nil {
			panic(err)
		}
	}
	now, err := stock.Read(ctx, "STOCK#shoes")
	if now.Exact {
		fmt.Println(now.Lo, err)
	} else {
		fmt.Println("between", now.Lo, "and", now.Hi, err)
	}
	// Output: 92 <nil>
}

// What is counted between two resets is in the second one's result, whatever happens at the moment of the first.
func ExampleCounter_Reset() {
	ctx := context.Background()
	views := openViews()
	for range 3 {
		if err := views.Add(ctx, "VIEWS", 1); err != nil {
			panic(err)
		}
	}
	today, err := views.Reset(ctx, "VIEWS")
	fmt.Println(today, err)
	total, err := views.Total(ctx, "VIEWS")
	fmt.Println(total, err)
	// Output:
	// 3 <nil>
	// 0 <nil>
}

// The counter that the table has already: COUNTER#VIEWS#SHARD#0 to 9, COUNT.
func ExampleTally() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := db.CreateTable(ctx, "app", "pk", "sk"); err != nil {
		panic(err)
	}
	views, err := counter.OpenTally(db.Client(), counter.TallyOptions{Table: "app", SortKey: "sk", Format: layout.SharpNumber()})
	if err != nil {
		panic(err)
	}
	for range 5 {
		if err := views.Add(ctx, "COUNTER#VIEWS", 1); err != nil {
			panic(err)
		}
	}
	fmt.Println(views.Total(ctx, "COUNTER#VIEWS"))
	// Output: 5 <nil>
}

// openViews opens counters on an engine that nobody closes.
func openViews() *counter.Counter {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	options := counter.Options{Table: "counters"}
	if err := counter.Setup(ctx, db.Client(), options); err != nil {
		panic(err)
	}
	views, err := counter.Open(db.Client(), options)
	if err != nil {
		panic(err)
	}
	return views
}

// Views were counted in an attribute of each post. Older programs still do that, and everything is counted.
func ExampleOrigin() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	client := db.Client()
	options := counter.Options{Table: "app", Origin: &counter.Origin{SortValue: "META", Attribute: "views"}}
	if err := counter.Setup(ctx, client, options); err != nil {
		panic(err)
	}
	older := func(views string) { // what programs have done up to now
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("app"),
			Key: heatsink.Item{
				"pk": &types.AttributeValueMemberS{Value: "POST#1"}, "sk": &types.AttributeValueMemberS{Value: "META"},
			},
			UpdateExpression:          aws.String("ADD #views :n"),
			ExpressionAttributeNames:  map[string]string{"#views": "views"},
			ExpressionAttributeValues: heatsink.Item{":n": &types.AttributeValueMemberN{Value: views}},
		})
		if err != nil {
			panic(err)
		}
	}
	older("1000")

	views, err := counter.Open(client, options) // 1. programs with the origin
	if err != nil {
		panic(err)
	}
	if err := views.Add(ctx, "POST#1", 1); err != nil {
		panic(err)
	}
	older("10") // some are not deployed yet
	fmt.Println(views.Total(ctx, "POST#1"))

	imported, err := views.Import(ctx, "POST#1") // 2. no older program is left; move.Counters does it for all counters
	fmt.Println(imported.Value, err)
	check, err := views.VerifyImport(ctx, "POST#1") // 3.
	fmt.Println(check.Equal(), err)
	if err := views.Close(ctx); err != nil {
		panic(err)
	}

	views, err = counter.Open(client, counter.Options{Table: "app"}) // 4. without the origin
	if err != nil {
		panic(err)
	}
	defer views.Close(ctx)
	fmt.Println(views.Total(ctx, "POST#1"))
	// Output:
	// 1011 <nil>
	// 1010 <nil>
	// true <nil>
	// 1011 <nil>
}
