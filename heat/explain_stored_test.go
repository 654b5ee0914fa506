package heat_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
)

// A scan of a table where one key holds 95 % of the items says so, although no other key looks like it.
func TestScanFindsTheKeyWithMostItems(t *testing.T) {
	db := start(t, nil)
	client := db.Client()
	for i := range 400 {
		item := key("ORG#7", fmt.Sprint(i))
		if i%20 == 0 {
			item = key(fmt.Sprintf("SESSION#%032x", i), "1")
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	report, err := heat.ScanTable(t.Context(), client, "views", heat.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	findings := heat.Explain(report, heat.Rules{})
	if len(findings) != 1 || findings[0].String() != "warning: views: Partition key 'ORG#7' holds 95.0% of the items" {
		t.Errorf("got %v", findings)
	}
}
