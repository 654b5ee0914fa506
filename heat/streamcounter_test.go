package heat_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A counter of records that somebody else reads counts them by the images that they have, and says what it does not see.
func TestStreamCounter(t *testing.T) {
	counter, err := heat.NewStreamCounter(t.Context(), nil, "orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}, "orders/byStatus": {"status"}, "other": {"id"}}})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) streamtypes.AttributeValue { return &streamtypes.AttributeValueMemberS{Value: s} }
	at := time.Now().Add(-time.Second).Truncate(time.Second)
	record := func(kind streamtypes.StreamViewType, image map[string]streamtypes.AttributeValue) streamtypes.Record {
		return streamtypes.Record{EventName: streamtypes.OperationTypeInsert, Dynamodb: &streamtypes.StreamRecord{
			ApproximateCreationDateTime: &at, Keys: map[string]streamtypes.AttributeValue{"pk": text("A")}, NewImage: image, StreamViewType: kind,
		}}
	}
	large := map[string]streamtypes.AttributeValue{"pk": text("A"), "status": text("NEW"), "body": text(strings.Repeat("x", 2000))}
	expired := record(streamtypes.StreamViewTypeNewImage, large)
	expired.UserIdentity = &streamtypes.Identity{PrincipalId: aws.String("dynamodb.amazonaws.com")}
	counter.Add(record(streamtypes.StreamViewTypeNewAndOldImages, large), expired, streamtypes.Record{})
	report := counter.Report()
	if counter.Records() != 1 || report.Source != heat.Stream || !report.From.Equal(at) || report.Ended {
		t.Errorf("%d records, %+v", counter.Records(), report)
	}
	for name, want := range map[string]string{"orders": "A", "orders/byStatus": "NEW"} {
		if w := resource(t, report, name).Writes; w.Units != 2 || w.Requests != 1 || w.Keys[0].Key != want {
			t.Errorf("%s: got %+v", name, w)
		}
	}
	same := record(streamtypes.StreamViewTypeNewAndOldImages, large)
	same.EventName, same.Dynamodb.OldImage = streamtypes.OperationTypeModify, large
	counter.Add(same) // writes to the table, and not to the index
	for name, want := range map[string]int64{"orders": 2, "orders/byStatus": 1} {
		if got := resource(t, counter.Report(), name).Writes; got.Requests != want || got.Units != float64(2*want) {
			t.Errorf("%s: got %d requests of %v units, want %d", name, got.Requests, got.Units, want)
		}
	}
	const general = "a stream shows no reads and no throttled requests; units are computed from sizes"
	for kind, want := range map[streamtypes.StreamViewType][]string{
		streamtypes.StreamViewTypeNewAndOldImages: {general},
		streamtypes.StreamViewTypeKeysOnly: {
			general, "the stream has keys only: a write counts as one unit, because the size of items is unknown; writes to indexes are not counted",
		},
		streamtypes.StreamViewTypeOldImage: {
			general, "the stream has no new images: a write of a new item counts as one unit, because the size of items is unknown; writes to indexes are not counted",
		},
		streamtypes.StreamViewTypeNewImage: {
			general, "the stream has no old images: a deletion counts as one unit, because the size of items is unknown; its writes to indexes are not counted",
		},
	} {
		counter.Add(record(kind, nil))
		if got := counter.Report().Notes; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}

// A record with a wrong time counts as one of now: rates of later records are right, and the report can be stored.
func TestStreamCounterOfWrongTimes(t *testing.T) {
	for _, seconds := range []int64{4102444800, 1e15, math.MaxInt64, 0, -1, math.MinInt64} {
		bubble.Test(t, func(t *testing.T) {
			counter, err := heat.NewStreamCounter(t.Context(), nil, "orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}})
			if err != nil {
				t.Fatal(err)
			}
			add := func(at time.Time) {
				if err := counter.Add(streamtypes.Record{EventName: streamtypes.OperationTypeInsert, Dynamodb: &streamtypes.StreamRecord{
					ApproximateCreationDateTime: &at, Keys: map[string]streamtypes.AttributeValue{"pk": &streamtypes.AttributeValueMemberS{Value: "A"}},
				}}); err != nil {
					t.Fatal(err)
				}
			}
			add(time.Unix(seconds, 0))
			for range 20_000 {
				add(time.Now().Truncate(time.Second))
				time.Sleep(time.Millisecond)
			}
			report := counter.Report()
			if hot := resource(t, report, "orders").Writes.Keys[0]; hot.Consumed < 900 || hot.Consumed > 1100 {
				t.Errorf("%d: %v units a second, want about 1000", seconds, hot.Consumed)
			}
			if _, err := json.Marshal(report); err != nil || report.Elapsed() > time.Minute || !strings.HasPrefix(report.Notes[1], "1 of 20001 records had a time before 1970") {
				t.Errorf("%d: %v, %v, %v", seconds, err, report.Elapsed(), report.Notes)
			}
		})
	}
}

// What a counter needs is asked for.
func TestStreamCounterOfWhatIsWrong(t *testing.T) {
	db := local.Start(t)
	createWithStream(t, db.Client(), "orders")
	for want, test := range map[string]struct {
		client heat.Describer
		table  string
		o      heat.Options
	}{
		"new stream counter: invalid options: Top is -1":                             {nil, "orders", heat.Options{Top: -1}},
		"new stream counter: no client and no Options.Keys for table orders: give o": {nil, "orders", heat.Options{Keys: map[string][]string{"other": {"pk"}}}},
		`describe table "none": `:                                                    {db.Client(), "none", heat.Options{}},
		"layout {key}#SHARD_{shard}: no such index":                                  {db.Client(), "orders", heat.Options{Layouts: []heat.Layout{{Resource: heat.Resource{Table: "orders", Index: "byNothing"}, Layout: layout.Layout{Shards: 4}}}}},
	} {
		if _, err := heat.NewStreamCounter(t.Context(), test.client, test.table, test.o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := heat.NewStreamCounter(t.Context(), db.Client(), "orders", heat.Options{}); err != nil {
		t.Error(err)
	}
}

// Records without the table's key are named and not counted.
func TestStreamCounterRefusesOthers(t *testing.T) {
	counter, err := heat.NewStreamCounter(t.Context(), nil, "shop", heat.Options{Keys: map[string][]string{"shop": {"pk"}}})
	if err != nil {
		t.Fatal(err)
	}
	keyed := func(name string) streamtypes.Record {
		return streamtypes.Record{EventID: aws.String(name), Dynamodb: &streamtypes.StreamRecord{
			Keys: map[string]streamtypes.AttributeValue{name: &streamtypes.AttributeValueMemberS{Value: "a"}},
		}}
	}
	err = counter.Add(keyed("customer"), keyed("pk"), streamtypes.Record{})
	if err == nil || counter.Records() != 1 || !strings.Contains(err.Error(), `record "customer" of the stream of table "shop": it has no key "pk"`) || !strings.Contains(err.Error(), "1 more") {
		t.Errorf("%d records, %v", counter.Records(), err)
	}
	if err := counter.Add(streamtypes.Record{}); err == nil || !strings.Contains(err.Error(), "has no change") {
		t.Errorf("got %v", err)
	}
}
