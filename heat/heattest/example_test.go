package heattest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat/heattest"
	"github.com/heatsink-go/heatsink/local"
)

// printed is a *testing.T whose failures are printed, first line only: an Example has no test to fail.
type printed struct{ end func() }

func (*printed) Helper()                           {}
func (p *printed) Cleanup(end func())              { p.end = end }
func (*printed) Fatalf(format string, args ...any) { fmt.Printf(format, args...) }

func (*printed) Errorf(format string, args ...any) {
	said, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	fmt.Println("FAIL:", said)
}

// A test that writes all orders of a day under one key fails.
func Example() {
	ctx, t := context.Background(), &printed{} // a *testing.T in your test
	db := heattest.Start(t, heattest.Options{
		// A partition of ten units a second, so that the example is quick. Leave it out in a synctest bubble.
		Engine: local.Options{Physics: &local.Physics{PartitionWrites: 10, Window: time.Second}},
	})
	if err := db.CreateTable(ctx, "orders", "pk", "sk"); err != nil {
		fmt.Println(err)
	}
	client := db.Client()
	for i := range 30 {
		_, _ = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "ORDERS#2026-11-16"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
		}}, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	}
	t.end() // as the testing package does
	// Output:
	// FAIL: heattest: the test made its tables hot:
}
