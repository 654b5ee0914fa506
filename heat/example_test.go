package heat_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// A recorder sees what a client does, here to an engine inside the process.
func ExampleRecorder() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := db.CreateTable(ctx, "users", "pk", "sk"); err != nil {
		panic(err)
	}

	recorder, err := heat.NewRecorder(heat.Options{})
	if err != nil {
		panic(err)
	}
	client := db.Client(recorder.Option) // or dynamodb.NewFromConfig(cfg, recorder.Option)
	for i := range 200 {
		status := "STATUS#ACTIVE"
		if i%5 == 0 {
			status = "STATUS#BANNED"
		}
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("users"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: status}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint("user-", i)},
		}}); err != nil {
			panic(err)
		}
	}

	for _, key := range recorder.Report().Resources[0].Writes.Keys {
		fmt.Printf("%s took %.0f write units\n", key.Key, key.Units)
	}
	for _, finding := range heat.Explain(recorder.Report(), heat.Rules{}) {
		fmt.Println(finding)
	}
	// Output:
	// STATUS#ACTIVE took 160 write units
	// STATUS#BANNED took 40 write units
	// warning: users: Partition STATUS#ACTIVE receiving 80% of traffic
}

// An audit of what a table holds, no faster than 50 read units a second.
func ExampleScanTable() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if err := db.CreateTable(ctx, "logs", "pk", "sk"); err != nil {
		panic(err)
	}
	for i := range 150 {
		if _, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("logs"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "OPS_LOG"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
		}}); err != nil {
			panic(err)
		}
	}

	report, err := heat.ScanTable(ctx, db.Client(), "logs", heat.ScanOptions{MaxRCU: 50})
	if err != nil {
		panic(err)
	}
	for _, pattern := range report.Resources[0].Patterns {
		fmt.Printf("%s: %d items, %d key\n", pattern.Shape, pattern.Items, pattern.Distinct.Keys)
	}
	for _, finding := range heat.Explain(report, heat.Rules{}) {
		fmt.Println(finding)
	}
	// Output:
	// OPS_LOG: 150 items, 1 key
	// warning: logs: Partition key OPS_LOG has a single value: hot by design
}
