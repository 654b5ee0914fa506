package faulty_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// A client of which the first answer is lost: the write has happened all the same.
func ExampleFaults() {
	ctx := context.Background()
	db, _ := local.New(local.Options{})
	defer db.Close()
	_ = db.CreateTable(ctx, "items", "pk", "sk")
	faults := faulty.New(faulty.Script(faulty.LostAnswer))
	client := db.Client(faults.Option)
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: new("items"), Item: item("pk", "a", "sk", "1")})
	fmt.Println(err)
	for _, r := range faults.Requests() {
		fmt.Println(r.Operation, r.Key("pk"), "met:", r.Fault, "done:", r.Done)
	}
	// Output:
	// operation error DynamoDB: PutItem, request send failed, Post "https://dynamodb": unexpected EOF
	// PutItem a met: lost answer done: true
}
