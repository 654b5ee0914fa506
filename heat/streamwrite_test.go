package heat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// startStreamed returns an engine with a table "orders" (pk, sk), its indexes by "status" and a stream.
func startStreamed(t *testing.T, kind types.StreamViewType, indexes map[string]*types.Projection) *local.DB {
	t.Helper()
	db := local.Start(t)
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: kind},
	}
	if len(indexes) > 0 {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS})
	}
	for name, projection := range indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(name), Projection: projection,
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
		})
	}
	if _, err := db.Client().CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return db
}

func putOrder(t *testing.T, client *dynamodb.Client, order item) {
	t.Helper()
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order}); err != nil {
		t.Fatal(err)
	}
}

// A stream of keys counts writes as those of a mean item: a key of large items that is hot looks so.
func TestStreamOfKeysCountsMeanItems(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := startStreamed(t, types.StreamViewTypeKeysOnly, nil)
		client := db.Client()
		for i := range 1000 {
			order := key("TENANT#17", fmt.Sprint(i))
			order["body"] = text(strings.Repeat("x", 10_000))
			putOrder(t, client, order)
			time.Sleep(5 * time.Millisecond)
		}
		report := readStream(t, db)
		writes := resource(t, report, "orders").Writes
		if writes.Units != 10_000 || writes.Requests != 1000 || writes.Keys[0].Units != 10_000 {
			t.Errorf("got %+v", writes)
		}
		const note = "the stream has keys only: a write counts as 10 units, the cost of an average item of the table; writes to indexes are not counted"
		if !slices.Contains(report.Notes, note) {
			t.Errorf("got %q", report.Notes)
		}
		findings := heat.Explain(report, heat.Rules{})
		if len(findings) != 1 || findings[0].Severity != heat.Critical || findings[0].Key != "TENANT#17" {
			t.Errorf("got %s: %+v", kinds(findings), findings)
		}
	})
}

// What is not seen of writes is said, whatever the stream has.
func TestStreamSaysWhatItDoesNotSee(t *testing.T) {
	small, large := key("a", "1"), key("a", "1")
	large["body"] = text(strings.Repeat("x", 2500))
	for _, test := range []struct {
		kind  types.StreamViewType
		units float64 // of a small item, the same enlarged, and its deletion
		note  string
	}{
		{
			types.StreamViewTypeKeysOnly, 3,
			"the stream has keys only: a write counts as one unit, because the size of items is unknown; writes to indexes are not counted",
		},
		{
			types.StreamViewTypeOldImage, 1 + 1 + 3,
			"the stream has no new images: a write of a new item counts as one unit, because the size of items is unknown; writes to indexes are not counted",
		},
		{
			types.StreamViewTypeNewImage, 1 + 3 + 1,
			"the stream has no old images: a deletion counts as one unit, because the size of items is unknown; its writes to indexes are not counted",
		},
		{types.StreamViewTypeNewAndOldImages, 1 + 3 + 3, ""},
	} {
		bubble.Test(t, func(t *testing.T) {
			db := startStreamed(t, test.kind, nil)
			client := db.Client()
			putOrder(t, client, small)
			putOrder(t, client, large)
			if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: small}); err != nil {
				t.Fatal(err)
			}
			report := readStream(t, db)
			if got := resource(t, report, "orders").Writes.Units; got != test.units {
				t.Errorf("%s: %v units, want %v", test.kind, got, test.units)
			}
			if test.note == "" && len(report.Notes) != 1 || test.note != "" && !slices.Contains(report.Notes, test.note) {
				t.Errorf("%s: got %q", test.kind, report.Notes)
			}
		})
	}
}

// The units of an index are those of what it projects, and none if that does not change: as DynamoDB charges them.
func TestStreamWorksOutUnitsOfProjections(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := startStreamed(t, types.StreamViewTypeNewAndOldImages, map[string]*types.Projection{
			"all":     {ProjectionType: types.ProjectionTypeAll},
			"keys":    {ProjectionType: types.ProjectionTypeKeysOnly},
			"include": {ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"title"}},
		})
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option)
		for version := range 3 {
			for i := range 20 {
				order := key(fmt.Sprint("CUSTOMER#", i), "1")
				order["status"], order["title"] = text("OPEN"), text(strings.Repeat("t", 1500))
				order["body"] = text(strings.Repeat(fmt.Sprint(version), 8000))
				putOrder(t, client, order)
			}
		}
		for _, report := range []heat.Report{recorder.Report(), readStream(t, db)} {
			for name, want := range map[string]float64{"orders": 600, "orders/all": 600, "orders/keys": 20, "orders/include": 40} {
				if got := resource(t, report, name).Writes; got.Units != want {
					t.Errorf("%s: %s took %v units, want %v", report.Source, name, got.Units, want)
				}
			}
		}
	})
}

// A checkpoint of a reader that began with new records knows when that was: one that goes on from it does not count older ones.
func TestCheckpointKnowsSinceWhen(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := startStreamed(t, types.StreamViewTypeNewImage, nil)
		client := db.Client()
		putOrder(t, client, key("A", "old"))
		time.Sleep(5 * time.Second)
		reader, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkpoint := reader.Checkpoint() // before it has read any shard
		time.Sleep(5 * time.Second)
		putOrder(t, client, key("A", "new"))
		again, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{Checkpoint: checkpoint, UntilNow: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Run(t.Context()); err != nil || again.Records() != 1 {
			t.Errorf("%d records were counted, want 1: %v", again.Records(), err)
		}
		if _, err := heat.OpenStream(t.Context(), client, db.StreamsClient(), "orders", heat.StreamOptions{Checkpoint: heat.Checkpoint{"since": "noon"}}); err == nil || !strings.HasPrefix(err.Error(), "checkpoint: ") {
			t.Errorf("a checkpoint since noon: got %v", err)
		}
	})
}
