package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// create creates the table events with the keys pk and sk, and an index byStatus.
func create(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("events"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk"), attribute("status"), attribute("seen")},
		KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("seen", types.KeyTypeRange)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// fill opens a collection and puts items of three keys.
func fill(t *testing.T, client *dynamodb.Client, o heatsink.Options) *heatsink.Collection[heatsink.Item] {
	t.Helper()
	o.Table, o.PartitionKey, o.SortKey = "events", "pk", "sk"
	c, err := heatsink.Open[heatsink.Item](client, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		at := time.Date(2026, 6, 22+i%3, 1, i, 0, 0, time.UTC).Format(time.RFC3339)
		_, err := c.Put(t.Context(), heatsink.Item{
			"pk": text(fmt.Sprintf("KEY#%d", i%3)), "sk": text(fmt.Sprintf("%s#%d", at, i)), "at": text(at), "status": text("ACTIVE"), "seen": text(at),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// examined returns what is not ok, without what the local engine and an unwarmed table bring along: an engine inside the process has
// no clock of its own.
func examined(t *testing.T, o Options) (report Report, bad []string) {
	t.Helper()
	o.Table, o.MaxRCU = "events", 1e6
	report, err := Examine(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Outcome != OK && r.Check != "capacity" && r.Check != "recovery" && r.Check != "clock" {
			bad = append(bad, fmt.Sprintf("%s %s: %s", r.Outcome, r.Check, r.Found))
		}
	}
	return report, bad
}

// No item that a program has put is taken for a stray, whatever its layout.
func TestNoFalseStrays(t *testing.T) {
	eventTime := heatsink.EventTime{Attribute: "at"}
	index := heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "seen"}
	for name, o := range map[string]heatsink.Options{
		"unsharded":           {Recorded: true},
		"random":              {Recorded: true, Layout: layout.Layout{Shards: 7}},
		"dots":                {Recorded: true, Layout: layout.Layout{Shards: 7, Format: layout.DotFromOne()}},
		"calculated":          {Recorded: true, Layout: layout.Layout{Shards: 7, Strategy: layout.Calculated, Hash: layout.MD5}},
		"calculated by time":  {Recorded: true, Layout: layout.Layout{Shards: 7, Strategy: layout.Calculated}, ShardBy: []string{"at"}},
		"buckets":             {Recorded: true, Layout: layout.Layout{Shards: 3, Bucket: layout.Day}, EventTime: eventTime},
		"calculated buckets":  {Recorded: true, Layout: layout.Layout{Shards: 3, Bucket: layout.Hour, Strategy: layout.Calculated}, EventTime: eventTime},
		"buckets alone":       {Recorded: true, Layout: layout.Layout{Bucket: layout.Month}, EventTime: eventTime},
		"widths":              {Recorded: true, Widths: layout.Width{Write: 4, Read: 8}},
		"index":               {Recorded: true, Index: index, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated}},
		"adaptive":            {Adaptive: &heatsink.Adaptive{}},
		"adaptive calculated": {Adaptive: &heatsink.Adaptive{}, Layout: layout.Layout{Strategy: layout.Calculated}},
		"adaptive index":      {Adaptive: &heatsink.Adaptive{}, Index: index, Layout: layout.Layout{Strategy: layout.Calculated}},
		"movable":             {Movable: true, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}},
		"movable list":        {Movable: true, Layout: layout.Layout{Shards: 4}},
		"movable buckets":     {Movable: true, Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: layout.Day}, EventTime: heatsink.EventTime{Attribute: "sk"}},
		"another name":        {Recorded: true, Name: "mine", Layout: layout.Layout{Shards: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := local.New(local.Options{Signatures: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			create(t, db.Client())
			c := fill(t, db.Client(), o)
			if o.Adaptive != nil {
				key := "KEY#0"
				if o.Index.Name != "" {
					key = "ACTIVE"
				}
				if _, err := c.Ledgers().Grow(t.Context(), key, time.Time{}, 8, ""); err != nil {
					t.Fatal(err)
				}
				fill(t, db.Client(), o)
			}
			report, bad := examined(t, Options{Client: db.Client(), Name: o.Name})
			if bad != nil {
				t.Errorf("got %q", bad)
			}
			if report.Sample == nil || report.Sample.Items < 60 || report.Sample.Fraction != 1 {
				t.Errorf("got %+v", report.Sample)
			}
		})
	}
}

// Items that are where the older layout has them are no strays, and neither are those that a move has or has not moved yet.
func TestNoFalseStraysDuringChanges(t *testing.T) {
	t.Run("older", func(t *testing.T) {
		db := local.Start(t)
		create(t, db.Client())
		fill(t, db.Client(), heatsink.Options{})
		fill(t, db.Client(), heatsink.Options{Layout: layout.Layout{Shards: 2}})
		fill(t, db.Client(), heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 8}, Older: []layout.Layout{{}, {Shards: 2}}})
		if _, bad := examined(t, Options{Client: db.Client()}); bad != nil {
			t.Errorf("got %q", bad)
		}
	})
	t.Run("move", func(t *testing.T) {
		db, err := local.New(local.Options{Signatures: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		create(t, db.Client())
		o := heatsink.Options{Movable: true, Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}}
		fill(t, db.Client(), o)
		o.Table, o.PartitionKey, o.SortKey = "events", "pk", "sk"
		mover, err := move.New(db.Client(), move.Options{Collection: o, To: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mover.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		report, bad := examined(t, Options{Client: db.Client()})
		if bad != nil || !strings.Contains(fmt.Sprint(report.Results), "items move from calculated by xxhash over 2 shards") {
			t.Errorf("got %q in %v", bad, report.Results)
		}
	})
}

// A cancelled examination ends at once, with its context's error.
func TestCancelled(t *testing.T) {
	db := local.Start(t)
	create(t, db.Client())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Examine(ctx, Options{Client: db.Client(), Table: "events"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
