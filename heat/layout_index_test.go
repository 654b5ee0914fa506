package heat_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A layout of an index that the table does not have is refused by every source that looks the table up.
func TestLayoutsOfNoIndex(t *testing.T) {
	ctx, db := t.Context(), local.Start(t)
	client := db.Client()
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"pk", "sk", "status", "at"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	all := &types.Projection{ProjectionType: types.ProjectionTypeAll}
	if _, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: attributes,
		KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String("byStatus"), Projection: all, KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash)}},
		},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{
			{IndexName: aws.String("byTime"), Projection: all, KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("at", types.KeyTypeRange)}},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.CreateTable(ctx, "plain", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of   heat.Resource
		want string
	}{
		{heat.Resource{Table: "orders", Index: "byStatsu"}, `does not have index "byStatsu": its global indexes are byStatus`},
		{heat.Resource{Table: "orders", Index: "byTime"}, "is local and has the table's partition key: give the layout to the table"},
		{heat.Resource{Table: "plain", Index: "byStatus"}, "it has no global index"},
		{heat.Resource{Table: "orders", Index: "byStatus"}, ""},
		{heat.Resource{Table: "orders"}, ""},
		{heat.Resource{}, ""},
	} {
		table := cmp.Or(test.of.Table, "orders")
		layouts := []heat.Layout{{Resource: test.of, Layout: layout.Layout{Shards: 4}}, {Resource: heat.Resource{Table: "others", Index: "any"}, Layout: layout.Layout{Shards: 4}}}
		_, estimate := heat.EstimateScan(ctx, client, table, heat.ScanOptions{Layouts: layouts})
		_, scan := heat.ScanTable(ctx, client, table, heat.ScanOptions{Layouts: layouts})
		errs := map[string]error{
			"CheckLayouts": heat.CheckLayouts(ctx, client, table, layouts...), "EstimateScan": estimate, "ScanTable": scan,
			"Describe": newRecorder(t, heat.Options{Layouts: layouts}).Describe(ctx, client, table),
		}
		if table == "orders" {
			_, errs["OpenStream"] = heat.OpenStream(ctx, client, db.StreamsClient(), table, heat.StreamOptions{Recorder: heat.Options{Layouts: layouts}})
		}
		for name, err := range errs {
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s of %s: %v", name, test.of, err)
			case test.want != "" && (!errors.Is(err, heat.ErrNoIndex) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%s of %s: got %v, want %q", name, test.of, err, test.want)
			}
		}
	}
}
