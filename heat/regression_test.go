package heat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// An index without a sort key has many items under a key: its hot key is no counter.
func TestAnIndexWithoutSortKeyIsNoSingleItem(t *testing.T) {
	db := local.Start(t)
	recorder := heat.NewRecorder(heat.Options{})
	client := db.Client(recorder.Option)
	createWithStream(t, client, "orders")
	for i := range 50 {
		order := key(fmt.Sprint("c", i), "1")
		order["status"] = text("OPEN")
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order}); err != nil {
			t.Fatal(err)
		}
	}
	if k := resource(t, recorder.Report(), "orders/byStatus").Writes.Keys[0]; k.Key != "OPEN" || k.Items == 1 {
		t.Errorf("got %+v", k)
	}
}

// Who asks for the total gets the total, and the recorder still tells table and index apart. Two recorders may look on.
func TestRecorderWhereTheCallerAsksForTheTotal(t *testing.T) {
	db := local.Start(t)
	recorder, second := heat.NewRecorder(heat.Options{}), heat.NewRecorder(heat.Options{})
	client := db.Client(recorder.Option, second.Option)
	createWithStream(t, client, "orders")
	order := key("c", "1")
	order["status"] = text("OPEN")
	out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("orders"), Item: order, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil || *out.ConsumedCapacity.CapacityUnits != 2 || out.ConsumedCapacity.Table != nil || out.ConsumedCapacity.GlobalSecondaryIndexes != nil {
		t.Fatalf("got %+v, %v", out, err)
	}
	for _, r := range []*heat.Recorder{recorder, second} {
		if own, index := resource(t, r.Report(), "orders").Writes.Units, resource(t, r.Report(), "orders/byStatus").Writes.Units; own != 1 || index != 1 {
			t.Errorf("the table took %v, the index %v", own, index)
		}
	}
}

// A table that is out of its own capacity has no hot key, however often it is asked.
func TestTableThrottlesDoNotHeatKeys(t *testing.T) {
	f := hotFlow("user-1", 100, 50)
	f.Keys[0].Throttled, f.Keys[0].Reason, f.Keys[0].Refused = 5000, "TableWriteProvisionedThroughputExceeded", 900
	f.Throttles = []heat.ThrottleCount{{Reason: f.Keys[0].Reason, Count: 5000}}
	if got := kinds(heat.Explain(report(f), heat.Rules{Excess: 1})); got != "critical table-throttled " {
		t.Errorf("got %q", got)
	}
}

// What CloudWatch saw an hour ago counts; what a recorder saw long ago is over.
func TestOldThrottles(t *testing.T) {
	f := heat.Flow{
		Units: 60_000, Requests: 110_000, Throttled: 50_000,
		Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 50_000}},
		Trend:     []heat.Point{{From: noon.Add(-time.Hour), For: time.Minute, Units: 60_000, Throttled: 50_000}, {From: noon, For: time.Minute, Units: 1}},
	}
	for source, want := range map[heat.Source]string{heat.CloudWatch: "critical hot-partition ", heat.Live: "info hot-partition "} {
		r := report(f)
		r.Source = source
		if got := kinds(heat.Explain(r, heat.Rules{})); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

// Many keys that are plain words are names: no single value is hot by design.
func TestKeysThatAreWords(t *testing.T) {
	db := start(t, nil)
	recorder := heat.NewRecorder(heat.Options{})
	client := db.Client(recorder.Option)
	for i := range 30 {
		name := "U" + strings.Repeat(string(rune('A'+i%26)), 1+i/26)
		for j := range 20 {
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key(name, fmt.Sprint(j))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	report := recorder.Report()
	if got := heat.Explain(report, heat.Rules{Items: 10}); len(got) != 0 {
		t.Errorf("got %s", kinds(got))
	}
	if p := resource(t, report, "views").Patterns; len(p) != 1 || p[0].Shape != "{id}" || p[0].Distinct.Keys < 25 {
		t.Errorf("got %+v", p)
	}
}

// A trickle has no dominant key, and one query of an index says nothing about its cardinality.
func TestTooLittleToTell(t *testing.T) {
	trickle := shares(map[string]float64{"user-1": 95, "user-2": 5})
	for i := range trickle.Keys {
		trickle.Keys[i].RateLow, trickle.Keys[i].Second = 0.03, 0
	}
	if got := heat.Explain(report(trickle), heat.Rules{}); len(got) != 0 {
		t.Errorf("a trickle: %s", kinds(got))
	}
	r := report(heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: 900}})
	r.Resources = append(r.Resources, heat.ResourceReport{
		Resource: heat.Resource{Table: "app", Index: "byEmail"}, Reads: heat.Flow{Units: 1, Requests: 1, Distinct: heat.Distinct{Keys: 1}},
	})
	if got := heat.Explain(r, heat.Rules{}); len(got) != 0 {
		t.Errorf("a query of an index: %s", kinds(got))
	}
}

// Names in capitals are tenants once there are many of them.
func TestTenantsInCapitals(t *testing.T) {
	r := report(hotFlow("TENANT#ACME", 2000, 200), withPattern("TENANT#{id}", 41))
	if got := kinds(heat.Explain(r, heat.Rules{})); got != "critical skewed-tenant TENANT#ACME" {
		t.Errorf("got %q", got)
	}
}
