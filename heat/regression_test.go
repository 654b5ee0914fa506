package heat_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// An index without a sort key has many items under a key: its hot key is no counter.
func TestAnIndexWithoutSortKeyIsNoSingleItem(t *testing.T) {
	db := local.Start(t)
	recorder := newRecorder(t, heat.Options{})
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
	recorder, second := newRecorder(t, heat.Options{}), newRecorder(t, heat.Options{})
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
	recorder := newRecorder(t, heat.Options{})
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

// DynamoDB serves a burst: a second of what a partition serves is a warning, unless it was refused. What goes on is critical.
func TestASecondAloneIsNotCritical(t *testing.T) {
	burst := func(edit func(*heat.KeyHeat)) heat.Report {
		f := hotFlow("user-12345", 100, 200)
		f.Keys[0].Second = 990
		edit(&f.Keys[0])
		return report(f)
	}
	for _, test := range []struct {
		name string
		edit func(*heat.KeyHeat)
		want string
	}{
		{"a second", func(*heat.KeyHeat) {}, "warning hot-key user-12345"},
		{"a second, ten times too much", func(k *heat.KeyHeat) { k.Second = 10_000 }, "warning hot-key user-12345"},
		{"it goes on", func(k *heat.KeyHeat) { k.RateLow, k.Rate = 960, 970 }, "critical hot-key user-12345"},
		{"refused by key range", func(k *heat.KeyHeat) {
			k.Refused, k.Throttled, k.Reason = 5, 50, "TableWriteKeyRangeThroughputExceeded"
		}, "critical hot-key user-12345"},
		{"refused by the table", func(k *heat.KeyHeat) {
			k.Refused, k.Throttled, k.Reason = 5, 50, "TableWriteProvisionedThroughputExceeded"
		}, "warning hot-key user-12345"},
	} {
		findings := heat.Explain(burst(test.edit), heat.Rules{Excess: 1})
		if got := kinds(findings); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if evidence := strings.Join(findings[0].Evidence, "; "); test.name == "a second" && !strings.Contains(evidence, "990 write units a second in the last full second") {
			t.Errorf("got %s", evidence)
		}
	}
}

// The same on the engine: a thousand writes in one second of an idle minute, served all.
func TestABurstOnTheEngineIsNotCritical(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, nil)
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option)
		write := func(n int) {
			for i := range n {
				if err := putItem(t, client, "views", key("user-12345", fmt.Sprint(i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(1)
		time.Sleep(time.Minute)
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		write(1000)
		time.Sleep(time.Second)
		if got := kinds(heat.Explain(recorder.Report(), heat.Rules{})); got != "warning hot-key user-12345" {
			t.Errorf("got %q", got)
		}
	})
}

// Whoever chooses keys cannot have two of them taken for one: these have the same xxhash.
func TestKeysOfTheSameHashAreCountedApart(t *testing.T) {
	a, b := collision()
	if xxhash.Sum64(a) != xxhash.Sum64(b) || bytes.Equal(a, b) {
		t.Fatal("these do not collide")
	}
	recorder := newRecorder(t, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
	heat.Observe(recorder, "views", heat.Write, a, 1)
	heat.Observe(recorder, "views", heat.Write, b, 2)
	if keys := resource(t, recorder.Report(), "views").Writes.Keys; len(keys) != 2 || keys[0].Units != 2 || keys[1].Units != 1 {
		t.Errorf("got %+v", keys)
	}
}

// collision returns two texts of 64 bytes whose first lanes differ, and whose second ones make up for it.
func collision() (a, b []byte) {
	const prime1, prime2 = 11400714785074694791, 14029467366897019727
	inverse := uint64(1) // of prime2: each step doubles the bits that are right
	for range 6 {
		inverse *= 2 - prime2*inverse
	}
	start := uint64(prime1)
	start += prime2
	lane := func(word uint64) uint64 { return bits.RotateLeft64(start+word*prime2, 31) * prime1 }
	a, b = make([]byte, 64), make([]byte, 64)
	binary.LittleEndian.PutUint64(b, 1)
	binary.LittleEndian.PutUint64(b[32:], (lane(0)-lane(1))*inverse)
	return a, b
}
